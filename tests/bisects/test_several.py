"""Bisects over several machines or modes: their start, their jobs, their end."""

from datetime import timedelta

import pytest
from django.utils import timezone

from tests.bisects import lab
from tests.bisects.lab import Truth
from webapp.bisects.deciding import replay
from webapp.bisects.models import Bisect, BisectBoot, BisectJob
from webapp.bisects.queries import forecast_of
from webapp.bisects.services import BisectError, advance_bisect
from webapp.bisects.services.settling import lab_failures
from webapp.jobs.models import Job

pytestmark = [pytest.mark.long, pytest.mark.django_db]
OTHER = "Xeon/CX4"


def other(**fields):
    return Truth(**{"hardware": OTHER, "seed": 8, **fields})


def test_two_machines_name_the_commit_together_each_by_jobs_of_its_own() -> None:
    truths = Truth(), other()
    bisect = lab.work_together(truths, lab.start_of_several(*truths))

    assert (bisect.state, bisect.outcome) == ("done", "single")
    assert bisect.culprit == lab.revision(9)
    measured = BisectBoot.objects.filter(bisect=bisect, source="run")
    assert {row.subject for row in measured} == {0, 1}
    for asked in BisectJob.objects.filter(bisect=bisect).select_related("job__hardware"):
        assert asked.job.hardware.name == (lab.HARDWARE, OTHER)[asked.subject]
    for row in measured.select_related("run__hardware"):
        assert row.run is not None
        assert row.run.hardware.name == (lab.HARDWARE, OTHER)[row.subject]
    assert not Job.objects.exclude(state__in=Job.ENDED).exists()


def test_every_decision_of_several_can_be_made_again() -> None:
    truths = Truth(), other()
    bisect = lab.work_together(truths, lab.start_of_several(*truths))
    bisect = Bisect.objects.with_subjects().get(pk=bisect.pk)
    names = [lab.name(index) for index in range(17)]

    again = replay(bisect, names)

    stored = list(bisect.decisions.all())
    assert len(stored) > 5
    for made, row in zip(again, stored, strict=True):
        row.figures.pop("left", None)
        assert (made.text, made.state, made.action) == (row.text, row.state, row.action)
        assert (made.pending, made.together) == (row.pending, row.together)
        assert made.figures == row.figures


def test_a_machine_that_the_commit_spares_is_found_to_be_and_soon_left_alone() -> None:
    truths = Truth(), other(step_pct=0.0)
    bisect = lab.work_together(truths, lab.start_of_several(*truths))

    assert bisect.culprit == lab.revision(9)
    first, second = bisect.decisions.last().figures["subjects"]
    assert first["moved"] > 0.9 > 0.2 > second["moved"]
    assert second["boots"] < first["boots"]


def test_a_machine_that_goes_away_does_not_stop_the_other() -> None:
    truths = Truth(), other()
    bisect = lab.work_together(truths, lab.start_of_several(*truths), gone=1)

    assert bisect.culprit == lab.revision(9), bisect.state_text
    assert BisectBoot.objects.filter(bisect=bisect, subject=0, source="run").count() <= 1


def test_a_job_is_leased_only_by_an_agent_of_its_machine() -> None:
    bisect = lab.start_of_several(Truth(), other())
    now = timezone.now()
    lab.poll("rig-0", now=now)
    advance_bisect(bisect=bisect.pk, now=now + timedelta(seconds=1))

    assert Job.objects.filter(hardware__name=OTHER).exists()
    job = lab.poll("rig-1", now=now + timedelta(seconds=2), hardware=OTHER)
    assert job is not None
    assert job.hardware.name == OTHER
    assert lab.poll("rig-2", now=now + timedelta(seconds=2), hardware=OTHER) is None


def test_two_modes_of_one_machine_are_measured_one_at_a_time() -> None:
    truths = Truth(), Truth(mode="forwarding", seed=8)
    bisect = lab.work_together(truths, lab.start_of_several(*truths))

    assert bisect.culprit == lab.revision(9)
    turns = list(bisect.boots.filter(source="run").values_list("subject", flat=True))
    assert len(set(turns)) == 1


def test_a_revision_that_does_not_boot_on_one_machine_is_measured_on_the_other() -> None:
    truths = Truth(unbootable=frozenset({8, 9})), other()
    bisect = lab.work_together(truths, lab.start_of_several(*truths))

    assert bisect.outcome in ("single", "range")
    assert lab.revision(9).pk in bisect.suspects
    skipped = bisect.acts.filter(kind="skip")
    assert {act.subject for act in skipped} <= {0}
    measured = bisect.boots.filter(source="run", index__in=(8, 9))
    assert {row.subject for row in measured} <= {1}


def test_a_lab_that_fails_on_one_machine_leaves_the_search_to_the_other() -> None:
    truths = Truth(), other()
    bisect = lab.start_of_several(*truths)
    now = timezone.now()
    for _ in range(40):
        now += timedelta(hours=3)
        if (job := lab.poll("rig-0", now=now)) is None:
            break
        lab.fail(job, "lab", "the power is off", now=now)
        advance_bisect(bisect=bisect.pk, now=now)
    assert list(lab_failures(bisect)) == [0]

    bisect = lab.work_together(truths, bisect, gone=0, now=now)

    assert bisect.culprit == lab.revision(9), bisect.state_text


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"manual": True}, "by hand one is measured"),
        ({"twice": True}, "choose each once"),
        ({"most": 6}, "at most 5"),
    ],
)
def test_machines_that_make_no_sense_together_are_refused(fields, complaint) -> None:
    first, second = Truth(), other()
    for truth in (first, second):
        lab.measured_before(truth)
    beside = [(lab.series(second), -2.0)] * fields.pop("most", 1)
    if fields.pop("twice", False):
        beside = [(lab.series(first), -2.0)]

    with pytest.raises(BisectError, match=f"Machines and modes: .*{complaint}"):
        lab.draft(first, beside=beside, **fields)


def test_a_machine_whose_noise_is_not_known_is_named() -> None:
    first, second = Truth(), other()
    lab.measured_before(first)
    lab.upload(lab.documents(second, [0, 16], boots=1))

    with pytest.raises(BisectError, match=f"{second.mode} on Xeon CX4: The noise"):
        lab.draft(first, beside=[(lab.series(second), -2.0)])


def test_the_forecast_of_two_machines_lets_them_work_side_by_side() -> None:
    first, second = Truth(), other()
    for truth in (first, second):
        lab.measured_before(truth)
    drafted = lab.draft(first, beside=[(lab.series(second), -2.0)])

    found = forecast_of(drafted).document

    assert found["hours_median"] < found["boots_median"] * drafted.bisect.boot_hours * 2
    assert [row.subject for row in drafted.boots].count(1) > 30


def test_a_step_taken_again_asks_for_nothing_twice() -> None:
    bisect = lab.start_of_several(Truth(), other())
    now = timezone.now()
    for worker, machine in (("rig-0", lab.HARDWARE), ("rig-1", OTHER)):
        lab.poll(worker, now=now, hardware=machine)
    advance_bisect(bisect=bisect.pk, now=now)
    asked = list(BisectJob.objects.values_list("job", "subject"))

    again = advance_bisect(bisect=bisect.pk, now=now + timedelta(seconds=1))

    assert sorted(subject for _, subject in asked) == [0, 1]
    assert list(BisectJob.objects.values_list("job", "subject")) == asked
    assert not again
