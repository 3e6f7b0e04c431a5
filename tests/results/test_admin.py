"""Operators' pages of what was measured."""

from typing import Any

import pytest
from django.db.models import Model
from django.http import HttpResponse

from tests.operators import act, operator, text_of, url
from tests.results.steps import an_agent, analyse, measured, mode, names_of, upload
from webapp.results.models import (
    Hardware,
    HardwareAlias,
    Mode,
    Point,
    Revision,
    RevisionAlias,
    Run,
    SampleDecision,
    Series,
    Tree,
)

pytestmark = pytest.mark.django_db


def save(row: Model, aliases: list[dict[str, Any]], kept: int = 0, **fields: Any) -> HttpResponse:
    """Send the change page of ``row``; the first ``kept`` aliases are stored ones."""
    data = {"aliases-TOTAL_FORMS": len(aliases), "aliases-INITIAL_FORMS": kept, **fields}
    for i, alias in enumerate(aliases):
        data |= {f"aliases-{i}-{name}": value for name, value in alias.items()}
    return operator().post(url(type(row), "change", row.pk), data, follow=True)


def save_hardware(row: Hardware, name: str, *aliases: dict[str, Any], **typed: str) -> HttpResponse:
    fields = {"name": name, "lab": row.lab_id, "facts": "{}", "description": "", **typed}
    return save(row, list(aliases), **fields)


def test_another_name_typed_in_renames_hardware_and_keeps_the_former_as_alias() -> None:
    upload(measured("r1", hardware="old"))
    row = Hardware.objects.get()
    assert "was changed successfully" in text_of(save_hardware(row, "new"))
    assert [alias.name for alias in HardwareAlias.objects.all()] == ["old"]
    upload(measured("r2", hardware="old"), register=False)
    assert Hardware.objects.get().name == "new"


@pytest.mark.parametrize(("name", "why"), [("other", "merge the two"), ("a b", "is no name")])
def test_a_name_that_hardware_cannot_take_is_refused_on_the_page(name: str, why: str) -> None:
    upload(measured("r1", hardware="old"), measured("r1", hardware="other"))
    assert why in text_of(save_hardware(Hardware.objects.get(name="old"), name))
    assert Hardware.objects.filter(name="old").exists()


@pytest.mark.parametrize("typed", [{"display_name": "THE router"}, {"cpu": "the", "nic": "Router"}])
def test_what_pages_call_a_machine_is_taken(typed: dict[str, str]) -> None:
    upload(measured("r1", hardware="old"), measured("r1", hardware="other"))
    Hardware.objects.filter(name="other").update(display_name="The router")
    machine = Hardware.objects.get(name="old")
    refused = text_of(save_hardware(machine, "old", **typed))
    assert "Pages call other The router: choose a display name of its own" in refused
    assert "was changed successfully" in text_of(save_hardware(machine, "old", display_name="Mine"))
    assert "was changed successfully" in text_of(save_hardware(machine, "old", display_name="Mine"))


def test_hardware_is_added_and_gets_an_alias_that_no_other_hardware_has() -> None:
    lab = an_agent().lab
    empty = {"aliases-TOTAL_FORMS": 0, "aliases-INITIAL_FORMS": 0}
    fields = {"name": "a/b", "lab": lab.pk, "facts": "{}"} | empty
    operator().post(url(Hardware, "add"), fields)
    row = Hardware.objects.get(name="a/b")
    refused = save_hardware(row, "a/b", {"name": "a/b", "hardware": row.pk})
    assert "merge the two instead" in text_of(refused)
    save_hardware(row, "a/b", {"name": "typo", "hardware": row.pk})
    upload(measured("r1", hardware="typo"), register=False)


def test_hardware_is_merged_after_the_question_into_which() -> None:
    upload(*(measured("r1", hardware=name) for name in ("a", "b", "c")))
    a, b, c = Hardware.objects.order_by("name")
    assert "The one that stays" in text_of(act(Hardware, "merge", [a, b]))
    assert "This field is required" in text_of(act(Hardware, "merge", [a, b], confirmed="yes"))
    done = act(Hardware, "merge", [a, b, c], confirmed="yes", into=c.pk)
    assert "Merged into c: 2" in text_of(done)
    assert (Hardware.objects.get(), Point.objects.get().n) == (c, 15)


def test_a_merge_that_is_refused_states_why_and_leaves_all_as_it_was() -> None:
    upload(measured("r1", hardware="a"), measured("r1", hardware="c"))
    upload(measured("r1", hardware="b"), lab="elsewhere")
    a, b, c = Hardware.objects.order_by("name")
    refused = act(Hardware, "merge", [a, b], confirmed="yes", into=c.pk)
    assert "belongs to another lab" in text_of(refused)
    assert Hardware.objects.count() == 3


def test_modes_are_merged_after_the_question_into_which() -> None:
    upload(*(measured("r1", mode=mode(name)) for name in ("statefull", "stateful")))
    into, source = Mode.objects.order_by("name")
    act(Mode, "merge", [source], confirmed="yes", into=into.pk)
    assert (Mode.objects.get(), Point.objects.get().n) == (into, 10)


@pytest.mark.parametrize("into", ["r20", "0123456"])
def test_revisions_are_merged_into_the_one_that_is_named(into: str) -> None:
    upload(measured("r20"), measured("abcdef1", position=15))
    stays, goes = Revision.objects.order_by("-position")
    RevisionAlias.objects.create(tree=stays.tree, revision=stays, name="0123456789")
    assert "has no revision r30" in text_of(
        act(Revision, "merge", [goes], confirmed="yes", into="r30")
    )
    act(Revision, "merge", [goes], confirmed="yes", into=into)
    assert (Revision.objects.get(), Point.objects.get().n) == (stays, 10)


def test_revisions_of_two_trees_are_not_merged() -> None:
    upload(measured("r20"), measured("r20", tree="other"))
    refused = act(Revision, "merge", list(Revision.objects.all()), confirmed="yes", into="r20")
    assert "Choose revisions of one tree" in text_of(refused)


def test_a_revision_gets_an_alias_that_no_other_has() -> None:
    upload(measured("r10"), measured("r20"))
    first, second = Revision.objects.order_by("position")
    own = {"id": first.aliases.get().pk, "revision": first.pk, "name": "r10"}
    new = {"revision": first.pk, "name": "n7"}
    save(first, [own, new], kept=1)
    assert names_of("r10") == {"r10", "n7"}
    refused = save(first, [own, {"revision": first.pk, "name": "r20"}], kept=1)
    assert "Another revision of the tree answers to it" in text_of(refused)
    assert names_of(second.name) == {"r20"}


@pytest.mark.parametrize("change", [{"DELETE": "on"}, {"name": "other"}])
def test_a_revision_keeps_its_own_name_as_an_alias(change: dict[str, str]) -> None:
    upload(measured("r10"))
    row = Revision.objects.get()
    own = {"id": row.aliases.get().pk, "revision": row.pk, "name": "r10"} | change
    assert "own name and stays" in text_of(save(row, [own], kept=1))
    assert names_of("r10") == {"r10"}


def test_runs_are_withdrawn_with_a_reason_and_taken_back() -> None:
    upload(measured("r10"), measured("r20"))
    runs = list(Run.objects.all())
    assert "Shown wherever the run is shown" in text_of(act(Run, "withdraw", runs))
    assert "This field is required" in text_of(act(Run, "withdraw", runs, confirmed="yes"))
    assert Run.objects.counted().count() == 2
    done = act(Run, "withdraw", runs, confirmed="yes", reason="wrong kernel")
    assert "Withdrawn: 2" in text_of(done)
    run = Run.objects.first()
    assert run is not None
    assert (str(run.withdrawn_by), run.withdrawn_reason) == ("root", "wrong kernel")
    assert not Point.objects.exists()
    assert "Taken back: 2" in text_of(act(Run, "restore", runs, confirmed="yes"))
    assert Point.objects.count() == 2


def test_a_replaced_run_is_shown_as_such_and_not_taken_back() -> None:
    upload(document := measured("r20"))
    upload(measured("r20", 2, uuid=document["uuid"]), replace=True)
    old = Run.objects.get(superseded_by__isnull=False)
    assert str(old.superseded_by) in text_of(operator().get(url(Run) + "?replaced=yes"))
    done = text_of(act(Run, "restore", [old], confirmed="yes"))
    assert "was replaced by netlab/control" in done
    assert "Taken back: 0" in done


def test_a_run_that_is_withdrawn_already_keeps_its_reason() -> None:
    upload(measured("r10"))
    act(Run, "withdraw", [Run.objects.get()], confirmed="yes", reason="first")
    again = act(Run, "withdraw", [Run.objects.get()], confirmed="yes", reason="second")
    assert "Withdrawn: 0" in text_of(again)
    assert Run.objects.get().withdrawn_reason == "first"


def test_marked_samples_are_counted_and_left_out_by_actions_and_that_is_taken_back() -> None:
    marked = measured("r10")
    marked["metrics"]["pps"]["validity"] = [
        {"sample": 1, "kind": "warm-up", "text": "rises by 5.0 %"}
    ]
    upload(marked, measured("r20"))
    runs = list(Run.objects.all())
    asked = text_of(act(Run, "count_marked", runs))
    assert "on record with your name" in asked
    assert marked["uuid"] in asked
    assert str(Run.objects.get(revision__name="r20").uuid) not in asked.split("<form")[-1]
    assert "Decided: 1" in text_of(act(Run, "count_marked", runs, confirmed="yes"))
    assert Point.objects.get(revision__name="r10").n == 5
    row = SampleDecision.objects.get()
    assert "root" in text_of(operator().get(url(SampleDecision)))
    assert "Taken back: 1" in text_of(act(SampleDecision, "undo", [row], confirmed="yes"))
    assert Point.objects.get(revision__name="r10").n == 4
    assert "Decided: 1" in text_of(act(Run, "leave_out_marked", runs, confirmed="yes"))
    page = text_of(operator().get(url(Run, "change", Run.objects.get(uuid=marked["uuid"]).pk)))
    assert "sample 1: rises by 5.0 %" in page


def test_a_run_shows_its_samples() -> None:
    upload(measured("r10"))
    page = text_of(operator().get(url(Run, "change", Run.objects.get().pk)))
    assert "100.5" in page
    assert "pps" in page


def test_series_are_analysed_anew_from_their_first_point_on() -> None:
    upload(measured("r10"), measured("r20"))
    analyse()
    series = Series.objects.get()
    assert "A worker concludes anew" in text_of(act(Series, "reanalyse", [series]))
    assert not Series.objects.dirty().exists()
    done = act(Series, "reanalyse", [series], confirmed="yes")
    assert "Waiting for a worker: 1" in text_of(done)
    assert Series.objects.get().dirty_from == 0


def test_a_trees_name_is_fixed_once_it_is_there() -> None:
    upload(measured("r10"))
    tree = Tree.objects.get()
    operator().post(url(Tree, "change", tree.pk), {"name": "other", "description": "main line"})
    tree.refresh_from_db()
    assert (tree.name, tree.description) == ("freebsd-head", "main line")


@pytest.mark.parametrize("model", [Hardware, Mode, Revision, Tree])
def test_what_runs_are_about_is_not_deleted(model: type[Model]) -> None:
    upload(measured("r10"))
    row = model._default_manager.get()
    operator().post(url(model, "delete", row.pk), {"post": "yes"})
    assert model._default_manager.filter(pk=row.pk).exists()


@pytest.mark.parametrize(("name", "trees"), [("..", []), ("a..b", ["a..b"])])
def test_a_tree_has_no_name_that_browsers_take_out_of_an_address(
    name: str, trees: list[str]
) -> None:
    answer = operator().post(url(Tree, "add"), {"name": name}, follow=True)
    assert ("give another name" in text_of(answer)) is not bool(trees)
    assert list(Tree.objects.values_list("name", flat=True)) == trees
