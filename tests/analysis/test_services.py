"""From runs to comparisons."""

from copy import copy
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests import make
from tests.documents import run_document
from webapp.alerts.services import analyse_dirty_series
from webapp.analysis import services
from webapp.analysis.models import Flag, NotedPoint, SeriesAnalysis, Verdict
from webapp.analysis.services import steps as analysing
from webapp.api.schemas.runs import RunIn
from webapp.labs import services as labs
from webapp.labs.models import Agent
from webapp.results.models import Hardware, Measurement, Point, Run, Series
from webapp.results.services import restore_run, withdraw_run

pytestmark = pytest.mark.django_db
FLAT = [100.0, 101.0, 99.0, 100.5, 99.5]


@pytest.fixture
def agent(db: None) -> Agent:
    return labs.create_agent(name="control", lab_name="netlab")


def store_runs(agent: Agent, *documents: dict[str, Any]) -> None:
    runs = [RunIn.model_validate(document).document() for document in documents]
    services.store_runs(agent=agent, runs=runs, register=True)


def scaled(factor: float) -> list[float]:
    return [value * factor for value in FLAT]


def history(*factors: float, better: str = "more") -> list[dict[str, Any]]:
    """A run for each factor, at revisions r10, r20, …"""
    documents = [
        run_document(revision=f"r{10 * i}", samples=scaled(factor))
        for i, factor in enumerate(factors, start=1)
    ]
    for document in documents:
        document["metrics"]["pps"]["better"] = better
    return documents


def analyse() -> None:
    while analyse_dirty_series().finished:
        pass


def verdicts() -> dict[str, str]:
    """What ministat finds for each revision."""
    return {row.revision: row.verdict for row in make.compared()}


def places_on_disk() -> dict[str, str]:
    """Where the note on each revision stands: elsewhere once it is written again."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT revision.name, one.ctid::text FROM analysis_notedpoint AS one"
            " JOIN results_revision AS revision ON revision.id = one.revision_id"
        )
        return dict(cursor.fetchall())


def noted() -> list[tuple[int, bool]]:
    return [*NotedPoint.objects.values_list("position", "is_compared")]


def test_what_ministat_finds_is_noted_and_flags_nothing(agent: Agent) -> None:
    store_runs(agent, *history(1, 1, 0.97, 0.97))
    analyse()
    assert verdicts() == {"r20": "cannot tell", "r30": "worse", "r40": "cannot tell"}
    assert noted() == [(10, False), (30, True)]
    (row,) = make.compared("r30")
    assert (row.previous, row.before, row.flag) == ("r20", 100, Flag.NONE)
    assert row.percent == pytest.approx(-3)
    assert row.percent_error is not None
    assert 0 < row.percent_error < 10


def test_where_less_is_better_a_rise_is_the_regression(agent: Agent) -> None:
    store_runs(agent, *history(1, 1.1, 1, better="less"))
    analyse()
    assert verdicts() == {"r20": "worse", "r30": "better"}


def test_an_unproven_difference_cannot_be_judged(agent: Agent) -> None:
    noisy = [run_document(revision=f"r{i}", samples=[50.0 + i, 100.0, 150.0]) for i in (1, 9)]
    store_runs(agent, *noisy)
    analyse()
    (row,) = make.compared()
    assert (row.verdict, row.flag) == (Verdict.CANNOT_TELL, Flag.NONE)


@pytest.mark.parametrize("samples", [[1.0], [1.0, 2.0]])
def test_fewer_than_three_samples_cannot_be_judged(agent: Agent, samples: list[float]) -> None:
    store_runs(agent, run_document(revision="r1"), run_document(revision="r2", samples=samples))
    analyse()
    (row,) = make.compared()
    assert (row.verdict, row.percent_error) == (Verdict.CANNOT_TELL, None)


@pytest.mark.parametrize("value", [1e15, 1e-15, 0.0, -5.0])
def test_extreme_equal_samples_never_make_a_difference(agent: Agent, value: float) -> None:
    store_runs(agent, *(run_document(revision=f"r{i}", samples=[value] * 5) for i in (1, 2)))
    analyse()
    (row,) = make.compared()
    assert (row.verdict, row.flag) == (Verdict.CANNOT_TELL, Flag.NONE)


def test_a_filled_gap_is_compared_on_both_sides(agent: Agent) -> None:
    first, gap, last = history(1, 0.9, 0.9)
    store_runs(agent, first, last)
    analyse()
    assert verdicts() == {"r30": "worse"}
    store_runs(agent, gap)
    analyse()
    assert verdicts() == {"r20": "worse", "r30": "cannot tell"}


def test_what_is_noted_as_it_was_is_not_written_again(agent: Agent) -> None:
    first, gap, *others = history(1, 0.9, 0.9, 0.8)
    store_runs(agent, first, *others)
    analyse()
    before = places_on_disk()
    store_runs(agent, gap)
    analyse()
    late = places_on_disk()
    assert (before.keys(), late.keys()) == ({"r10", "r30", "r40"}, {"r10", "r20", "r40"})
    assert late["r40"] == before["r40"]
    services.mark_for_analysis(Series.objects.values_list("pk", flat=True))
    analyse()
    assert places_on_disk() == late


def test_the_order_of_arrival_does_not_matter_to_a_short_series(agent: Agent) -> None:
    documents = history(1, 0.9, 0.9, 1.2)
    for document in [documents[i] for i in (3, 0, 1, 2)]:
        store_runs(agent, document)
        analyse()
    assert verdicts() == {"r20": "worse", "r30": "cannot tell", "r40": "better"}


def test_runs_of_one_revision_are_pooled(agent: Agent) -> None:
    store_runs(agent, run_document(), run_document(build_id="another"))
    point = Point.objects.get()
    assert (point.n, point.runs, point.builds, point.boots) == (10, 2, 2, 10)


def test_one_run_with_unknown_boots_makes_the_points_boots_unknown(agent: Agent) -> None:
    second = run_document()
    second["metrics"]["pps"]["boots"] = None
    store_runs(agent, run_document(), second)
    assert Point.objects.get().boots is None


def test_a_withdrawn_run_leaves_the_statistics_and_comes_back(agent: Agent) -> None:
    store_runs(agent, *history(1, 0.9, 1))
    analyse()
    bad = Run.objects.get(revision__name="r20")
    withdraw_run(run=bad, by=None, reason="wrong kernel")
    analyse()
    assert verdicts() == {"r30": "cannot tell"}
    assert Run.objects.count() == 3
    restore_run(run=bad)
    analyse()
    assert verdicts() == {"r20": "worse", "r30": "better"}


def test_analysing_twice_changes_nothing(agent: Agent) -> None:
    store_runs(agent, *history(1, 0.9))
    analyse()
    before = make.compared(), noted()
    Series.objects.update(dirty_from=0, dirty_since="2026-01-01T00:00:00Z")
    analyse()
    assert (make.compared(), noted()) == before


def test_a_series_that_changed_meanwhile_stays_dirty(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    store_runs(agent, *history(1, 0.9))
    original = analysing.note_points

    def upload_in_the_middle(*arguments: Any) -> None:
        original(*arguments)
        store_runs(agent, run_document(revision="r40", samples=scaled(0.5)))

    monkeypatch.setattr(analysing, "note_points", upload_in_the_middle)
    analyse_dirty_series()
    monkeypatch.undo()
    assert Series.objects.get().dirty_from == 10
    analyse()
    assert verdicts() == {"r20": "worse", "r40": "worse"}
    assert SeriesAnalysis.objects.get().version == Series.objects.get().version


def test_the_number_of_statements_does_not_grow_with_series_or_history(agent: Agent) -> None:
    def statements(series: range, revisions: range) -> int:
        upload(agent, series, revisions)
        with CaptureQueriesContext(connection) as captured:
            analyse_dirty_series()
        return len(captured)

    # Each ends with a state to keep; new series are read from their first point on.
    assert statements(range(1), range(1, 18)) == statements(range(1, 20), range(1, 18))
    assert statements(range(20), range(18, 33)) == statements(range(20), range(33, 81))


def test_a_young_database_reads_no_more_for_a_point_where_there_are_more_of_them(
    agent: Agent,
) -> None:
    """The planner knows nothing of the tables yet: it must not read all runs of a machine's mode,
    nor all measurements of a series, for each point. It plans here as an instance does, not as the
    server of the tests (`tests.servers`). To find a row in tables of few pages any index is as good
    to it as another, so these have some more, whatever the tests before left in them.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SET LOCAL plan_cache_mode = auto; SET LOCAL join_collapse_limit = 8;"
            "SET LOCAL from_collapse_limit = 8"
        )

    def rows_read() -> int:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT sum(seq_tup_read + idx_tup_fetch) FROM pg_stat_xact_user_tables"
                " WHERE relname IN ('results_run', 'results_measurement')"
            )
            return int(cursor.fetchone()[0])

    upload(agent, range(4), range(1, 141))
    copy_runs(5, to=make.hardware("Xeon/T580"))
    analyse_dirty_series()
    upload(agent, range(4), range(141, 143))
    before = rows_read()
    assert analyse_dirty_series().finished == 4
    # Of each series the two new points, and those after its newest checkpoint (at the 128th).
    assert rows_read() - before <= 3 * 4 * (142 - 128)


def copy_runs(times: int, *, to: Hardware) -> None:
    """Runs of another machine, with the samples of those that are there."""
    series = make.series(on=to)
    stored = list(Measurement.objects.select_related("run"))
    copies = [copy(one) for one in stored * times]
    for one in copies:
        run = copy(one.run)
        run.pk, run.uuid, run.hardware = None, uuid4(), to
        one.pk, one.run, one.series = None, run, series
    Run.objects.bulk_create([one.run for one in copies])
    Measurement.objects.bulk_create(copies)


def upload(agent: Agent, series: range, revisions: range) -> None:
    store_runs(
        agent,
        *(
            run_document(
                uuid=str(uuid4()),
                revision=f"r{revision}",
                mode={"workload": f"m{i}", "traffic": None, "options": []},
            )
            for i in series
            for revision in revisions
        ),
    )
