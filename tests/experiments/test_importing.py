"""Experiments from directories and comparisons: frozen, stored once, with what was typed."""

import pytest
from django.utils import timezone

from tests import make
from tests.experiments.steps import FAST, LABELS, SLOW, imported, readme, store
from webapp.analysis.models import SeriesSettings
from webapp.analysis.queries import Side, SideError
from webapp.experiments.models import Experiment
from webapp.experiments.queries import contradictions, frozen_table, machine_lines
from webapp.experiments.services import (
    Directory,
    add_note,
    conclude,
    give_up,
    import_directory,
    keep_comparison,
)
from webapp.merging.services import merge_modes
from webapp.results.models import Mode, Series
from webapp.results.services import Unprocessable, withdraw_run

pytestmark = pytest.mark.django_db
SIDES = [Side("freebsd-head", "r300000"), Side("freebsd-head", "r300001")]


def again(experiment: Experiment) -> Experiment:
    return Experiment.objects.with_subjects().get(pk=experiment.pk)


def test_a_directory_is_an_experiment_with_what_its_readme_says() -> None:
    found = imported(readme())
    assert found.state == "imported"
    assert found.question == "Impact of r300001 on pf"
    assert found.bullets == ["Atom C2758 with 8 cores", "FreeBSD r300001"]
    frozen = frozen_table(found)
    (row,) = frozen.table.rows
    assert [one.label for one in row.sets] == list(LABELS)
    assert [tuple(one.samples) for one in row.sets] == [SLOW, FAST]
    (cell,) = frozen.cells
    assert (cell.heading, cell.flavour) == ("pf gains a quarter:", "current")


def test_without_a_readme_its_sides_are_its_question() -> None:
    found = imported()
    assert found.question == "r300001 against r300000"
    assert not found.is_typed
    assert [one.label for one in frozen_table(found).table.rows[0].sets] == [
        "r300000 pf",
        "r300001 pf",
    ]


def test_the_flavour_that_printed_a_block_is_found() -> None:
    found = imported(readme(flavour="2015"))
    assert found.cells.get().flavour == "2015"


def test_the_order_of_a_readme_is_that_of_its_sides() -> None:
    text = readme().replace("{}", "")
    blocks = imported(text)
    assert [side.revision.name for side in blocks.sides.all()] == ["r300000", "r300001"]
    runs = store("ipfw", label="second")
    reversed_text = _reversed(text)
    found = imported(reversed_text, runs=runs, source="e")
    assert [side.revision.name for side in found.sides.all()] == ["r300001", "r300000"]


def _reversed(text: str) -> str:
    """The block with its sets exchanged, as another lab would paste it."""
    swapped = {"x": "+", "+": "x"}
    lines = text.splitlines()
    rows = [n for n, line in enumerate(lines) if line[:1] in swapped and not line.startswith("+--")]
    names, figures = rows[:2], rows[2:4]
    for pair in (names, figures):
        first, second = (lines[number][1:] for number in pair)
        lines[pair[0]], lines[pair[1]] = "x" + second, "+" + first
    return "\n".join(lines)


def test_sent_twice_it_is_stored_once_as_it_was() -> None:
    runs = store()
    first = imported(readme(), runs=runs)
    directory = Directory("d", "another title", [run.uuid for run in runs])
    found, is_new = import_directory(lab=runs[0].agent.lab, directory=directory, now=timezone.now())
    assert (found.pk, is_new) == (first.pk, False)
    assert found.question == first.question


def test_runs_of_one_side_of_another_lab_or_unknown_make_none() -> None:
    runs = store()
    lab, other = runs[0].agent.lab, make.lab("elsewhere")
    unknown = Directory("d", "", [make.uuid.uuid4()])
    one_side = Directory("d", "", [runs[0].uuid])
    both = Directory("d", "", [run.uuid for run in runs])
    for whose, directory in ((lab, unknown), (lab, one_side), (other, both)):
        with pytest.raises(Unprocessable, match="no two sides"):
            import_directory(lab=whose, directory=directory, now=timezone.now())
    assert not Experiment.objects.exists()


def test_later_runs_later_margins_and_withdrawals_leave_it_as_it_was() -> None:
    found = imported(readme())
    before = frozen_table(found).table.rows[0]
    store(label="second", build="#1")
    SeriesSettings.objects.create(series=Series.objects.get(), margin_pct=50.0)
    operator = make.user("op", role="operator")
    withdraw_run(run=make.Run.objects.order_by("pk")[0], by=operator, reason="wrong NIC")
    after = frozen_table(again(found)).table.rows[0]
    assert [tuple(one.samples) for one in after.sets] == [SLOW, FAST]
    assert after.judged == before.judged


def test_a_merge_of_modes_takes_its_cells_along() -> None:
    found = imported(readme())
    into = make.mode("packet-filter")
    merge_modes(source=Mode.objects.get(name="pf"), into=into)
    frozen = frozen_table(again(found))
    assert [cell.mode for cell in frozen.cells] == [into]
    assert not frozen.lost


def test_a_typed_commit_that_was_not_measured_is_said() -> None:
    assert contradictions(imported(readme())) == []
    runs = store("ipfw", label="second")
    wrong = imported(readme(typed=312663), runs=runs, source="e")
    assert contradictions(wrong) == ["Typed: r312663; the data are of r300000, r300001."]


def test_bench_facts_say_machine_and_kernels() -> None:
    found = imported()
    lines = machine_lines(found, frozen_table(found).table)
    assert lines[0] == "bench, nic"
    assert "freebsd-head r300000, r300001" in lines[1]
    assert lines[-1] == "Session first"


def test_a_comparison_is_kept_as_of_its_time() -> None:
    store()
    owner = make.user("ada", role="triager")
    kept = again(keep_comparison(sides=SIDES, asof=timezone.now(), owner=owner))
    assert (kept.state, kept.owner, kept.question) == ("draft", owner, "r300001 against r300000")
    store(label="second", build="#1")
    assert [len(one.samples) for one in frozen_table(kept).table.rows[0].sets] == [6, 6]


def test_nothing_to_compare_is_nothing_to_keep() -> None:
    store()
    make.revision("r1005")
    with pytest.raises(SideError):
        keep_comparison(
            sides=[SIDES[0], Side("freebsd-head", "r1005")], asof=timezone.now(), owner=None
        )
    assert not Experiment.objects.exists()


def test_people_note_conclude_and_give_up() -> None:
    found, ada = imported(), make.user("ada", role="triager")
    add_note(experiment=found, actor=ada, text="looks odd")
    assert again(found).state == "imported"
    conclude(experiment=found, actor=ada, text="it helps")
    assert (again(found).state, again(found).conclusion) == ("decided", "it helps")
    give_up(experiment=found, actor=ada, text="machine gone")
    assert again(found).state == "given up"
    kinds = list(found.events.values_list("kind", flat=True))
    assert kinds == ["imported", "note", "concluded", "given up"]
