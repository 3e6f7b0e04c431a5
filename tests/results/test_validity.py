"""Which samples count, and what people decide about those that may be wrong."""

from typing import Any

import pytest

from tests import make
from tests.results.steps import analyse, measured, upload
from webapp.results.documents import Unprocessable
from webapp.results.models import Measurement, Point, SampleDecision, Series
from webapp.results.services import decide_samples, undo_sample_decision, withdraw_run
from webapp.results.validity import Mark, counted, left_out, why_counted

FIVE = [100.0, 101.0, 99.0, 100.0, 200.0]


def mark(sample: int, kind: str = "warm-up") -> dict[str, Any]:
    return {"sample": sample, "kind": kind, "text": f"{kind} by 5.0 %"}


def marked(*marks: dict[str, Any], revision: str = "r20", **changes: Any) -> dict[str, Any]:
    """A run of five samples, the last of them odd."""
    document = measured(revision, **changes)
    metric = document["metrics"]["pps"]
    metric["samples"], metric["boots"] = list(FIVE), [0, 1, 2, 3, 4]
    if marks:
        metric["validity"] = list(marks)
    return document


def rows(*pairs: tuple[int, str]) -> list[Mark]:
    return [Mark(sample, kind, "text") for sample, kind in pairs]


@pytest.mark.parametrize(
    ("marks", "excluded"),
    [
        ([], None),
        (rows((1, "sender-saturated")), [1]),
        (rows((3, "clock-step"), (1, "throttled"), (1, "warm-up")), [1, 3]),
        (rows((0, "all-arrived"), (1, "all-arrived")), None),
        (rows((0, "all-arrived"), (0, "zero-seconds")), [0]),
        (rows((2, "too-few-seconds")), [2]),
        (rows(*((i, "too-few-seconds") for i in range(5))), None),
        (rows(*((i, "too-few-seconds") for i in range(5)), (1, "missing-seconds")), [1]),
        (rows(*((i, "sender-saturated") for i in range(5))), [0, 1, 2, 3, 4]),
    ],
)
def test_what_a_mark_leaves_out(marks: list[Mark], excluded: list[int] | None) -> None:
    assert left_out(marks, 5) == excluded


def test_a_person_has_the_last_word() -> None:
    marks = rows((1, "sender-saturated"), (2, "all-arrived"))
    assert left_out(marks, 5, "count") is None
    assert left_out(marks, 5, "leave_out") == [1, 2]


def test_why_a_marked_sample_counts_is_stated() -> None:
    flow, short, link = rows((0, "all-arrived"), (0, "too-few-seconds"), (0, "sender-saturated"))
    assert "flow control" in why_counted(flow, [flow], 1)
    assert "every iteration" in why_counted(short, [short], 1)
    assert why_counted(short, [short], 2) == ""
    assert why_counted(link, [link], 1) == ""


def test_boots_go_with_their_samples() -> None:
    assert counted([1.0, 2.0, 3.0], [7, 8, 9], [1]) == ([1.0, 3.0], [7, 9])
    assert counted([1.0, 2.0], None, [0]) == ([2.0], None)
    assert counted([1.0, 2.0], [0, 0], None) == ([1.0, 2.0], [0, 0])


@pytest.mark.django_db
class TestStored:
    def test_a_sample_left_out_is_kept_and_not_pooled(self) -> None:
        upload(marked(mark(4)))
        row, point = Measurement.objects.get(), Point.objects.get()
        assert row.samples == FIVE
        assert row.validity == [mark(4)]
        assert row.left_out == [4]
        assert (point.n, point.mean, point.maximum, point.boots) == (4, 100.0, 101.0, 4)
        assert point.excluded is not None
        assert point.excluded.text == "1 of 5 samples left out: warm-up"

    def test_a_point_whose_samples_all_count_has_no_remark(self) -> None:
        upload(marked(mark(4, "all-arrived")))
        assert (Point.objects.get().n, Point.objects.get().left_out) == (5, None)

    def test_the_detector_reads_the_samples_that_count(self) -> None:
        history = [measured(f"r{at}") for at in range(10, 20)]
        upload(*history, marked(*(mark(i) for i in range(1, 5))))
        analyse()
        point = Point.objects.get(revision__name="r20")
        assert (point.n, point.runs) == (1, 1)

    def test_a_run_of_which_nothing_counts_has_no_point(self) -> None:
        upload(marked(*(mark(i, "sender-saturated") for i in range(5))))
        assert not Point.objects.exists()
        assert Measurement.objects.counted().count() == 1

    def test_another_run_of_the_commit_states_what_is_left_out_of_both(self) -> None:
        upload(marked(*(mark(i, "throttled") for i in range(5))), measured("r20"))
        point = Point.objects.get()
        assert (point.n, point.runs) == (5, 1)
        assert point.left_out == {"samples": 5, "of": 10, "kinds": {"throttled": 5}}

    def test_an_archive_that_is_sent_again_brings_its_marks(self) -> None:
        plain = marked()
        upload(plain)
        assert Point.objects.get().n == 5
        again = marked(mark(4), uuid=plain["uuid"])
        recorded = upload(again)
        assert recorded.known
        assert not recorded.stored
        assert Point.objects.get().n == 4
        version = Series.objects.get().version
        upload(again)
        assert Series.objects.get().version == version, "the marks are known by now"

    def test_a_run_that_was_withdrawn_gets_them_and_stays_out(self) -> None:
        plain = marked()
        upload(plain)
        withdraw_run(run=Measurement.objects.get().run, by=None, reason="bad")
        upload(marked(mark(4), uuid=plain["uuid"]))
        assert Measurement.objects.get().left_out == [4]
        assert not Point.objects.exists()


@pytest.mark.django_db
class TestDecided:
    def uuid(self) -> Any:
        return Measurement.objects.get().run.uuid

    def test_counted_again_and_taken_back(self) -> None:
        upload(marked(mark(4)))
        ada = make.user("ada")
        assert decide_samples(runs=[self.uuid()], choice="count", by=ada) == 1
        assert Point.objects.get().n == 5
        assert Point.objects.get().left_out is None
        decision = SampleDecision.objects.get()
        assert (decision.decided_by, decision.choice) == (ada, "count")
        undone = undo_sample_decision(decision=decision.pk, by=ada)
        assert undone.undone_by == ada
        assert Point.objects.get().n == 4
        assert undo_sample_decision(decision=decision.pk, by=ada).undone_at == undone.undone_at

    def test_a_mark_that_excludes_nothing_can_be_made_to(self) -> None:
        upload(marked(mark(4, "all-arrived")))
        decide_samples(runs=[self.uuid()], choice="leave_out", by=make.user())
        assert Point.objects.get().n == 4

    def test_another_choice_takes_the_place_of_the_first_which_stays_on_record(self) -> None:
        upload(marked(mark(4)))
        decide_samples(runs=[self.uuid()], choice="count", by=make.user())
        decide_samples(runs=[self.uuid()], choice="count", by=make.user("grace"))
        assert SampleDecision.objects.count() == 1, "the same again changes nothing"
        decide_samples(runs=[self.uuid()], choice="leave_out", by=None, rule="agent x")
        assert SampleDecision.objects.count() == 2
        assert SampleDecision.objects.in_force().get().rule == "agent x"
        assert Point.objects.get().n == 4

    def test_an_agent_takes_a_decision_back(self) -> None:
        upload(marked(mark(4)))
        decide_samples(runs=[self.uuid()], choice="count", by=None, rule="agent x")
        decide_samples(runs=[self.uuid()], choice="by_mark", by=None, rule="agent y")
        assert Point.objects.get().n == 4
        row = SampleDecision.objects.get()
        assert (row.rule, row.undone_rule) == ("agent x", "agent y")

    def test_one_metric_alone(self) -> None:
        document = marked(mark(4))
        document["metrics"]["latency"] = document["metrics"]["pps"] | {"better": "less"}
        upload(document)
        uuid = Measurement.objects.first().run.uuid  # type: ignore[union-attr]
        assert decide_samples(runs=[uuid], choice="count", metric="pps", by=make.user()) == 1
        found = dict(Point.objects.values_list("series__metric__name", "n"))
        assert found == {"pps": 5, "latency": 4}

    def test_nothing_is_decided_of_a_run_without_marks(self) -> None:
        upload(marked(mark(4)), other := measured("r30"))
        uuids = [Measurement.objects.get(validity__isnull=False).run.uuid]
        uuids.append(Measurement.objects.get(run__uuid=other["uuid"]).run.uuid)
        ada = make.user()
        with pytest.raises(Unprocessable) as caught:
            decide_samples(runs=uuids, choice="count", by=ada)
        assert [one.path for one in caught.value.problems] == ["runs[1]"]
        assert not SampleDecision.objects.exists()
        with pytest.raises(Unprocessable, match="say count or leave_out or by_mark"):
            decide_samples(runs=uuids[:1], choice="perhaps", by=ada)
        with pytest.raises(Unprocessable, match="no such decision"):
            undo_sample_decision(decision=77, by=ada)
