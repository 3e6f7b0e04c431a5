"""Experiments from directories and comparisons: frozen, stored once, with what was typed."""

from collections.abc import Sequence
from uuid import uuid4

import pytest
from django.utils import timezone

from tests import make
from tests.experiments.steps import (
    FAST,
    LABELS,
    SLOW,
    imported,
    readme,
    store,
    store_modes,
)
from webapp.analysis.models import SeriesSettings
from webapp.analysis.queries import PointRow, Side, SideError, as_points, compare_sides
from webapp.experiments.models import Experiment
from webapp.experiments.queries import (
    FrozenPoints,
    contradictions,
    frozen_points,
    frozen_table,
    machine_lines,
)
from webapp.experiments.services import (
    Directory,
    add_note,
    conclude,
    give_up,
    import_directory,
    keep_comparison,
    set_baseline,
    set_margin,
)
from webapp.merging.services import merge_modes
from webapp.results.models import Mode, Run, Series
from webapp.results.services import Unprocessable, withdraw_run
from webapp.stats import ministat

pytestmark = pytest.mark.django_db
SIDES = [Side("freebsd-head", "r300000"), Side("freebsd-head", "r300001")]


def again(experiment: Experiment) -> Experiment:
    return Experiment.objects.with_subjects().get(pk=experiment.pk)


def test_a_directory_is_an_experiment_with_what_its_readme_states() -> None:
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
    unknown = Directory("d", "", [uuid4()])
    one_side = Directory("d", "", [runs[0].uuid])
    both = Directory("d", "", [run.uuid for run in runs])
    tried = (
        (lab, unknown, "1 of its 1"),
        (lab, one_side, "one side only"),
        (other, both, "2 of its 2"),
    )
    for whose, directory, reason in tried:
        with pytest.raises(Unprocessable, match=reason):
            import_directory(lab=whose, directory=directory, now=timezone.now())
    assert not Experiment.objects.exists()


def test_runs_of_which_no_sample_counts_cost_the_others_nothing() -> None:
    runs = [*store(), *store("forwarding")]
    left_out = Run.objects.get(mode__name="pf", revision__name="r300000")
    left_out.measurements.update(left_out=list(range(len(SLOW))))
    found = imported(runs=runs)
    assert [cell.mode.name for cell in found.cells.all()] == ["forwarding"]
    directory = Directory("e", "", [run.uuid for run in runs if run.mode.name == "pf"])
    with pytest.raises(
        Unprocessable, match="1 of its 2 runs have no sample that counts; one side only"
    ):
        import_directory(lab=runs[0].agent.lab, directory=directory, now=timezone.now())


def test_traffic_belongs_to_the_cell() -> None:
    found = imported(runs=store_modes(tx_on=True, tx_off_default=False))
    assert [str(side.compared) for side in found.sides.all()] == [
        "freebsd-head:r300000::tx_off_default@+topic::first",
        "freebsd-head:r300000::tx_on@+topic::first",
    ]
    rows = frozen_points(found).table.rows
    assert [row.mode for row in rows] == ["inet4", "inet6"]
    assert [one.mode for one in rows[1].points] == [
        "tx_off_default@inet6+topic",
        "tx_on@inet6+topic",
    ]
    assert_same(frozen_points(found), found)


def test_fast_forwarding_is_the_baseline_where_others_are_built_on_it() -> None:
    slow = imported(runs=store_modes(forwarding=True, fastforwarding=False, ipfw=True))
    assert slow.sides.all()[0].mode.parts.workload == "forwarding"  # type: ignore[union-attr]
    Run.objects.all().delete()
    fast = imported(runs=store_modes(forwarding=True, fastforwarding=False, ipfw=False), source="e")
    assert fast.sides.all()[0].mode.parts.workload == "fastforwarding"  # type: ignore[union-attr]


def test_a_baseline_is_named_by_the_uploader() -> None:
    runs = store_modes(tx_on=True, tx_off_default=False)
    lab, uuids = runs[0].agent.lab, [run.uuid for run in runs]
    directory = Directory("d", "", uuids, baseline="on")
    found, _ = import_directory(lab=lab, directory=directory, now=timezone.now())
    assert again(found).sides.all()[0].compared.mode == "tx_on@+topic"
    back = Directory("d", "", uuids, baseline="tx_off_default")
    assert import_directory(lab=lab, directory=back, now=timezone.now()) == (found, False)
    assert again(found).sides.all()[0].compared.mode == "tx_off_default@+topic"
    for source in ("d", "e"):
        wrong = Directory(source, "", uuids, baseline="x")
        with pytest.raises(Unprocessable, match=r"called x; the sides are .*tx_off_default"):
            import_directory(lab=lab, directory=wrong, now=timezone.now())


def test_a_baseline_is_changed_and_logged() -> None:
    found, ada = imported(readme()), make.user("ada", role="triager")
    before = frozen_table(found).table.rows[0]
    set_baseline(experiment=found, actor=ada, order=1)
    changed = again(found)
    (row,) = frozen_table(changed).table.rows
    assert [tuple(one.samples) for one in row.sets] == [FAST, SLOW]
    assert [one.label for one in row.sets] == list(reversed(LABELS))
    assert before.judged[0].change.percent == pytest.approx(25.0)
    assert row.judged[0].change.percent == pytest.approx(-20.0)
    set_baseline(experiment=changed, actor=ada, order=0)  # nothing to log
    (event,) = found.events.filter(kind="baseline")
    assert (event.actor, event.text) == (ada, "r300000 → r300001")
    with pytest.raises(Unprocessable, match="no such side"):
        set_baseline(experiment=changed, actor=ada, order=2)


def test_prose_above_a_block_that_no_data_fit_stays() -> None:
    text = readme().replace("pf gains a quarter:", f"## Other\n\n{block_of(9.0)}\n\n## Gain")
    found = imported(text)
    assert found.cells.get().heading == "## Other\n\n## Gain"
    assert "not in the data: a, b" in found.events.get().text


def block_of(value: float) -> str:
    """A typed block of samples that nobody measured."""
    sets = [("a", [value, value + 1, value + 2]), ("b", [value, value + 3, value + 5])]
    return f"```\n{ministat.render(sets)}```"


def test_later_runs_later_margins_and_withdrawals_leave_it_as_it_was() -> None:
    found = imported(readme())
    before = frozen_table(found).table.rows[0]
    store(label="second", build="#1")
    SeriesSettings.objects.create(series=Series.objects.get(), margin_pct=50.0)
    operator = make.user("op", role="operator")
    withdraw_run(run=Run.objects.order_by("pk")[0], by=operator, reason="wrong NIC")
    after = frozen_table(again(found)).table.rows[0]
    assert [tuple(one.samples) for one in after.sets] == [SLOW, FAST]
    assert after.judged == before.judged


def test_it_is_judged_by_the_noise_of_its_machine_as_it_was_known_then() -> None:
    """Eight series of the machine know that builds scatter by 5 %; what they learn later is
    not believed of a report that was made.
    """
    runs = store()
    others = [make.series(on=make.hardware("bench/nic"), in_mode=f"mode{n}") for n in range(8)]
    for one in others:
        make.analysis(one, noise=make.noise(build_pct=5.0))
    found = imported(runs=runs)
    (judged,) = frozen_table(found).table.rows[0].judged
    sides = [one.compared for one in again(found).sides.all()]
    (today,) = compare_sides(sides).rows[0].judged
    assert judged.belief is not None
    assert judged.belief.of_machine
    assert judged.belief.median_pct == pytest.approx(5, rel=0.1)
    assert judged == today
    for one in others:
        make.analysis(one, noise=make.noise(build_pct=0.5))
    assert compare_sides(sides).rows[0].judged != (judged,)
    assert frozen_table(again(found)).table.rows[0].judged == (judged,)
    (point,) = frozen_points(again(found)).table.rows[0].judged
    assert point.belief == judged.belief


def test_points_show_what_the_samples_of_then_showed() -> None:
    store("ipfw", label="another", build="#2")
    found = imported(readme(), runs=[*store(), *store("forwarding")])
    by_points = frozen_points(found)
    assert by_points.table.rows
    assert_same(by_points, found)
    store(label="second", build="#1")  # the point of pf has runs that the experiment has not
    later = frozen_points(again(found))
    assert later.table.rows == assert_same(later, again(found))
    assert [one.base.n for one in later.table.rows] == [len(SLOW)] * 2


def assert_same(by_points: FrozenPoints, found: Experiment) -> Sequence[PointRow]:
    by_samples = frozen_table(found)
    rows = as_points(by_samples.table).rows
    assert (by_points.cells, by_points.lost) == (by_samples.cells, by_samples.lost)
    for ours, theirs in zip(by_points.table.rows, rows, strict=True):
        assert (ours.judged, ours.points) == (theirs.judged, theirs.points)
    return rows


def test_a_merge_of_modes_takes_its_cells_along() -> None:
    found = imported(readme())
    into = make.mode("packet-filter")
    merge_modes(source=Mode.objects.get(name="pf"), into=into)
    frozen = frozen_table(again(found))
    assert [cell.mode for cell in frozen.cells] == [into]
    assert not frozen.lost


def test_a_typed_commit_that_was_not_measured_is_reported() -> None:
    assert contradictions(imported(readme())) == []
    runs = store("ipfw", label="second")
    wrong = imported(readme(typed=312663), runs=runs, source="e")
    assert contradictions(wrong) == ["Typed: r312663; the data are of r300000, r300001."]


def test_bench_facts_name_machine_and_kernels() -> None:
    found = imported()
    lines = machine_lines(found, frozen_points(found).table)
    assert lines[0] == "bench nic"
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


def test_a_margin_is_set_for_every_cell_and_logged() -> None:
    found, ada = imported(runs=[*store(), *store("forwarding")]), make.user("ada", role="triager")
    verdicts = [row.judged[0].label for row in frozen_points(found).table.rows]
    assert verdicts == ["better"] * 2
    set_margin(experiment=found, actor=ada, margin_pct=40.0)
    changed = again(found)
    assert [row.judged[0].label for row in frozen_points(changed).table.rows] == ["equivalent"] * 2
    set_margin(experiment=changed, actor=ada, margin_pct=40.0)  # nothing to log
    (event,) = found.events.filter(kind="margin")
    assert (event.actor, event.text) == (ada, "2 % → 40 %")


@pytest.mark.parametrize("margin", [0.0, -1.0, 101.0, float("nan"), float("inf")])
def test_a_margin_that_is_no_percentage_is_refused(margin: float) -> None:
    found = imported()
    with pytest.raises(Unprocessable, match="margin"):
        set_margin(experiment=found, actor=make.user("ada", role="triager"), margin_pct=margin)
    assert again(found).margin_pct == 2.0


def test_a_directory_of_two_sessions_keeps_to_both() -> None:
    runs = [*store(label="monday"), *store(label="tuesday", build="#1")]
    found = imported(runs=runs)
    assert [side.session for side in found.sides.all()] == ["monday|tuesday"] * 2
    store(label="wednesday", build="#2")
    for table in (frozen_points(found).table, as_points(frozen_table(found).table)):
        assert [point.n for point in table.rows[0].points] == [2 * len(SLOW)] * 2
    lines = machine_lines(found, frozen_points(found).table)
    assert lines[-2:] == ["Session monday", "Session tuesday"]


def test_facts_show_traffic_load_and_tuning() -> None:
    runs = store()
    command = (
        "pkt-gen -f tx -l 60 -R 1000000 -d 198.19.1.1:2000-198.19.1.100 -s 198.18.1.1-198.18.1.20"
    )
    facts = {"senders": 2, "sender_command": command, "routes": "2 static routes"}
    tuned = ({"harvest.mask": "351"}, {"harvest.mask": "351", "net.x": "1"})
    for run, sysctl in zip(runs, tuned, strict=True):
        run.facts = {**facts, "sysctl": sysctl}
        run.save(update_fields=["facts"])
    found = imported(runs=runs)
    lines = machine_lines(found, frozen_points(found).table)
    traffic = "2 senders, 2,000 flows, frames of 60 bytes, load limited to 1,000,000 packets/s"
    assert traffic in lines
    assert lines[-3:] == ["2 static routes", "harvest.mask=351", "Session first"]


@pytest.mark.parametrize("command", ["-s x -d y", "-s 1.2.3.4-1.2.3.2 -d 1.2.3.4", "-s - -d -"])
def test_a_command_that_names_no_flows_gives_nothing(command: str) -> None:
    runs = store()
    for run in runs:
        run.facts = {"sender_command": command, "sysctl": ["odd"], "routes": None}
        run.save(update_fields=["facts"])
    found = imported(runs=runs)
    text = " ".join(machine_lines(found, frozen_points(found).table))
    assert "flows" not in text
    assert "odd" not in text


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
