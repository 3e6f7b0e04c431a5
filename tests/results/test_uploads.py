"""Runs of one revision that disagree: marked where the point is pooled, by all that is known."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any
from unittest import mock

import pytest
from django.db import connection, connections, transaction
from django.test.utils import CaptureQueriesContext

from tests import make
from tests.documents import run_document
from tests.results.steps import FLAT, analyse, upload
from webapp.analysis.models import Finding, SeriesAnalysis
from webapp.outbox.models import Mail
from webapp.results.documents import Unprocessable
from webapp.results.models import Point, PoolingDecision, Run, Series
from webapp.results.services import (
    count_together,
    restore_run,
    undo_pooling_decision,
    withdraw_run,
)
from webapp.results.services.upload_consistency import key_of

pytestmark = pytest.mark.django_db


def measured(revision: str, factor: float = 1.0, **changes: Any) -> dict[str, Any]:
    samples = [1000 * value * factor for value in FLAT]
    return run_document(revision=revision, samples=samples, **changes)


def point(revision: str = "r300001") -> Point:
    return Point.objects.select_related("revision").get(revision__name=revision)


def two_apart(factor: float = 1.6, revision: str = "r300001") -> Point:
    upload(measured(revision, build_id="one"))
    upload(measured(revision, factor, build_id="two"))
    return point(revision)


def decide(at: Point) -> PoolingDecision:
    return count_together(revision=at.revision, key=at.uploads["key"], by=make.user())


def decided(factor: float = 1.6) -> PoolingDecision:
    return decide(two_apart(factor))


def history(count: int, spread: float, first: int = 300_101) -> None:
    """Revisions whose means lie apart by ``spread`` percent, up and down in turn."""
    upload(
        *(
            measured(f"r{first + at}", 1 + (spread / 100 if at % 2 else 0), build_id=f"b{at}")
            for at in range(count)
        )
    )


class TestMarking:
    def test_two_configurations_of_one_revision_are_marked(self) -> None:
        marked = two_apart()
        assert (marked.disagrees, marked.runs) == (True, 2)
        assert [round(run["mean"]) for run in marked.uploads["runs"]] in (
            [100_000, 160_000],
            [160_000, 100_000],
        )

    def test_two_builds_as_builds_scatter_are_not(self) -> None:
        assert not two_apart(1.03).disagrees

    def test_runs_that_agree_keep_nothing_apart(self) -> None:
        upload(measured("r300001", build_id="one"), measured("r300001", 1.001, build_id="one"))
        assert point().uploads is None

    def test_a_single_run_is_no_question(self) -> None:
        upload(measured("r300001"))
        assert point().uploads is None

    def test_a_series_that_is_quiet_marks_what_the_belief_would_not(self) -> None:
        assert not two_apart(1.06).disagrees
        history(60, spread=0.3)
        assert point().disagrees
        assert Series.objects.get().dirty_from == 300_001

    def test_a_series_that_scatters_lets_pass_what_the_belief_would_mark(self) -> None:
        assert two_apart(1.2).disagrees
        history(60, spread=9)
        assert not point().disagrees

    def test_the_order_of_arrival_does_not_matter(self) -> None:
        history(60, spread=0.3)
        assert two_apart(1.06).disagrees

    def test_withdrawing_the_odd_run_unmarks_and_taking_it_back_marks_again(self) -> None:
        two_apart()
        odd = Run.objects.get(kernel__build_id="two")
        withdraw_run(run=odd, by=make.user(), reason="another configuration")
        assert not point().disagrees
        restore_run(run=odd)
        assert point().disagrees

    def test_an_error_in_the_middle_leaves_nothing_half_written(self) -> None:
        upload(measured("r300001", build_id="one"))
        before = (point().runs, Run.objects.count(), Series.objects.get().version)
        with (
            mock.patch(
                "webapp.results.services.upload_consistency.consistency.judge",
                side_effect=InterruptedError,
            ),
            pytest.raises(InterruptedError),
            transaction.atomic(),
        ):
            upload(measured("r300001", 1.6, build_id="two"))
        assert (point().runs, Run.objects.count(), Series.objects.get().version) == before

    def test_an_upload_needs_no_further_statement_unless_runs_are_apart(self) -> None:
        upload(measured("r300001", build_id="one"))
        upload(measured("r300002", build_id="one"))
        again = statements(measured("r300003", build_id="one"))
        upload(measured("r300004", build_id="one"))
        pooled = statements(measured("r300001", 1.001, build_id="one"))
        apart = statements(measured("r300001", 1.6, build_id="two"))
        # Its revision is known by then; levels, epochs, what to judge, the mark, the series again
        assert (pooled, apart) == (again - 2, again - 2 + 5)

    def test_the_statements_do_not_grow_with_the_series_apart(self) -> None:
        def in_modes(count: int, **changes: Any) -> list[dict[str, Any]]:
            modes = [{"workload": f"w{at}", "traffic": None, "options": []} for at in range(count)]
            return [measured("r300001", mode=mode, **changes) for mode in modes]

        upload(*in_modes(12))
        few = statements(*in_modes(2, factor=1.6, build_id="two"))
        many = statements(*in_modes(12, factor=2.6, build_id="three"))
        assert few == many


def statements(*documents: dict[str, Any]) -> int:
    with CaptureQueriesContext(connection) as captured:
        upload(*documents)
    return len(captured)


class TestSessions:
    def test_two_sessions_that_disagree_are_marked_though_each_holds_several_runs(self) -> None:
        for session, factor in (("spring", 1.0), ("autumn", 1.09)):
            for number in range(4):
                evidence = {"label": "x", "session": session}
                build = f"{session} {number}"
                upload(measured("r300001", factor, build_id=build, evidence=evidence))
        found = point().uploads["found"]
        assert point().disagrees
        assert (found["first"], found["second"], found["of_sessions"]) == ("spring", "autumn", True)

    def test_points_stored_before_sessions_were_compared_are_judged_as_before(self) -> None:
        two_apart()
        at = point()
        for run in at.uploads["runs"]:
            del run["session"]
        del at.uploads["found"]["of_sessions"]
        at.uploads["history"] = "not judged"
        at.save()
        upload(measured("r300002"))
        assert point().disagrees


class TestDeciding:
    def test_runs_that_somebody_counts_together_are_pooled(self) -> None:
        row = decided()
        assert not point().disagrees
        assert (row.decided_by.username, len(row.runs)) == ("ada", 2)

    def test_deciding_twice_is_as_deciding_once(self) -> None:
        first = decided()
        assert (
            count_together(revision=point().revision, key=first.key, by=first.decided_by) == first
        )
        assert PoolingDecision.objects.count() == 1

    def test_it_holds_for_these_runs_only(self) -> None:
        decided()
        upload(measured("r300001", build_id="three"))
        assert point().disagrees

    def test_and_holds_again_where_the_further_run_goes(self) -> None:
        decided()
        upload(measured("r300001", build_id="three"))
        withdraw_run(
            run=Run.objects.get(kernel__build_id="three"), by=make.user("bob"), reason="odd"
        )
        assert not point().disagrees

    def test_it_outlives_whatever_else_is_measured(self) -> None:
        decided()
        history(60, spread=0.3)
        assert not point().disagrees

    def test_it_can_be_taken_back_by_somebody_else_and_both_stay_on_record(self) -> None:
        row = decided()
        undone = undo_pooling_decision(decision=row.pk, by=make.user("bob"))
        assert point().disagrees
        assert undone.undone_by is not None
        assert (undone.decided_by.username, undone.undone_by.username) == ("ada", "bob")
        assert (
            undo_pooling_decision(decision=row.pk, by=make.user("eve")).undone_by
            == undone.undone_by
        )

    def test_what_no_longer_waits_is_refused(self) -> None:
        marked = two_apart()
        upload(measured("r300001", build_id="three"))
        with pytest.raises(Unprocessable, match="no longer wait"):
            decide(marked)
        with pytest.raises(Unprocessable, match="no such decision"):
            undo_pooling_decision(decision=1, by=make.user("bob"))

    def test_the_key_is_of_the_content(self) -> None:
        runs = [(run.uuid, run.digest) for run in Run.objects.all()]
        two_apart()
        runs = [(run.uuid, run.digest) for run in Run.objects.all()]
        assert key_of(runs) == key_of(reversed(runs)) == point().uploads["key"]
        assert key_of([runs[0], (runs[1][0], "other")]) != key_of(runs)


class TestAnalysis:
    def test_a_marked_point_is_no_base_and_cannot_be_judged(self) -> None:
        upload(measured("r300000", build_id="zero"))
        two_apart()
        upload(measured("r300002", 1.001, build_id="after"))
        analyse()
        rows = make.compared()
        assert [(row.revision, row.previous, row.verdict) for row in rows] == [
            ("r300001", "r300000", "cannot tell"),
            ("r300002", "r300000", rows[1].verdict),
        ]

    def test_a_later_upload_alone_finds_the_base_before_the_mark(self) -> None:
        upload(measured("r300000", build_id="zero"))
        two_apart()
        analyse()
        upload(measured("r300002", build_id="after"))
        analyse()
        last = make.compared("r300002")[0]
        assert last.previous == "r300000"

    def test_a_finding_that_rested_on_it_goes_and_comes_back_with_the_decision(self) -> None:
        flat = [1.0, 1.004, 0.998, 1.002, 0.997, 1.003]
        upload(*(measured(f"r30000{at}", one, build_id=f"b{at}") for at, one in enumerate(flat)))
        upload(measured("r300006", 0.7, build_id="b6"), measured("r300007", 0.7, build_id="b7"))
        analyse()
        assert Finding.objects.live().get().revision.name == "r300006"
        upload(measured("r300006", 1.0, build_id="b6 again"))
        upload(measured("r300007", 1.0, build_id="b7 again"))
        assert point("r300006").disagrees
        assert point("r300007").disagrees
        analyse()
        assert not Finding.objects.live().exists()
        decide(point("r300006"))
        analyse()
        assert SeriesAnalysis.objects.get().summary["count"] == 7

    def test_the_noise_of_a_series_is_that_without_it(self) -> None:
        history(12, spread=0.5)
        analyse()
        before = SeriesAnalysis.objects.get().summary["noise"]
        two_apart(revision="r300107")
        analyse()
        assert SeriesAnalysis.objects.get().summary["count"] == 11
        two_apart(1.9, revision="r300200")
        analyse()
        after = SeriesAnalysis.objects.get().summary["noise"]
        assert after["build_pct"] == pytest.approx(before["build_pct"], rel=0.3)

    def test_no_mail_leaves_because_of_a_mark(self) -> None:
        make.subscription()
        upload(measured("r300000", build_id="zero"))
        two_apart(0.5)
        analyse()
        assert not Mail.objects.exists()


@pytest.mark.django_db(transaction=True)
class TestAtOnce:
    def test_two_uploads_at_once_are_marked_like_one_after_the_other(self) -> None:
        upload(measured("r300001", build_id="zero"))
        documents = [measured("r300001", 1.6, build_id="two"), measured("r300001", build_id="one")]
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(_alone, documents))
        found = point()
        assert (found.runs, found.disagrees) == (3, True)

    def test_two_people_who_decide_at_once_leave_one_decision(self) -> None:
        marked = two_apart()
        people = [make.user("ada"), make.user("bob")]

        def decides(by: Any) -> int:
            try:
                key = marked.uploads["key"]
                return count_together(revision=marked.revision, key=key, by=by).pk
            finally:
                connections.close_all()

        with ThreadPoolExecutor(2) as pool:
            assert len(set(pool.map(decides, people))) == 1
        assert not point().disagrees


def _alone(document: dict[str, Any]) -> None:
    try:
        upload(document)
    finally:
        connections.close_all()
