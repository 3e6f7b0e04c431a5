"""Recording, editing and withdrawing events."""

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction

from tests import make
from tests.events.steps import NOW, event
from webapp.events.models import LabEvent
from webapp.events.services import EventFields, edit_event, record_event, withdraw_event
from webapp.results.models import Series
from webapp.results.services import Unprocessable

pytestmark = pytest.mark.django_db


def test_an_event_states_what_happened_to_what_when_and_by_whom() -> None:
    ada = make.user("ada")
    made = event("BIOS 2.1", kind="firmware", created_by=ada)
    assert made.subject == "Atom C2758 T540-CR"
    assert made.author == "ada"
    assert str(made) == "BIOS or firmware: BIOS 2.1"
    assert event(lab=make.lab()).subject == "all hardware of orange-lab"
    assert event(tree=make.tree()).subject == "all of freebsd-head"
    assert event(source="fact").author == "a changed fact"


def test_an_external_id_stores_an_event_once_and_keeps_what_people_made_of_it() -> None:
    sent: dict[str, Any] = {"source": "api", "external_id": "42", "agent": make.agent()}
    first = event("one", **sent)
    fields = EventFields(kind="other", text="mended", hardware=make.hardware(), happened_at=NOW)
    edit_event(event=first.pk, fields=fields, actor=make.user(), now=NOW)
    assert event("one", **sent).pk == first.pk
    assert LabEvent.objects.get().text == "mended"
    assert event("one", **{**sent, "agent": make.agent("bench-2")}).pk != first.pk
    event("of nobody", source="fact", external_id="42")
    assert event("of nobody", source="fact", external_id="42").text == "of nobody"
    assert LabEvent.objects.count() == 3


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"kind": "fire"}, "kind"),
    ({"text": "  "}, "text"),
    ({"text": "x" * 2001}, "text"),
    ({"text": "a\x00b"}, "text"),
    ({"happened_at": NOW + timedelta(days=2)}, "happened_at"),
    ({"happened_at": None}, "happened_at"),
    ({"hardware": None}, "hardware"),
    ({"kind": "note", "begins_epoch": True}, "begins_epoch"),
]


@pytest.mark.parametrize(("wrong", "field"), WRONG)
def test_what_is_wrong_is_named_and_nothing_is_stored(wrong: dict[str, Any], field: str) -> None:
    good = {"kind": "other", "text": "x", "hardware": make.hardware(), "happened_at": NOW}
    with pytest.raises(Unprocessable) as refused:
        record_event(fields=EventFields(**{**good, **wrong}), source="person", now=NOW)
    assert [problem.path for problem in refused.value.problems] == [field]
    assert not LabEvent.objects.exists()


def test_a_range_lies_on_its_tree_and_in_order() -> None:
    early, late = make.revision("r100"), make.revision("r200")
    other = make.revision("r150", of=make.tree("stable-11"))
    wrong = ((late, early, "last"), (early, other, "last"), (other, late, "first"))
    for first, last, field in wrong:
        with pytest.raises(Unprocessable) as refused:
            event(tree=make.tree(), first=first, last=last)
        assert refused.value.problems[0].path == field
    with pytest.raises(Unprocessable, match="tree: name the tree"):
        event(hardware=make.hardware(), first=early, last=late)
    with pytest.raises(Unprocessable, match="not both"):
        event(hardware=make.hardware(), lab=make.lab())


def test_the_database_refuses_an_event_of_nothing_and_one_without_a_time() -> None:
    for fields in (
        {"happened_at": NOW},
        {"hardware": make.hardware()},
        {"hardware": make.hardware(), "lab": make.lab(), "happened_at": NOW},
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            LabEvent.objects.create(
                kind="other", text="x", source="person", created_at=NOW, **fields
            )


def test_an_edit_names_who_and_when() -> None:
    made, tess = event(), make.user("tess")
    fields = EventFields(kind="power", text="fan", hardware=make.hardware(), happened_at=NOW)
    edited = edit_event(event=made.pk, fields=fields, actor=tess, now=NOW)
    assert (edited.text, edited.kind, edited.edited_by, edited.edited_at) == (
        "fan",
        "power",
        tess,
        NOW,
    )


def test_a_withdrawn_event_stays_with_who_and_why_and_is_edited_no_more() -> None:
    made, tess = event(), make.user("tess")
    with pytest.raises(Unprocessable, match="say why"):
        withdraw_event(event=made.pk, actor=tess, reason=" ")
    withdraw_event(event=made.pk, actor=tess, reason="another machine", now=NOW)
    again = withdraw_event(event=made.pk, actor=make.user("bob"), reason="me too")
    assert (again.withdrawn_by, again.withdrawn_reason) == (tess, "another machine")
    assert not LabEvent.objects.in_force().exists()
    fields = EventFields(kind="power", text="fan", hardware=make.hardware(), happened_at=NOW)
    with pytest.raises(Unprocessable, match="withdrawn"):
        edit_event(event=made.pk, fields=fields, actor=tess)


def test_events_are_found_by_what_they_concern() -> None:
    other = make.hardware("Xeon/T580", of=make.lab("other-lab"))
    on_one, of_lab, of_tree = event("a"), event("b", lab=make.lab()), event("c", tree=make.tree())
    elsewhere = event("d", hardware=other, tree=make.tree("stable-11"))
    name = make.hardware().name
    assert set(LabEvent.objects.about(hardware=name)) == {on_one, of_lab, of_tree}
    assert set(LabEvent.objects.about(tree="stable-11")) == {on_one, of_lab, elsewhere}
    assert set(LabEvent.objects.on_hardware(other)) == {elsewhere}


def test_a_range_is_found_at_each_of_its_commits() -> None:
    along = [make.revision(f"r{number}") for number in (100, 110, 120, 130)]
    made = event(tree=make.tree(), first=along[1], last=along[2])
    found = [list(LabEvent.objects.around(at)) for at in along]
    assert found == [[], [made], [made], []]


def dirty() -> set[str]:
    rows = Series.objects.dirty().select_related("hardware")
    return {row.hardware.name for row in rows}


def test_only_what_begins_an_epoch_has_its_series_analysed_anew() -> None:
    make.series()
    make.series(on=make.hardware("Xeon/T580", of=make.lab("other-lab")))
    made = event()
    assert dirty() == set()
    epoch = event(begins_epoch=True)
    assert dirty() == {"Atom_C2758/T540-CR"}
    Series.objects.update(dirty_from=None, dirty_since=None)
    withdraw_event(event=made.pk, actor=make.user(), reason="no")
    assert dirty() == set()
    withdraw_event(event=epoch.pk, actor=make.user("bob"), reason="no")
    assert dirty() == {"Atom_C2758/T540-CR"}


def test_an_edited_epoch_has_the_series_of_before_and_after_analysed_anew() -> None:
    make.series()
    xeon = make.hardware("Xeon/T580", of=make.lab("other-lab"))
    make.series(on=xeon)
    epoch = event(begins_epoch=True)
    Series.objects.update(dirty_from=None, dirty_since=None)
    same = {"kind": "other", "begins_epoch": True, "happened_at": epoch.happened_at}
    fields = EventFields(text="stated better", hardware=make.hardware(), **same)
    edit_event(event=epoch.pk, fields=fields, actor=make.user(), now=NOW)
    assert dirty() == set()
    fields = EventFields(text="the other one", hardware=xeon, **same)
    edit_event(event=epoch.pk, fields=fields, actor=make.user("bob"), now=NOW)
    assert dirty() == {"Atom_C2758/T540-CR", "Xeon/T580"}


@pytest.mark.django_db(transaction=True)
def test_two_that_send_the_same_at_once_store_it_once() -> None:
    hardware, agent, barrier = make.hardware(), make.agent(), threading.Barrier(4)
    new: list[bool] = []

    def send(number: int) -> None:
        fields = EventFields("other", "x", hardware=hardware, happened_at=make.DAY_ONE)
        barrier.wait()
        stored = record_event(fields=fields, source="api", external_id="7", agent=agent)
        new.append(stored[1])
        connection.close()

    threads = [threading.Thread(target=send, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(new) == [False, False, False, True]
    assert LabEvent.objects.count() == 1
