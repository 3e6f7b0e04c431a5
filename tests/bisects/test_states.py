"""What happens to a bisect besides measuring: failures, people, time."""

from datetime import timedelta

import pytest
from django.utils import timezone

from tests import make
from tests.bisects import lab
from tests.bisects.lab import Truth
from tests.kept import kept
from webapp.accounts.models import User
from webapp.bisects.deciding import replay
from webapp.bisects.draft import BisectChanged, BisectError, forecast_of
from webapp.bisects.models import Bisect, BisectBoot, BisectDecision
from webapp.bisects.services import act_on_bisect, advance_bisect, paste_boots, start_bisect
from webapp.bisects.view import BisectView, view_of
from webapp.jobs import services as jobs
from webapp.jobs.models import Job, Worker

pytestmark = pytest.mark.django_db


@pytest.fixture
def truth() -> Truth:
    return Truth()


@pytest.fixture
@kept
def bisect() -> Bisect:
    return lab.start(Truth())


@pytest.fixture
def ada(bisect: Bisect) -> User:
    return User.objects.get(username="ada")


def stepped(bisect: Bisect) -> Bisect:
    advance_bisect(bisect=bisect.pk)
    return Bisect.objects.get(pk=bisect.pk)


def test_it_starves_while_nobody_asks_for_work_and_goes_on_when_somebody_does(
    bisect: Bisect, truth: Truth
) -> None:
    assert bisect.state == "starved"
    job = lab.poll()
    assert job is not None
    assert stepped(bisect).state == "validating"
    lab.answer(truth, job)
    assert stepped(bisect).boots.filter(source="run").count() == 1
    Worker.objects.update(last_seen_at=timezone.now() - timedelta(hours=1))
    assert stepped(bisect).state == "starved"


def test_one_boot_of_each_revision_is_enough_to_begin_with() -> None:
    """As `labagent run --repeat 5` measures."""
    truth = Truth(boots_before=1)
    bisect = lab.start(truth)
    assert bisect.noise["boot"] > 0
    assert forecast_of(lab.draft(truth)).build_pct is None


def test_the_noise_of_builds_is_known_where_revisions_were_booted_twice() -> None:
    lab.measured_before(truth := Truth())
    assert forecast_of(lab.draft(truth)).build_pct is not None


def test_several_agents_measure_at_the_same_time(bisect: Bisect) -> None:
    for worker in ("rig-1", "rig-2", "rig-3"):
        lab.poll(worker)
    stepped(bisect)
    assert Job.objects.exclude(state__in=Job.ENDED).count() == 3


def test_a_late_result_counts(bisect: Bisect, truth: Truth) -> None:
    job = lab.poll()
    assert job is not None
    jobs.expire_leases(now=timezone.now() + timedelta(hours=1))
    lab.answer(truth, job)
    assert stepped(bisect).boots.filter(source="run").count() == 1


def test_a_result_sent_twice_counts_once(bisect: Bisect, truth: Truth) -> None:
    job = lab.poll()
    assert job is not None
    sent = lab.document(truth, lab.index_of(job.revision))
    lab.send_result(job, sent)
    lab.send_result(job, sent)
    assert stepped(bisect).boots.filter(source="run").count() == 1


def test_an_upload_by_somebody_else_counts_too(bisect: Bisect, truth: Truth) -> None:
    lab.upload(lab.documents(truth, [5]))
    assert stepped(bisect).boots.filter(source="run", index=5).count() == 5


def test_what_others_asked_for_counts_but_spends_nothing_of_its_budget(
    bisect: Bisect, truth: Truth
) -> None:
    another = Job.objects.create(
        purpose="more runs",
        tree=bisect.series.tree,
        revision=lab.revision(5),
        hardware=bisect.series.hardware,
        mode=bisect.series.mode,
        boots=3,
        priority=99,
        created_at=timezone.now(),
        not_before=timezone.now(),
        estimate_seconds=1.0,
    )
    held = lab.poll()
    assert held == another
    lab.answer(truth, held)
    assert stepped(bisect).boots.filter(source="run", index=5).count() == 3
    assert view_of(_with_subjects(bisect)).measured_for_it == 0


def test_a_revision_on_which_nothing_is_forwarded_is_skipped(bisect: Bisect, truth: Truth) -> None:
    job = lab.poll()
    assert job is not None
    sent = lab.document(truth, lab.index_of(job.revision))
    sent["metrics"]["pps"]["samples"] = [0.0]
    lab.send_result(job, sent)
    skipped = stepped(bisect).acts.get(kind="skip")
    assert skipped.revision == job.revision
    assert "no value above 0" in skipped.reason


def test_a_revision_of_which_no_sample_counts_is_skipped(bisect: Bisect, truth: Truth) -> None:
    job = lab.poll()
    assert job is not None
    sent = lab.document(truth, lab.index_of(job.revision))
    metric = sent["metrics"]["pps"]
    metric["validity"] = [
        {"sample": index, "kind": "sender-saturated", "text": "the link was full"}
        for index in range(len(metric["samples"]))
    ]
    lab.send_result(job, sent)
    after = stepped(bisect)
    skipped = after.acts.get(kind="skip")
    assert skipped.revision == job.revision
    assert "no sample that counts" in skipped.reason
    assert not after.boots.filter(source="run").exists()


def test_boots_of_samples_that_are_left_out_are_none(bisect: Bisect, truth: Truth) -> None:
    (sent,) = lab.documents(truth, [5])
    metric = sent["metrics"]["pps"]
    count = len(metric["samples"])
    metric["boots"] = list(range(count))
    metric["validity"] = [{"sample": 0, "kind": "clock-step", "text": "the clock was set"}]
    lab.upload([sent])
    found = stepped(bisect).boots.filter(index=5)
    assert sorted(row.boot for row in found) == list(range(1, count))


def test_a_withdrawn_run_no_longer_counts(bisect: Bisect, truth: Truth) -> None:
    lab.upload(lab.documents(truth, [5]))
    boot = stepped(bisect).boots.filter(index=5).first()
    assert boot is not None
    assert boot.run is not None
    boot.run.withdrawn_at, boot.run.withdrawn_reason = timezone.now(), "wrong kernel"
    boot.run.save()
    stepped(bisect)
    assert not bisect.boots.filter(index=5, dropped_at__isnull=True).exists()
    assert bisect.boots.filter(index=5).count() == 5


def test_a_replaced_run_counts_with_its_new_content_and_spends_nothing_more(
    bisect: Bisect, truth: Truth
) -> None:
    """What was measured before the bisect began is not this bisect's effort, sent anew or not."""
    first = bisect.boots.get(index=0, boot=0)
    assert first.run is not None
    lab.upload([lab.document(truth, 0, boots=5, uuid=first.run.uuid)], replace=True)
    stepped(bisect)
    rows = bisect.boots.filter(index=0, run__uuid=first.run.uuid)
    assert rows.filter(run=first.run, dropped_at__isnull=True).count() == 0
    assert {row.purpose for row in rows.filter(dropped_at__isnull=True)} == {"history"}


def test_what_somebody_calls_weak_is_set_aside_and_measured_again(
    bisect: Bisect, truth: Truth, ada: User
) -> None:
    lab.upload(lab.documents(truth, [5]))
    stepped(bisect)
    names = [one.name for one in view_of(_with_subjects(bisect)).revisions]
    before = [row.text for row in bisect.decisions.all()]
    act_on_bisect(
        bisect=bisect.pk, kind="weak", actor=ada, reason="hot room", revision=lab.revision(5)
    )
    view = view_of(_with_subjects(bisect))
    assert view.values_at(lab.revision(5)) == []
    assert {dot.source for dot in view.chart().dots if dot.index == 5} == {"weak"}
    measured = []
    for _ in range(3):
        job = lab.poll()
        assert job is not None
        measured.append(job.revision)
        lab.answer(truth, job)
        stepped(bisect)
    assert lab.revision(5) in measured
    assert len(view_of(_with_subjects(bisect)).values_at(lab.revision(5))) == 1
    again = [row.text for row in replay(_with_subjects(bisect), names)]
    assert again == [row.text for row in bisect.decisions.all()]
    assert again[: len(before)] == before


def _with_subjects(bisect: Bisect) -> Bisect:
    return Bisect.objects.with_subjects().get(pk=bisect.pk)


def test_after_three_failures_of_the_lab_in_a_row_it_gives_up(bisect: Bisect) -> None:
    now = timezone.now()
    for _ in range(40):
        now += timedelta(hours=3)
        job = lab.poll(now=now)
        if job is None:
            break
        lab.fail(job, "lab", "switch unreachable", now=now)
        advance_bisect(bisect=bisect.pk, now=now)
    ended = Bisect.objects.get(pk=bisect.pk)
    assert ended.outcome == "lab failed"
    assert "switch unreachable" in ended.decisions.order_by("-number")[0].text


def test_cancelling_it_cancels_its_jobs(bisect: Bisect, ada: User) -> None:
    act_on_bisect(
        bisect=bisect.pk, kind="cancel", actor=ada, reason="not needed", version=bisect.version
    )
    assert Bisect.objects.get(pk=bisect.pk).state == "cancelled"
    assert [job.state for job in Job.objects.all()] == ["cancelled"]


def test_what_went_on_meanwhile_is_not_cancelled_blindly(bisect: Bisect, ada: User) -> None:
    with pytest.raises(BisectChanged, match="look again"):
        act_on_bisect(bisect=bisect.pk, kind="cancel", actor=ada, reason="no", version=99)


def test_paused_it_asks_for_nothing_until_it_is_resumed(bisect: Bisect, ada: User) -> None:
    act_on_bisect(bisect=bisect.pk, kind="pause", actor=ada, reason="the lab moves")
    assert stepped(bisect).state == "paused"
    assert not Job.objects.exclude(state__in=Job.ENDED).exists()
    act_on_bisect(bisect=bisect.pk, kind="resume", actor=ada, reason="moved")
    assert Job.objects.exclude(state__in=Job.ENDED).count() == 1


def test_a_job_that_a_person_cancelled_pauses_it(bisect: Bisect) -> None:
    jobs.cancel_job(job=Job.objects.get().pk, reason="rig needed", actor=None)
    assert stepped(bisect).state == "paused"
    assert "rig needed" in bisect.acts.get().reason


def test_an_excluded_commit_has_no_probability(bisect: Bisect, ada: User, truth: Truth) -> None:
    act_on_bisect(
        bisect=bisect.pk, kind="exclude", actor=ada, reason="docs", revision=lab.revision(9)
    )
    view = view_of(Bisect.objects.with_subjects().get(pk=bisect.pk))
    assert view.chances[9] == 0
    assert [act.reason for act in view.acts] == ["docs"]


def test_a_pinned_revision_is_measured_next(bisect: Bisect, ada: User, truth: Truth) -> None:
    job = lab.poll()
    assert job is not None
    act_on_bisect(bisect=bisect.pk, kind="pin", actor=ada, reason="look", revision=lab.revision(5))
    lab.answer(truth, job)
    stepped(bisect)
    assert lab.revision(5) in [job.revision for job in Job.objects.queued()]


@pytest.mark.parametrize(
    ("kind", "index", "message"),
    [
        ("exclude", 0, "no suspect"),
        ("pin", None, "name one from r1000 to r1016"),
        ("resume", None, "not paused"),
        ("guess", None, "Choose what to do"),
    ],
)
def test_an_act_without_sense_is_refused(
    bisect: Bisect, ada: User, kind: str, index: int | None, message: str
) -> None:
    revision = None if index is None else lab.revision(index)
    with pytest.raises(BisectError, match=message):
        act_on_bisect(bisect=bisect.pk, kind=kind, actor=ada, reason="why", revision=revision)


def test_an_act_needs_a_reason(bisect: Bisect, ada: User) -> None:
    with pytest.raises(BisectError, match="Reason"):
        act_on_bisect(bisect=bisect.pk, kind="pause", actor=ada, reason=" ")


def test_the_last_suspect_cannot_be_excluded() -> None:
    truth = Truth(count=2, first_bad=1)
    bisect = lab.start(truth)
    ada = User.objects.get(username="ada")

    def exclude(index: int) -> None:
        at = lab.revision(index)
        act_on_bisect(bisect=bisect.pk, kind="exclude", actor=ada, reason="docs", revision=at)

    exclude(1)
    with pytest.raises(BisectError, match="no candidate is left"):
        exclude(2)
    assert bisect.acts.count() == 1


def test_its_budget_of_boots_ends_it() -> None:
    truth = Truth(step_pct=-0.4, run_pct=0.6)
    ended = lab.work(truth, lab.start(truth, most_boots=4))
    assert ended.outcome in ("inconclusive", "range")
    assert ended.boots.exclude(source="history").count() <= 4


def test_one_commit_that_the_budget_left_unconfirmed_is_no_range_in_words() -> None:
    truth = Truth(step_pct=-5.0)
    bisect = lab.start(truth, most_boots=13)
    lab.upload(lab.documents(truth, [8, 9]))
    ended = lab.work(truth, bisect)
    assert ended.outcome == "range"
    assert view_of(ended).sentence == "Probably r1009 made the step (over 99 %); not confirmed."


def test_its_deadline_ends_it(truth: Truth) -> None:
    now = timezone.now()
    bisect = lab.start(truth, deadline=now + timedelta(hours=1))
    jobs.pass_time(now=now + timedelta(hours=2))
    advance_bisect(bisect=bisect.pk, now=now + timedelta(hours=2))
    ended = Bisect.objects.get(pk=bisect.pk)
    assert ended.state == "done"
    assert "deadline" in ended.decisions.order_by("-number")[0].text


def test_people_measure_by_hand_and_the_posterior_moves() -> None:
    truth = Truth()
    bisect = lab.start(truth, manual=True)
    ada = User.objects.get(username="ada")
    for _ in range(40):
        view = view_of(Bisect.objects.with_subjects().get(pk=bisect.pk))
        if view.bisect.has_ended:
            break
        wanted = view.next[0]
        values = truth.boots(lab.index_of(wanted), 1)
        paste_boots(bisect=bisect.pk, actor=ada, revision=wanted, text=f"{values[0]}\n")
    assert view.bisect.culprit == lab.revision(9)
    assert not Job.objects.exists()
    assert not Worker.objects.exists()
    assert BisectBoot.objects.filter(source="pasted", entered_by=ada).exists()


def test_two_same_bisects_do_not_run_at_once(truth: Truth, bisect: Bisect) -> None:
    with pytest.raises(BisectError, match=f"Bisect {bisect.pk} searches the same"):
        start_bisect(draft=lab.draft(truth), created_by=make.user("bob"))


@pytest.mark.parametrize(
    ("sentence", "heading"),
    [
        ("over 99 % r1009", "Over 99 % r1009"),
        ("under 1 % no step", "Under 1 % no step"),
        ("93 % r1009, 5 % r1008", "93 % r1009, 5 % r1008"),
        ("r1009 made the step (over 99 %).", "r1009 made the step (over 99 %)."),
    ],
)
def test_a_heading_begins_with_a_capital_and_names_stay_as_they_are(
    sentence: str, heading: str
) -> None:
    decision = BisectDecision(figures={"sentence": sentence})
    view = BisectView(Bisect(), revisions=[], boots=[], decisions=[decision], acts=[], asked=[])
    assert (view.sentence, view.headline) == (sentence, heading)
