"""What a worker reports of the job it holds, and the job's result: early, late or twice; what
measured something else is refused.

The runs themselves are stored by who stands above: ``begin_result``, store, ``complete``, in one
transaction. A refusal rolls that back and is then noted by ``refuse_result``.

A machine that boots the wrong kernel measures it without complaint. ``uname -a`` names what runs:
``FreeBSD 12.0-CURRENT #0 r303643M: …``, ``… main-n255632-9f3ac1e02b11: …``,
``6.6.0-00123-g9f3ac1e``.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum

from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from webapp.jobs.models import Job, JobEvent, Worker
from webapp.jobs.services import events
from webapp.jobs.services.events import LeaseLost, ResultRefused, WrongKernel
from webapp.jobs.services.leasing import was_leased
from webapp.labs.models import Agent
from webapp.results.models import HardwareAlias, ModeAlias, Revision, Run
from webapp.results.services import RunDocument, begin_writing

# Only where the ident shows that it means a commit: a bare word of hexadecimal digits may be a date
# or a part of a host's name.
SVN = re.compile(r"(?<![\w.-])(r\d{4,9})(?=M?(?![\w-]))")
COUNT = re.compile(r"(?<![A-Za-z0-9])([nc]\d{4,9})(?![A-Za-z0-9])")
HASH = re.compile(r"(?:(?<![A-Za-z0-9])[nc]\d{4,9}-|(?<=[-+])g)([0-9a-f]{7,40})(?![A-Za-z0-9])")
SUBVERSION_NAME, COUNT_NAME = re.compile(r"r\d+"), re.compile(r"[nc]\d+")
HASH_NAME = re.compile(r"[0-9a-f]{7,40}")
KINDS = (SUBVERSION_NAME, COUNT_NAME, HASH_NAME)

PROGRESS_MAX = 200
HEARTBEAT_LOG, FAILURE_LOG = 4 * 2**10, 64 * 2**10
"""Characters; of a longer log the end is kept, where the error is."""


class KernelMatch(Enum):
    """Whether the ident of a kernel names a revision."""

    THE_SAME = "the same"
    ANOTHER = "another"
    NOTHING = "nothing"


def ids_in(ident: str) -> list[str]:
    """The ids of revisions that ``ident`` names, in its order of kinds: r…, n…, hashes."""
    found = [*SVN.findall(ident), *COUNT.findall(ident), *HASH.findall(ident)]
    return list(dict.fromkeys(found))


def match_kernel(ident: str, revision: Revision) -> KernelMatch:
    """Whether the kernel ``ident`` is ``revision``'s.

    An id that the tree knows for another revision, or one of a kind in which the revision has a
    name of its own, is another's. An id of a kind that is not known of it decides nothing.
    """
    names = {revision.name, *revision.aliases.values_list("name", flat=True)}
    ids = ids_in(ident)
    if any(_is_one_of(each, names) for each in ids):
        return KernelMatch.THE_SAME
    if any(_is_anothers(each, names, revision) for each in ids):
        return KernelMatch.ANOTHER
    return KernelMatch.NOTHING


def _is_one_of(given: str, names: set[str]) -> bool:
    """Hashes are shortened by both sides, to different lengths."""
    if given in names:
        return True
    if not HASH_NAME.fullmatch(given):
        return False
    hashes = [name for name in names if HASH_NAME.fullmatch(name)]
    return any(name.startswith(given) or given.startswith(name) for name in hashes)


def _is_anothers(given: str, names: set[str], revision: Revision) -> bool:
    kind = next(kind for kind in KINDS if kind.fullmatch(given))
    if any(kind.fullmatch(name) for name in names):
        return True
    return Revision.objects.named(tree=revision.tree, name=given) is not None


UNNAMED = (
    "The kernel's ident names no revision that is known here: that it was the job's is the agent's "
    "word."
)


def begin_result(*, number: int, agent: Agent) -> Job:
    """The job that a result is for, held until the transaction ends. Raises NoSuchJob, ForeignJob.

    A reshaping waits before it touches any row, so its lock comes before the job's.
    """
    begin_writing()
    return events.lock_job_for(number, agent)


def check_result(job: Job, runs: Sequence[RunDocument]) -> list[RunDocument]:
    """The runs to store, with a warning where their kernel does not name what it is. Raises
    ResultRefused: another hardware, mode or tree than the job's, or not its metric; or runs that
    were there before the job was; WrongKernel: another revision, by the run's word or by its
    kernel's.
    """
    for run in runs:
        _refuse_another_subject(job, run)
    _refuse_known_runs(job, runs)
    return [_checked(job, run) for run in runs]


def complete(
    *, job: Job, lease: str, runs: Sequence[RunDocument], now: datetime | None = None
) -> None:
    """The runs are stored: the job is done, whoever has it now. Sent twice is as once.

    A cancelled job keeps its runs and stays cancelled.
    """
    at = now or timezone.now()
    uuids = [run.uuid for run in runs]
    stored = list(Run.objects.current().filter(uuid__in=uuids).order_by("pk"))
    known = set(job.runs.values_list("pk", flat=True))
    fresh = [run for run in stored if run.pk not in known]
    if not fresh and job.has_ended:
        return
    job.runs.add(*fresh)
    in_time = job.state == Job.State.LEASED and job.lease == lease
    kind = events.Kind.RESULT if in_time else events.Kind.LATE_RESULT
    worker = job.worker if job.lease == lease else None
    data = {"runs": [str(run.uuid) for run in stored]}
    events.note(job, kind, at, worker=worker, lease=lease, data=data)
    if job.state in (Job.State.DONE, Job.State.CANCELLED):
        return
    if job.cancel_requested:
        events.end_cancelled(job, at)
    else:
        events.end(job, Job.State.DONE, at)


@transaction.atomic
def refuse_result(*, number: int, agent: Agent, lease: str, refusal: ResultRefused) -> None:
    """Note that a result was refused; the attempt failed at its boot. Sent twice is as once."""
    at = timezone.now()
    job = events.lock_job_for(number, agent)
    entry = {"job": job, "kind": events.Kind.REFUSED, "lease": lease, "reason": str(refusal)}
    if JobEvent.objects.filter(**entry).exists():
        return
    events.note(job, events.Kind.REFUSED, at, worker=job.worker, lease=lease, reason=str(refusal))
    if job.state == Job.State.LEASED and job.lease == lease:
        fail_locked(job, stage=Job.Stage.BOOT, reason=str(refusal), at=at)


def _refuse_another_subject(job: Job, run: RunDocument) -> None:
    if run.tree != job.tree.name:
        raise ResultRefused(f"tree: job {job.pk} is of {job.tree}, not {run.tree}")
    if run.hardware != job.hardware.name and not _is_former_hardware(job, run.hardware):
        raise ResultRefused(
            f"hardware: job {job.pk} is for {job.hardware.name}, not {run.hardware}"
        )
    mode = str(run.mode)
    if mode != job.mode.name and not _is_former_mode(job, mode):
        raise ResultRefused(f"mode: job {job.pk} is in {job.mode}, not {mode}")
    if run.variant:
        raise ResultRefused(f"variant: job {job.pk} is of the plain kernel, not {run.variant_name}")
    if job.metric and job.metric.name not in {metric.name for metric in run.metrics}:
        raise ResultRefused(f"metrics: job {job.pk} asks for {job.metric}, which the run lacks")


def _refuse_known_runs(job: Job, runs: Sequence[RunDocument]) -> None:
    """A job asks for a new measurement. An old run would end it and bring nothing, for ever."""
    others = Job.runs.through.objects.filter(run=OuterRef("pk")).exclude(job=job)
    old = (
        Run.objects.current()
        .filter(Q(Exists(others)) | Q(received_at__lt=job.created_at))
        .filter(uuid__in=[run.uuid for run in runs])
        .exclude(jobs=job)
        .first()
    )
    if old is not None:
        raise ResultRefused(
            f"uuid: run {old.uuid} was measured for something else before; job {job.pk} asks for "
            "a new measurement, under a UUID of its own"
        )


def _is_former_hardware(job: Job, name: str) -> bool:
    return HardwareAlias.objects.filter(name=name, hardware=job.hardware_id).exists()


def _is_former_mode(job: Job, name: str) -> bool:
    return ModeAlias.objects.filter(name=name, mode=job.mode_id).exists()


def _checked(job: Job, run: RunDocument) -> RunDocument:
    found = Revision.objects.named(tree=job.tree, name=run.revision)
    if found is None or found.pk != job.revision_id:
        raise WrongKernel(f"revision: job {job.pk} is of {job.revision}, not {run.revision}")
    match match_kernel(run.kernel_ident, job.revision):
        case KernelMatch.ANOTHER:
            raise WrongKernel(
                f"kernel_ident: job {job.pk} is of {job.revision}, and this kernel is another: "
                f"{', '.join(ids_in(run.kernel_ident))}"
            )
        case KernelMatch.NOTHING:
            return replace(run, warnings=[*run.warnings, UNNAMED])
        case KernelMatch.THE_SAME:
            return run


@dataclass(frozen=True, slots=True)
class Heard:
    """The answer to a heartbeat: whether to go on, and if not, why."""

    state: str
    cancel: bool
    reason: str


def hear(
    *,
    number: int,
    agent: Agent,
    lease: str,
    stage: str,
    progress: str = "",
    log: str = "",
    now: datetime | None = None,
) -> Heard:
    """Extend the lease, note what the worker does. A job that ended is answered with ``cancel``.
    Raises NoSuchJob, ForeignJob; LeaseLost: another worker may have the job; a result is taken all
    the same.
    """
    at = now or timezone.now()
    # By itself: a poll locks first its worker and then its job.
    Worker.objects.filter(agent=agent, jobs__lease=lease).update(last_seen_at=at)
    return _hear(number, agent, lease, at, stage=stage, progress=progress, log=log)


@transaction.atomic
def _hear(number: int, agent: Agent, lease: str, at: datetime, **progress: str) -> Heard:
    job = events.lock_job_for(number, agent)
    if job.lease != lease:
        raise LeaseLost(f"job {number} is no longer yours; a result of it is still welcome")
    if job.has_ended:
        return Heard(job.state, cancel=True, reason=job.cancel_reason or f"the job is {job.state}")
    if job.state != Job.State.LEASED:
        raise LeaseLost(f"the lease of job {number} ran out; a result of it is still welcome")
    _note_progress(job, at, **progress)
    return Heard(job.state, cancel=job.cancel_requested, reason=job.cancel_reason)


def _note_progress(job: Job, at: datetime, *, stage: str, progress: str, log: str) -> None:
    if job.stage != stage:
        job.stage, job.stage_since = stage, at
    job.progress, job.log = progress[:PROGRESS_MAX], log[-HEARTBEAT_LOG:] or job.log
    events.extend_lease(job, at)
    job.save(update_fields=["stage", "stage_since", "progress", "log", *events.HEARD])


@transaction.atomic
def fail(
    *,
    number: int,
    agent: Agent,
    lease: str,
    stage: str,
    reason: str,
    log: str = "",
    now: datetime | None = None,
) -> Job:
    """The attempt failed: try again later, or give the job up. Reported twice is as once. Raises
    NoSuchJob, ForeignJob; LeaseLost: the lease never was one of this job.
    """
    at = now or timezone.now()
    job = events.lock_job_for(number, agent)
    if job.state != Job.State.LEASED or job.lease != lease:
        if not was_leased(job, lease):
            raise LeaseLost(f"job {number} was never yours")
        return job
    fail_locked(job, stage=stage, reason=reason, log=log, at=at)
    return job


def fail_locked(job: Job, *, stage: str, reason: str, log: str = "", at: datetime) -> None:
    """`fail` for a leased job that the caller has locked."""
    stated = reason.strip()[: events.REASON_MAX] or "no reason was given"
    if job.cancel_requested:
        events.end_cancelled(job, at)
        return
    events.note(
        job,
        events.Kind.FAILED,
        at,
        worker=job.worker,
        lease=job.lease,
        stage=stage,
        reason=stated,
        log=log[-FAILURE_LOG:],
    )
    events.fail_attempt(job, stage=stage, reason=stated)
    if events.may_be_tried_again(job, stage=stage, failures=_failures(job, stage)):
        events.put_back(job, at, pause=events.RULES[stage].pause)
    else:
        events.end(job, Job.State.FAILED, at)
        events.note(
            job,
            events.Kind.GAVE_UP,
            at,
            stage=stage,
            reason=f"after {job.attempts} attempts: {stated}",
        )


def _failures(job: Job, stage: str) -> int:
    """At a stage, since a person last queued the job again."""
    retried = (
        job.events.filter(kind=events.Kind.RETRIED).order_by("-pk").values_list("pk", flat=True)
    )
    failed = job.events.filter(kind=events.Kind.FAILED, stage=stage, pk__gt=retried.first() or 0)
    return failed.count()
