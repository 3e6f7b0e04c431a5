"""Whole bisects against a simulated lab of known truth."""

import pytest

from tests.bisects import lab
from tests.bisects.lab import Counts, Truth
from webapp.bisects.deciding import replay
from webapp.bisects.models import Bisect
from webapp.bisects.queries import detail_document
from webapp.bisects.services import advance_bisect
from webapp.bisects.view import view_of
from webapp.jobs.models import Job
from webapp.outbox.messages import absolute
from webapp.outbox.models import Endpoint, HookDelivery, Mail

pytestmark = [pytest.mark.long, pytest.mark.django_db]
COMPARED = ("number", "state", "action", "text", "boots", "acts", "hours", "failure")


def test_a_bisect_ends_with_the_commit_that_made_the_step() -> None:
    truth = Truth()
    bisect = lab.work(truth, lab.start(truth))
    view = view_of(bisect)
    assert (bisect.state, bisect.outcome) == ("done", "single"), view.sentence
    assert bisect.culprit == lab.revision(truth.first_bad)
    assert bisect.probability is not None
    assert bisect.probability > 0.95
    assert view.sentence.startswith("r1009 made the step")
    assert "x up to r1008" in view.ministat()
    assert not Job.objects.exclude(state__in=Job.ENDED).exists()
    assert [mail.kind for mail in Mail.objects.all()] == ["bisect.done"]


def test_a_history_of_one_boot_a_revision_leads_to_the_commit_too() -> None:
    truth = Truth(boots_before=1)
    bisect = lab.work(truth, lab.start(truth))
    assert (bisect.outcome, bisect.culprit) == ("single", lab.revision(truth.first_bad))


@pytest.mark.parametrize(("before", "after"), [(0, 200), (0.3, 6)])
def test_the_commit_that_makes_a_count_of_zero_many_is_found(before: float, after: float) -> None:
    truth = Counts(before=before, after=after)
    bisect = lab.work(truth, lab.start(truth))
    view = view_of(bisect)
    assert (bisect.outcome, bisect.culprit) == ("single", lab.revision(9)), view.sentence
    assert 0.0 in {value for row in view.boots for value in row.values}
    assert "r1009 made the step" in view.sentence


def test_a_machine_that_drifts_is_distinguished_from_the_commit_by_anchors() -> None:
    truth = Truth(drift_pct=-0.15)

    bisect = lab.work(truth, lab.start(truth))

    view = view_of(bisect)
    assert bisect.culprit in (None, lab.revision(truth.first_bad)), view.sentence
    assert bisect.outcome in ("single", "range")
    anchors = [row for row in view.boots if row.purpose == "anchor"]
    assert {row.index for row in anchors} <= {0, truth.count}
    assert anchors
    document = detail_document(view)
    shifts = dict(document["machine"]["shift_pct"])
    assert min(shifts.values()) < -0.5
    assert document["machine"]["drifts"] + document["machine"]["steps"] > 0.5
    assert f"by {len(anchors)} anchor boot" in view.lab_sentence
    dots = [dot for dot in view.chart().dots if dot.steady is not None]
    assert len(dots) == len(shifts)
    assert any(dot.source == "anchor" for dot in dots)


def test_webhooks_receive_the_end_with_an_address_that_leads_there() -> None:
    Endpoint.objects.create(name="chat", url="https://chat.example.org/hook")
    bisect = lab.work(Truth(), lab.start(Truth()))
    payload = HookDelivery.objects.get().payload
    assert payload["culprit"] == "r1009"
    assert payload["url"] == absolute(bisect.get_absolute_url()) != bisect.get_absolute_url()


def test_every_decision_can_be_made_again_from_the_database() -> None:
    truth = Truth(unbuildable=frozenset({8}))
    bisect = lab.work(truth, lab.start(truth), workers=("rig-1", "rig-2"))
    made = list(bisect.decisions.all())
    again = replay(bisect, [revision.name for revision in view_of(bisect).revisions])
    assert len(made) > 3
    assert [[getattr(row, name) for name in COMPARED] for row in again] == [
        [getattr(row, name) for name in COMPARED] for row in made
    ]
    for row in made:
        row.figures.pop("left", None)
    assert [row.figures for row in again] == [row.figures for row in made]


def test_a_row_that_names_neither_machine_nor_subject_can_be_made_again() -> None:
    truth = Truth()
    begun = lab.work(truth, lab.start(truth), workers=("rig-1", "rig-2"), most=1)
    bisect = lab.work(truth, begun)  # the other agent takes no more jobs
    made = list(bisect.decisions.all())
    assert any(row.pending for row in made)
    for row in made:
        row.pending, row.together = [one[:3] for one in row.pending], {}
        row.save()
    again = replay(bisect, [revision.name for revision in view_of(bisect).revisions])
    assert [row.text for row in again] == [row.text for row in made]
    assert [row.figures["measure"] for row in again] == [row.figures["measure"] for row in made]


def test_a_false_alert_is_not_reproduced() -> None:
    truth = Truth(step_pct=-2.0, first_bad=1000)
    bisect = lab.work(truth, lab.start(truth))
    assert (bisect.outcome, bisect.culprit) == ("not reproduced", None)


def test_a_culprit_that_cannot_be_built_is_listed_among_those_not_excluded() -> None:
    truth = Truth(unbuildable=frozenset({9}))
    bisect = lab.work(truth, lab.start(truth))
    view = view_of(bisect)
    assert bisect.outcome == "range"
    assert lab.revision(9) in [one.revision for one in view.suspects]
    assert view.skipped == [lab.revision(9)]
    assert any("cannot be built: cc: error" in act.reason for act in view.acts)


def test_a_step_taken_twice_is_as_once() -> None:
    truth = Truth()
    bisect = lab.start(truth)
    before = Bisect.objects.get(pk=bisect.pk).version
    assert not advance_bisect(bisect=bisect.pk)
    assert not advance_bisect(bisect=bisect.pk)
    assert bisect.decisions.count() == 1
    assert Job.objects.count() == 1
    assert Bisect.objects.get(pk=bisect.pk).version == before
