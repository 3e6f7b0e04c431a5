"""Ask for the measurements of canaries when they are due."""

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Max, Q
from django.utils import timezone

from webapp.accounts.models import User
from webapp.events.models import MOST_CANARY_BOOTS, MOST_DAYS, Canary, CanaryJob
from webapp.events.services.lab_events import hardware_called
from webapp.jobs.models import Job
from webapp.jobs.services import JobRequest, request_jobs
from webapp.results.models import Hardware, Metric, Mode, Revision, Tree
from webapp.results.services import Problem, Unprocessable, begin_writing, ensure_revision

OPEN = (Job.State.QUEUED, Job.State.LEASED)


@dataclass(frozen=True, slots=True)
class NewCanary:
    """What a canary measures, and how often."""

    hardware: Hardware
    mode: Mode
    metric: Metric
    revision: Revision
    interval_days: int = 1
    boots: int = 2


@dataclass(frozen=True, slots=True)
class CanaryNames:
    """What a canary measures, by names, and how often."""

    tree: str
    revision: str
    hardware: str
    mode: str
    metric: str
    interval_days: int
    boots: int


@transaction.atomic
def canary_of(names: CanaryNames) -> NewCanary:
    """The rows that ``names`` mean; a revision is made where its id has its place. Raises
    Unprocessable: with every name that is not known.
    """
    tree = Tree.objects.filter(name=names.tree).first()
    hardware = hardware_called(names.hardware)
    mode = Mode.objects.filter(name=names.mode).first()
    metric = Metric.objects.filter(name=names.metric).first()
    if tree is None or hardware is None or mode is None or metric is None:
        rows = {"tree": tree, "hardware": hardware, "mode": mode, "metric": metric}
        problems = [
            Problem(field, f"there is no {field} {getattr(names, field)!r}")
            for field, row in rows.items()
            if row is None
        ]
        raise Unprocessable(problems)
    return NewCanary(
        hardware=hardware,
        mode=mode,
        metric=metric,
        revision=ensure_revision(tree=tree, name=names.revision),
        interval_days=names.interval_days,
        boots=names.boots,
    )


@transaction.atomic
def create_canary(*, wanted: NewCanary, created_by: User | None) -> tuple[Canary, bool]:
    """A canary, and whether it is new: an active one of the same machine, mode, metric and revision
    is left as it is. Raises Unprocessable: a number is out of bounds, or the revision waits for its
    place.
    """
    _check(wanted)
    begin_writing()
    key = {
        "hardware": wanted.hardware,
        "mode": wanted.mode,
        "metric": wanted.metric,
        "revision": wanted.revision,
        "is_active": True,
    }
    numbers = {"interval_days": wanted.interval_days, "boots": wanted.boots}
    return Canary.objects.get_or_create(**key, defaults={**numbers, "created_by": created_by})


def _check(wanted: NewCanary) -> None:
    problems = []
    if not 1 <= wanted.interval_days <= MOST_DAYS:
        problems.append(Problem("interval_days", f"give 1 to {MOST_DAYS} days"))
    if not 1 <= wanted.boots <= MOST_CANARY_BOOTS:
        problems.append(Problem("boots", f"ask for 1 to {MOST_CANARY_BOOTS}"))
    if wanted.revision.is_waiting:
        problems.append(Problem("revision", f"{wanted.revision} waits for its place"))
    if problems:
        raise Unprocessable(problems)


@transaction.atomic
def set_canary_active(*, canary: Canary, is_active: bool) -> None:
    """Begin or end its schedule; what was measured stays. An open job goes on. Raises
    Unprocessable: another one that is active measures the same.
    """
    twins = Canary.objects.active().filter(**_key(canary)).exclude(pk=canary.pk)
    if is_active and twins.exists():
        raise Unprocessable([Problem("is_active", "another active canary measures the same")])
    canary.is_active = is_active
    canary.save(update_fields=["is_active"])


def _key(canary: Canary) -> dict[str, int]:
    return {
        "hardware": canary.hardware_id,
        "mode": canary.mode_id,
        "metric": canary.metric_id,
        "revision": canary.revision_id,
    }


def request_due(now: datetime | None = None) -> list[Job]:
    """Ask for a job of each canary that is due and has none open; the jobs.

    Whether one is due follows from the database alone, so it may be asked at any time, by several
    at once, and after a kill: each canary is locked while its job is asked for.
    """
    at = now or timezone.now()
    numbers = Canary.objects.active().order_by("pk").values_list("pk", flat=True)
    return [job for number in numbers if (job := _request_if_due(number, at))]


@transaction.atomic
def _request_if_due(number: int, now: datetime) -> Job | None:
    begin_writing()
    locked = Canary.objects.active().select_for_update(of=["self"], skip_locked=True)
    canary = locked.filter(pk=number).select_related("revision", "hardware", "mode", "metric")
    found = canary.first()
    if found is None:
        return None
    asked = CanaryJob.objects.filter(canary=found)
    if asked.filter(job__state__in=OPEN).exists():
        return None
    last = asked.aggregate(last=Max("job__created_at"))["last"]
    if not found.is_due(last=last, now=now):
        return None
    return _request(found, now)


def _request(canary: Canary, now: datetime) -> Job:
    request = JobRequest(
        purpose=Job.Purpose.CANARY,
        revision=canary.revision,
        hardware=canary.hardware,
        mode=canary.mode,
        metric=canary.metric,
        boots=canary.boots,
        reason=f"canary {canary.pk}",
    )
    (job,) = request_jobs(requests=[request], requested_by=None, now=now)
    CanaryJob.objects.create(canary=canary, job=job)
    return job


def end_twins(source: Hardware | Mode | Revision, into: Hardware | Mode | Revision) -> None:
    """Before ``source`` is merged into ``into``: of canaries that will measure the same, the one of
    ``source`` ends.
    """
    field = type(source).__name__.lower()
    others = [name for name in ("hardware", "mode", "metric", "revision") if name != field]
    kept = Canary.objects.active().filter(**{field: into.pk})
    same = Q(pk__in=[])
    for values in kept.values(*others):
        same |= Q(**values)
    Canary.objects.active().filter(same, **{field: source.pk}).update(is_active=False)
