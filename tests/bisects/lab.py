"""A simulated lab for tests of bisects: revisions with a known truth, and workers that answer."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import numpy as np
from django.db import transaction
from django.utils import timezone

from tests import make
from tests.documents import run_document
from tests.kept import is_empty, kept
from tests.results.steps import an_agent
from webapp.analysis import services as analysis
from webapp.api.schemas.runs import RunIn
from webapp.bisects import services
from webapp.bisects.draft import Draft
from webapp.bisects.models import Bisect
from webapp.jobs import services as jobs
from webapp.jobs.models import Job
from webapp.jobs.services import PollRequest, Serves
from webapp.results.models import Revision, Series
from webapp.results.services import forget_names

LEVEL = 1_000_000.0
FIRST = 1000
MODE, HARDWARE = "pf", "Atom/T540"


@dataclass(unsafe_hash=True)
class Truth:
    """``count`` revisions, of which ``first_bad`` (an index) moved the level by ``step_pct``.

    Of one machine in one mode. ``drift_pct``: what the machine adds to all later boots with each
    one that it ``answered``.
    """

    count: int = 16
    first_bad: int = 9
    step_pct: float = -2.0
    run_pct: float = 0.3
    seed: int = 7
    unbuildable: frozenset[int] = frozenset()
    unbootable: frozenset[int] = frozenset()
    drift_pct: float = 0.0
    answered: int = 0
    hardware: str = HARDWARE
    mode: str = MODE
    boots_before: int = 5
    noise: np.random.Generator = field(init=False, compare=False)

    def __post_init__(self) -> None:
        self.noise = np.random.default_rng(self.seed)

    @property
    def is_fresh(self) -> bool:
        """Whether nothing was drawn from its noise yet."""
        state = np.random.default_rng(self.seed).bit_generator.state
        return bool(self.noise.bit_generator.state == state)

    def boots(self, index: int, count: int) -> list[float]:
        level = LEVEL * (1 + self.step_pct / 100 * (index >= self.first_bad))
        level *= 1 + self.drift_pct / 100 * self.answered
        return [
            level * float(np.exp(each)) for each in self.noise.normal(0, self.run_pct / 100, count)
        ]


@dataclass(unsafe_hash=True)
class Counts(Truth):
    """Segments sent again, Poisson: ``before`` the first bad revision and ``after``."""

    before: float = 0.0
    after: float = 200.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.step_pct = 100 * (max(self.after, 1.0) / max(self.before, 1.0) - 1)

    def boots(self, index: int, count: int) -> list[float]:
        level = self.after if index >= self.first_bad else self.before
        return [float(each) for each in self.noise.poisson(level, count)]


def name(index: int) -> str:
    return f"r{FIRST + index}"


def index_of(revision: Revision) -> int:
    return int(revision.name[1:]) - FIRST


def documents(truth: Truth, indices: Iterable[int], *, boots: int = 5) -> list[dict[str, Any]]:
    return [document(truth, index, boots=boots) for index in indices]


def document(truth: Truth, index: int, *, boots: int = 1, uuid: UUID | None = None) -> Any:
    sent = run_document(
        uuid=str(uuid or uuid4()),
        revision=name(index),
        hardware=truth.hardware,
        mode={"workload": truth.mode, "traffic": None, "options": []},
        samples=truth.boots(index, boots),
        build_id=f"build of {name(index)}",
        kernel_ident=f"FreeBSD 12.0-CURRENT {name(index)}",
    )
    if isinstance(truth, Counts):
        sent["metrics"] = {
            "retransmits": {**sent["metrics"]["pps"], "unit": "segments", "better": "less"}
        }
    return sent


def upload(rows: Sequence[dict[str, Any]], *, replace: bool = False) -> None:
    runs = [RunIn.model_validate(row).document() for row in rows]
    analysis.store_runs(agent=an_agent(), runs=runs, register=True, replace=replace)


def measured_before(truth: Truth) -> Series:
    """History: eight revisions up to the good one and eight from the bad one on, five boots each
    unless the truth has it otherwise.

    Every revision in between is known, and none of them was measured.
    """
    forget_names()
    if truth.is_fresh and is_empty():
        truth.noise = _kept_history(truth)
    else:
        _history(truth)
    return series(truth)


@kept
def _kept_history(truth: Truth) -> np.random.Generator:
    _history(truth)
    return truth.noise


def _history(truth: Truth) -> None:
    upload(documents(truth, range(-8, 1), boots=truth.boots_before))
    upload(documents(truth, range(truth.count, truth.count + 8), boots=truth.boots_before))
    tree = make.tree()
    for index in range(1, truth.count):
        make.revision(name(index), of=tree, subject=f"Change number {index}")


def series(truth: Truth) -> Series:
    return Series.objects.named().get(hardware__name=truth.hardware, mode__name=truth.mode)


def revision(index: int) -> Revision:
    return Revision.objects.get(name=name(index))


def draft(truth: Truth, **fields: Any) -> Draft:
    return services.draft_bisect(
        series=series(truth),
        good=revision(0),
        bad=revision(truth.count),
        **{"effect_pct": truth.step_pct, "most_boots": 60, **fields},
    )


def start(truth: Truth, **fields: Any) -> Bisect:
    if truth.is_fresh and not fields and is_empty():
        bisect, truth.noise = _kept_start(truth)
        return bisect
    return _start(truth, **fields)


@kept
def _kept_start(truth: Truth) -> tuple[Bisect, np.random.Generator]:
    return _start(truth), truth.noise


def _start(truth: Truth, **fields: Any) -> Bisect:
    measured_before(truth)
    return services.start_bisect(draft=draft(truth, **fields), created_by=make.user("ada"))


def start_of_several(first: Truth, *others: Truth, **fields: Any) -> Bisect:
    """Of machines and modes that all have an alert, unless their step is 0."""
    for truth in (first, *others):
        measured_before(truth)
    beside = [(series(one), one.step_pct or None) for one in others]
    drafted = draft(first, beside=beside, **fields)
    return services.start_bisect(draft=drafted, created_by=make.user("ada"))


def asking(worker: str, hardware: str = HARDWARE) -> PollRequest:
    return PollRequest(agent=an_agent(), worker=worker, serves=[Serves(hardware=hardware)])


def poll(
    worker: str = "rig-1", *, now: datetime | None = None, hardware: str = HARDWARE
) -> Job | None:
    who = asking(worker, hardware)
    return jobs.claim(request=who, capabilities=jobs.capabilities_of(who), now=now)


def answer(
    truth: Truth, job: Job, *, uuid: UUID | None = None, now: datetime | None = None
) -> None:
    """Measure what the job asks for and send the result, or report at which stage it failed."""
    index = index_of(job.revision)
    if index in truth.unbuildable or index in truth.unbootable:
        stage = "build" if index in truth.unbuildable else "boot"
        fail(job, stage, "cc: error", now=now)
        return
    sent = document(truth, index, boots=job.boots, uuid=uuid)
    truth.answered += job.boots
    send_result(job, sent, now=now)


def send_result(job: Job, sent: dict[str, Any], *, now: datetime | None = None) -> None:
    runs = [RunIn.model_validate(sent).document()]
    with transaction.atomic():
        held = jobs.begin_result(number=job.pk, agent=an_agent())
        checked = jobs.check_result(held, runs)
        analysis.store_runs(agent=an_agent(), runs=checked)
        jobs.complete(job=held, lease=job.lease, runs=checked, now=now)


def fail(job: Job, stage: str, reason: str, *, now: datetime | None = None) -> None:
    jobs.fail(number=job.pk, agent=an_agent(), lease=job.lease, stage=stage, reason=reason, now=now)


def work(
    truth: Truth, bisect: Bisect, *, workers: Sequence[str] = ("rig-1",), most: int = 200
) -> Bisect:
    """Let the workers measure until the bisect has ended; every job takes ten minutes."""
    now = timezone.now()
    for _ in range(most):
        services.advance_bisect(bisect=bisect.pk, now=now)
        bisect.refresh_from_db()
        held = [job for worker in workers if (job := poll(worker, now=now))]
        if bisect.has_ended or bisect.state == Bisect.State.PAUSED or not held:
            break
        now += timedelta(minutes=10)
        for job in held:
            answer(truth, job, now=now)
    return Bisect.objects.with_subjects().get(pk=bisect.pk)


@kept
def ended() -> Bisect:
    """The bisect of a plain truth, worked until it ended: it named r1009."""
    truth = Truth()
    return work(truth, start(truth))


def work_together(
    truths: Sequence[Truth],
    bisect: Bisect,
    *,
    most: int = 200,
    gone: int | None = None,
    now: datetime | None = None,
) -> Bisect:
    """`work` with a worker on each machine. ``gone``: the steps after which the first machine's
    worker asks for nothing more, and its job stays where it is.
    """
    now = now or timezone.now()
    machines = list(dict.fromkeys(one.hardware for one in truths))
    of = {(one.hardware, one.mode): one for one in truths}
    for step in range(most):
        services.advance_bisect(bisect=bisect.pk, now=now)
        bisect.refresh_from_db()
        there = machines if gone is None or step < gone else machines[1:]
        held = [
            job
            for at, machine in enumerate(machines)
            if machine in there and (job := poll(f"rig-{at}", now=now, hardware=machine))
        ]
        if bisect.has_ended or not held:
            break
        now += timedelta(minutes=10)
        for job in held:
            answer(of[job.hardware.name, job.mode.name], job, now=now)
    return Bisect.objects.with_subjects().get(pk=bisect.pk)
