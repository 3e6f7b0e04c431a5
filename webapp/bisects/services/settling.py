"""How the jobs of a bisect ended, and how the bisect ends: what cannot be measured, what the lab
failed at; which builds are the same, so that the commit between two of them cannot have made the
step; the answer, and who is notified.

Agents may report the SHA-256 of the kernel that a run measured, in the run's facts. What follows
from two that agree is an act of the log, so that a decision keeps what was known when it was made.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db.models import F, Max, Sum
from django.db.models.fields.json import KeyTextTransform

from webapp.accounts.models import User
from webapp.alerts.models import AlertHold
from webapp.alerts.services import end_holds, note_bisect, reconcile_trees
from webapp.bisects.models import Bisect, BisectAct, BisectJob
from webapp.bisects.question import Marks, least_in, level_of, marks_of
from webapp.bisects.sentences import progress_sentence
from webapp.bisects.services.collecting import measured_at
from webapp.jobs.models import Job
from webapp.notifications.models import Subscription
from webapp.outbox import services
from webapp.outbox.models import Mail
from webapp.results.models import Measurement, Revision
from webapp.stats import bisection

LAB_FAILURES = 3
"""So many jobs in a row that ended with a failure of the lab, and the bisect gives up. Each of
them was tried several times by then."""

Kind = BisectAct.Kind
OF_THE_REVISION = (Job.Stage.BUILD, Job.Stage.BOOT)

FACT = "kernel_sha256"
SHA256 = re.compile(r"[0-9a-f]{64}")
DIGITS = 12
"""Digits of a digest that a reason shows."""

ALL_THE_SAME = (
    "every commit that is left is its parent or was built as it, so none of them made the step: "
    "look at the machine, or at what the lab's digest is taken of"
)

DONE = "bisect.done"


def settle_jobs(bisect: Bisect, now: datetime) -> int:
    """Take note of each job that ended since; how many. The caller holds the bisect."""
    ended = bisect.asked.filter(settled=False, job__state__in=Job.ENDED)
    rows = list(ended.select_related("job").order_by("pk"))
    for row in rows:
        _settle(bisect, row, now)
    bisect.asked.filter(pk__in=[row.pk for row in rows]).update(settled=True)
    return len(rows)


def _settle(bisect: Bisect, asked: BisectJob, now: datetime) -> None:
    job = asked.job
    if job.state == Job.State.FAILED and job.failure_stage in OF_THE_REVISION:
        verb = "built" if job.failure_stage == Job.Stage.BUILD else "booted"
        reason = f"cannot be {verb}: {job.failure_reason}"
        # What does not boot on one machine may on another.
        is_everywhere = job.failure_stage == Job.Stage.BUILD or not bisect.is_of_several
        subject = None if is_everywhere else asked.subject
        write_act(bisect, Kind.SKIP, reason, now, index=asked.index, subject=subject)
    if job.state == Job.State.DONE and (nothing := _why_nothing(bisect, asked)):
        reason = f"job {job.pk} measured {nothing}"
        subject = asked.subject if bisect.is_of_several else None
        write_act(bisect, Kind.SKIP, reason, now, index=asked.index, subject=subject)
    if job.state == Job.State.CANCELLED and not _is_late(bisect, now):
        reason = f"job {job.pk} was cancelled: {job.cancel_reason}"
        write_act(bisect, Kind.PAUSE, reason, now)


def _why_nothing(bisect: Bisect, asked: BisectJob) -> str:
    """What the job measured where it has results that count, but none of its boots does; else
    empty.
    """
    runs = set(asked.job.runs.counted().values_list("pk", flat=True))
    at = {asked.job.revision_id: asked.index}
    scope = bisect.scopes[asked.subject]
    series, least = scope.series_id, least_in(scope)
    boots = [one for one in measured_at(series, at) if one.run in runs]
    if any(level_of(one.values, least) is not None for one in boots):
        return ""
    if boots:
        return "no value above 0, which nothing can be compared with"
    measured = Measurement.objects.filter(run__in=runs, series=series)
    if measured.exists():
        return "no sample that counts: all are left out, as the page of the commit shows"
    return ""


def _is_late(bisect: Bisect, now: datetime) -> bool:
    """Past the deadline jobs are cancelled by the queue; the bisect then ends by its budget."""
    return bisect.deadline is not None and bisect.deadline <= now


def write_act(
    bisect: Bisect,
    kind: Kind,
    reason: str,
    now: datetime,
    *,
    actor: User | None = None,
    index: int | None = None,
    subject: int | None = None,
) -> BisectAct:
    """Add to what was done to a bisect that the caller holds."""
    last = bisect.acts.aggregate(number=Max("number"))["number"] or 0
    boots = bisect.boots.aggregate(number=Max("number"))["number"] or 0
    return BisectAct.objects.create(
        bisect=bisect,
        number=last + 1,
        at=now,
        actor=actor,
        kind=kind,
        revision_id=None if index is None else bisect.along[index],
        index=index,
        subject=subject,
        after_boots=boots,
        reason=reason,
    )


def is_paused(bisect: Bisect) -> bool:
    """Whether the last act on it is to pause."""
    newest = bisect.acts.filter(kind__in=[Kind.PAUSE, Kind.RESUME]).order_by("-number").first()
    return newest is not None and newest.kind == Kind.PAUSE


def lab_failures(bisect: Bisect) -> dict[int, str]:
    """Why each machine and mode that the lab fails at is given up, by its number."""
    found = {scope.number: _lab_failure(bisect, scope.number) for scope in bisect.scopes}
    return {number: failure for number, failure in found.items() if failure}


def _lab_failure(bisect: Bisect, subject: int) -> str:
    """Why the lab is given up; empty while it is not. A person's resuming tries it again."""
    resumed = bisect.acts.filter(kind=Kind.RESUME).aggregate(at=Max("at"))["at"]
    ended = bisect.asked.filter(
        subject=subject, settled=True, job__state__in=[Job.State.DONE, Job.State.FAILED]
    )
    if resumed is not None:
        ended = ended.filter(job__ended_at__gt=resumed)
    last = list(ended.select_related("job").order_by("-job__ended_at", "-pk")[:LAB_FAILURES])
    if len(last) < LAB_FAILURES or not all(_is_of_the_lab(row.job) for row in last):
        return ""
    return (
        f"The lab failed {LAB_FAILURES} jobs in a row, the last one: {last[0].job.failure_reason}"
    )


def _is_of_the_lab(job: Job) -> bool:
    return job.state == Job.State.FAILED and job.failure_stage not in OF_THE_REVISION


def machine_hours(bisect: Bisect) -> float:
    """What its jobs took, from their last lease to their end."""
    # A clock that was set back meanwhile is no time won.
    taken = bisect.asked.filter(job__ended_at__gt=F("job__started_at"))
    spent = taken.aggregate(spent=Sum(F("job__ended_at") - F("job__started_at")))["spent"]
    return round(spent.total_seconds() / 3600, 6) if spent else 0.0


def note_identical_builds(bisect: Bisect, now: datetime) -> None:
    """Rule out each candidate whose build is its parent's. The caller holds the bisect.

    Where nothing would be left to search, that is not ruled out but pauses the bisect, for a
    person to look. What a person has allowed is left alone.
    """
    digests = _digests(bisect)
    marks = marks_of(bisect.acts.all())
    found = {
        index: digest
        for index in sorted(digests)
        if index not in marks.identical | marks.allowed and (digest := _shared(digests, index))
    }
    reason = "its kernel and that of its parent are one, SHA-256"
    reasons = {index: f"{reason} {digest[:DIGITS]}…" for index, digest in found.items()}
    rule_out(bisect, reasons, now)


def rule_out(bisect: Bisect, reasons: Mapping[int, str], now: datetime) -> None:
    """Write down that the candidates are as their parents, each with its reason; where nothing
    would be left, pause instead.
    """
    if not reasons:
        return
    if not _possible(bisect, marks_of(bisect.acts.all())) - reasons.keys():
        if not is_paused(bisect):
            write_act(bisect, Kind.PAUSE, ALL_THE_SAME, now)
        return
    for index, reason in reasons.items():
        write_act(bisect, Kind.SAME, reason, now, index=index)


def _digests(bisect: Bisect) -> Mapping[int, set[str]]:
    """By index, the digests that the runs behind the boots that count report: of its own series,
    since kernels of other machines and modes may differ.
    """
    boots = bisect.boots.filter(
        subject=0,
        dropped_at__isnull=True,
        index__range=(0, bisect.last_index),
        run__facts__has_key=FACT,
    )
    rows = boots.order_by().values_list("index", KeyTextTransform(FACT, "run__facts")).distinct()
    digests: dict[int, set[str]] = defaultdict(set)
    for index, digest in rows:
        if digest and SHA256.fullmatch(digest):
            digests[index].add(digest)
    return digests


def _shared(digests: Mapping[int, set[str]], index: int) -> str:
    """A digest that both the revision and the one before it were built to; empty: none."""
    return min(digests[index] & digests.get(index - 1, set()), default="")


def _possible(bisect: Bisect, marks: Marks) -> set[int]:
    weights = bisect.weights or [1.0] * bisect.last_index
    return {index for index, weight in enumerate(weights, start=1) if weight} - marks.identical


def end_with(
    bisect: Bisect, found: bisection.Decision, revisions: Sequence[Revision], now: datetime
) -> None:
    """Write the outcome, let the alert take it, and notify those who heard of the alert.

    Raises ValueError for a decision that is not to end.
    """
    outcome = found.outcome
    if outcome is None:
        raise ValueError("a bisect ends with an outcome")
    is_found = outcome.kind == bisection.Kind.SINGLE
    is_single = is_found and outcome.candidates[0] not in bisect.gaps
    bisect.state = Bisect.State.DONE
    # One revision stands for a range of commits where others may lie before it.
    bisect.outcome = Bisect.Outcome.RANGE if is_found and not is_single else outcome.kind.value
    bisect.culprit = revisions[outcome.candidates[0]] if is_single else None
    bisect.probability = min(max(outcome.probability, 0.0), 1.0)
    bisect.suspects = [revisions[at].pk for at in (*outcome.candidates, *outcome.second)]
    bisect.ended_at = bisect.updated_at = now
    bisect.version += 1
    bisect.save()
    sentence = progress_sentence(found, [revision.name for revision in revisions], bisect.gaps)
    if bisect.alert_id is not None:
        note_bisect(
            alert=bisect.alert_id,
            text=f"bisect {bisect.pk}: {sentence}",
            named=bisect.culprit,
            probability=bisect.probability if is_single else None,
        )
        if bisect.outcome not in Bisect.REPRODUCED:
            let_go(bisect, AlertHold.Reason.OUTCOME, now)
        # What the bisect held goes by the detector's word again, where it named nothing.
        reconcile_trees([bisect.series.tree_id])
    _post(bisect, sentence, now)


def let_go(bisect: Bisect, reason: AlertHold.Reason, now: datetime) -> None:
    """Give its alert back to the detector, if the bisect holds one."""
    if bisect.hold_id is not None:
        end_holds([bisect.hold_id], reason=reason, now=now)


def _post(bisect: Bisect, sentence: str, now: datetime) -> None:
    thread = f"alert:{bisect.alert_id}" if bisect.alert_id else f"bisect:{bisect.pk}"
    about = f"bisect:{bisect.pk}"
    services.post_mails(
        [
            services.NewMail(
                recipient=person, kind=DONE, about=about, due=now, thread=thread, data=data
            )
            for person, data in sorted(_recipients(bisect).items())
        ]
    )
    services.post_messages([services.NewMessage(DONE, about, now)])
    services.post_event(kind=DONE, about=about, payload=_payload(bisect, sentence))


def _recipients(bisect: Bisect) -> dict[int, dict[str, Any]]:
    """Who started the bisect, and who was mailed about the alert because of a subscription that is
    on: with the data of the mail, which name that subscription.
    """
    people: dict[int, dict[str, Any]] = {}
    if bisect.created_by_id:
        people[bisect.created_by_id] = {}
    if bisect.alert_id is None:
        return people
    mailed = Mail.objects.filter(
        about=f"alert:{bisect.alert_id}", kind__startswith="alert.", state=Mail.State.SENT
    )
    rows = list(mailed.order_by("pk").values_list("recipient_id", "data__subscription"))
    heard = Subscription.objects.heard().in_bulk({pk for _, pk in rows if pk is not None})
    notified = {person: {"subscription": pk} for person, pk in rows if pk in heard}
    return notified | people


def _payload(bisect: Bisect, sentence: str) -> dict[str, Any]:
    series = bisect.series
    return {
        "bisect": bisect.pk,
        "url": services.absolute(bisect.get_absolute_url()),
        "alert": bisect.alert_id,
        "tree": series.tree.name,
        "hardware": series.hardware.name,
        "mode": series.mode.name,
        "metric": series.metric.name,
        "good": bisect.good.name,
        "bad": bisect.bad.name,
        "outcome": bisect.outcome,
        "culprit": bisect.culprit.name if bisect.culprit else None,
        "probability": bisect.probability,
        "words": sentence,
    }
