"""A lab that never was: five machines, three modes, a year, and what was planted in it.

The demonstration uploads it through the real path; its truth is known, so a visitor can check
what Driftline concludes. The names show that it is simulated.

A stable branch of its tree is measured on two of the machines: what the tree had lost before the
branch left is lost there too; what came later never came.
"""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from math import prod

import numpy as np

from webapp.stats.arrays import Floats
from webapp.stats.simulate.series import (
    Drift,
    Event,
    Noise,
    OutlierRevision,
    OutlierSample,
    Scatter,
    Simulated,
    Step,
    make_series,
)

TREE = "freebsd-head"
REVISIONS = 120
FIRST_DAY = datetime(2025, 1, 6, 4, 0, tzinfo=UTC)
DAYS_APART = 3
FIRST_POSITION = 350_000
"""Simulated svn numbers start here; commits lie 20 to 250 apart, as weekly builds of a tree do."""

MODES = ("forwarding", "ipfw-statefull", "pf-statefull")


@dataclass(frozen=True, slots=True)
class Machine:
    """A simulated hardware: its name, packets per second of each mode, and its noise. ``days`` is
    the scatter, on the log scale, that all its modes share at a revision.
    """

    name: str
    level: dict[str, float]
    scatter: Scatter
    days: float = 0.0


@dataclass(frozen=True, slots=True)
class LabRevision:
    """One commit of the simulated tree."""

    position: int
    revision: str
    author: str
    subject: str
    committed_at: datetime


@dataclass(frozen=True, slots=True)
class LabRun:
    """One upload: what `labagent` would have sent for one revision, hardware and mode."""

    hardware: str
    workload: str
    revision: str
    position: int
    build_id: str
    measured_at: datetime
    samples: tuple[float, ...]
    boots: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Planted:
    """One thing that was planted: `kind` is step, mixed, drift, outlier, machine change, excursion,
    slow loss, noise or cost.

    `pct` gives the size per (hardware, workload), of noise how much wider it is; `last` differs
    from `revision` for a drift and a slow loss.
    """

    kind: str
    revision: str
    last: str
    pct: dict[tuple[str, str], float]
    description: str


@dataclass(frozen=True, slots=True)
class Lab:
    """Plain data: `runs` are in the order in which they were measured; `release` is what their
    kernels call themselves.
    """

    tree: str
    metric: str
    unit: str
    better: str
    revisions: tuple[LabRevision, ...]
    runs: tuple[LabRun, ...]
    planted: tuple[Planted, ...]
    release: str = "13.0-CURRENT"


MACHINES = (
    Machine(
        "Simulated_Atom_8Cores/10G",
        {"forwarding": 1.15e6, "ipfw-statefull": 1.02e6, "pf-statefull": 0.96e6},
        Scatter(run=0.015, build=0.012),
    ),
    Machine(
        "Simulated_Xeon_16Cores/40G",
        {"forwarding": 5.8e6, "ipfw-statefull": 3.4e6, "pf-statefull": 2.9e6},
        Scatter(run=0.008, build=0.006),
    ),
    Machine(
        "Simulated_ARM_4Cores/1G",
        {"forwarding": 0.72e6, "ipfw-statefull": 0.41e6, "pf-statefull": 0.36e6},
        Scatter(run=0.006, build=0.010, heavy_tails=True),
    ),
    Machine("Simulated_Core_6Cores/10G", {"forwarding": 2.1e6}, Scatter(run=0.008, build=0.006)),
    Machine(
        "Simulated_Epyc_16Cores/25G",
        {"forwarding": 4.2e6, "forwarding+VIMAGE": 4.2e6 * 0.988},
        Scatter(run=0.004, build=0.0015),
        days=0.03,
    ),
)

STEP_AT, MIXED_AT, OUTLIER_AT, MACHINE_AT = 30, 58, 74, 95
EXCURSION_AT, NOISE_AT, COST_AT = 88, 80, 104
DRIFT = (40, 100)
SLOW = (0, REVISIONS - 1)

SUBJECTS = {
    STEP_AT: "Take the lookup lock once per packet",
    MIXED_AT: "Implement trivial backoff in the spinning lock paths",
}
AUTHORS = ("ada", "brian", "grace", "ken", "radia")


def make_lab(seed: int = 2025) -> Lab:
    """Draw the simulated lab; the same seed gives the same lab, to the last digit."""
    rng = np.random.default_rng(seed)
    revisions = _make_revisions(rng)
    runs: list[LabRun] = []
    for i, machine in enumerate(MACHINES):
        days = np.exp(machine.days * rng.standard_normal(REVISIONS)) if machine.days else None
        for j, workload in enumerate(machine.level):
            series = make_series(
                seed=int(rng.integers(2**31)),
                revisions=REVISIONS,
                scatter=machine.scatter,
                events=_events(machine.name, workload),
                missing=0.03,
                level=machine.level[workload],
            )
            late = timedelta(hours=5 + 3 * i + j)
            runs += runs_of_series(
                machine.name, workload, revisions, _with_days(series, days), late
            )
    runs.sort(key=lambda run: (run.position, run.hardware, run.workload))
    return Lab(
        tree=TREE,
        metric="pps",
        unit="packets/s",
        better="more",
        revisions=revisions,
        runs=tuple(runs),
        planted=_planted(revisions),
    )


def _with_days(series: Simulated, days: Floats | None) -> Simulated:
    """The same with each revision as many times as fast as its day was."""
    if days is None:
        return series
    samples = (
        tuple(value * float(days[at]) for value in its)
        for at, its in zip(series.positions, series.samples, strict=True)
    )
    return replace(series, samples=tuple(samples))


def _make_revisions(rng: np.random.Generator) -> tuple[LabRevision, ...]:
    positions = FIRST_POSITION + np.cumsum(rng.integers(20, 250, REVISIONS))
    return tuple(
        LabRevision(
            position=int(position),
            revision=f"r{position}",
            author=AUTHORS[int(rng.integers(len(AUTHORS)))],
            subject=SUBJECTS.get(i, f"Simulated commit {i + 1} of {REVISIONS}"),
            committed_at=FIRST_DAY + timedelta(days=DAYS_APART * i),
        )
        for i, position in enumerate(positions)
    )


def runs_of_series(
    hardware: str,
    workload: str,
    revisions: tuple[LabRevision, ...],
    series: Simulated,
    late: timedelta,
) -> list[LabRun]:
    """The uploads of a series, each ``late`` after its commit."""
    return [
        LabRun(
            hardware=hardware,
            workload=workload,
            revision=revisions[i].revision,
            position=revisions[i].position,
            build_id=f"{hardware.split('/', 1)[0]}-{revisions[i].revision}",
            measured_at=revisions[i].committed_at + late,
            samples=tuple(round(value * 2) / 2 for value in samples),
            boots=boots,
        )
        for i, samples, boots in zip(series.positions, series.samples, series.boots, strict=True)
    ]


ATOM, XEON, ARM, CORE, EPYC = (machine.name for machine in MACHINES)

STEPS: dict[int, dict[tuple[str, str], float]] = {
    STEP_AT: {(ATOM, "ipfw-statefull"): -7.0, (XEON, "ipfw-statefull"): -9.0},
    MIXED_AT: {
        (ATOM, "forwarding"): 32.0,
        (ATOM, "ipfw-statefull"): 14.0,
        (ATOM, "pf-statefull"): -11.0,
        (XEON, "forwarding"): 18.0,
        (XEON, "pf-statefull"): -6.0,
    },
    MACHINE_AT: {(ARM, workload): -8.0 for workload in MODES},
}
DRIFT_PCT = {(XEON, "pf-statefull"): -9.0}
SLOW_PCT = {(CORE, "forwarding"): -8.0}
EXCURSION_PCT = {
    (ATOM, "forwarding"): -30.0,
    (ATOM, "ipfw-statefull"): -24.0,
    (ATOM, "pf-statefull"): -27.0,
}
COST_PCT = {(EPYC, "forwarding+VIMAGE"): -2.53}
"""What VIMAGE costs grows from 1.2 to 3.7 %."""

NOISE_RATIO = {(XEON, "forwarding"): 3.0}
OUTLIER_FACTOR = {(ARM, "forwarding"): 0.4}


def _events(hardware: str, workload: str) -> tuple[Event, ...]:
    here = (hardware, workload)
    events: list[Event] = [Step(at, pct[here]) for at, pct in STEPS.items() if here in pct]
    if here in DRIFT_PCT:
        events.append(Drift(*DRIFT, DRIFT_PCT[here]))
    if here in OUTLIER_FACTOR:
        events.append(OutlierSample(OUTLIER_AT, OUTLIER_FACTOR[here]))
    if here in SLOW_PCT:
        events.append(Drift(*SLOW, SLOW_PCT[here]))
    if here in EXCURSION_PCT:
        events.append(OutlierRevision(EXCURSION_AT, EXCURSION_PCT[here]))
    if here in COST_PCT:
        events.append(Step(COST_AT, COST_PCT[here]))
    if here in NOISE_RATIO:
        events.append(Noise(NOISE_AT, NOISE_RATIO[here]))
    return tuple(events)


def _planted(revisions: tuple[LabRevision, ...]) -> tuple[Planted, ...]:
    def plant(
        kind: str, first: int, last: int, pct: dict[tuple[str, str], float], description: str
    ) -> Planted:
        return Planted(kind, revisions[first].revision, revisions[last].revision, pct, description)

    outlier = {here: 100 * (factor - 1) for here, factor in OUTLIER_FACTOR.items()}
    noise = {here: 100 * (ratio - 1) for here, ratio in NOISE_RATIO.items()}
    excursion = "every mode of one machine is far off at one revision, and back afterwards"
    return (
        plant("step", STEP_AT, STEP_AT, STEPS[STEP_AT], "ipfw loses on two machines"),
        plant("mixed", MIXED_AT, MIXED_AT, STEPS[MIXED_AT], "forwarding gains and pf loses"),
        plant("drift", *DRIFT, DRIFT_PCT, "pf loses slowly; no single commit did it"),
        plant("outlier", OUTLIER_AT, OUTLIER_AT, outlier, "one sample of five went wrong"),
        plant(
            "machine change",
            MACHINE_AT,
            MACHINE_AT,
            STEPS[MACHINE_AT],
            "every mode of one machine loses at once, and no other machine moves",
        ),
        plant("excursion", EXCURSION_AT, EXCURSION_AT, EXCURSION_PCT, excursion),
        plant("slow loss", *SLOW, SLOW_PCT, "forwarding loses by and by, all through the year"),
        plant("cost", COST_AT, COST_AT, COST_PCT, "VIMAGE costs 3.7 %, and 1.2 % before"),
        plant("noise", NOISE_AT, NOISE_AT, noise, "forwarding scatters three times as much"),
    )


BRANCHED_AT = 40
"""Index of the tree's revision that the branch leaves behind."""

MEASURED_ON = MACHINES[:2]
BRANCH_REVISIONS, EVERY = 12, 5
"""Measured revisions of the branch, and how many revisions of the tree lie between two of them."""

RELEASE = "11.1-STABLE"


def make_branch(seed: int = 11) -> Lab:
    """Draw it; the same seed gives the same lab, to the last digit."""
    rng = np.random.default_rng(seed)
    revisions = tuple(_revision(i, one) for i, one in enumerate(_followed()))
    runs: list[LabRun] = []
    for i, machine in enumerate(MEASURED_ON):
        for j, (workload, level) in enumerate(machine.level.items()):
            lost = prod(
                1 + pct.get((machine.name, workload), 0.0) / 100
                for at, pct in STEPS.items()
                if at <= BRANCHED_AT
            )
            series = make_series(
                seed=int(rng.integers(2**31)),
                revisions=BRANCH_REVISIONS,
                scatter=machine.scatter,
                level=level * lost,
            )
            late = timedelta(hours=5 + 3 * i + j)
            runs += runs_of_series(machine.name, workload, revisions, series, late)
    return Lab("freebsd-stable-11", "pps", "packets/s", "more", revisions, tuple(runs), (), RELEASE)


def _followed() -> tuple[LabRevision, ...]:
    """The revisions of the tree behind which those of the branch follow."""
    last = BRANCHED_AT + EVERY * (BRANCH_REVISIONS - 1)
    return make_lab().revisions[BRANCHED_AT : last + 1 : EVERY]


def _revision(index: int, followed: LabRevision) -> LabRevision:
    position = followed.position + 1
    return LabRevision(
        position=position,
        revision=f"r{position}",
        author=followed.author,
        subject=f"Simulated merge {index + 1} of {BRANCH_REVISIONS}",
        committed_at=followed.committed_at + timedelta(days=1),
    )
