"""How much must be measured to prove a change, and what a given plan can prove.

Noise is in percent of the level: standard deviations of runs in a boot, of boots in a build and
of builds. The mean of a side that measures B builds, b boots of each and r runs in each boot has
the variance σ²build/B + σ²boot/(B·b) + σ²run/(B·b·r); the degrees of freedom are those that
`webapp.stats.compare.compare` is to expect in such data.

Noise that was estimated is planned for by the upper end of what it may be: a plan by the estimate
itself keeps its promise in half of all cases only.
"""

from dataclasses import dataclass, replace
from functools import cache
from math import inf, isfinite, sqrt

import numpy as np
from scipy import special

from webapp.stats import OutOfRangeError
from webapp.stats.arrays import Floats, Indices
from webapp.stats.compare import significance
from webapp.stats.compare.relative import percent_of_log


@dataclass(frozen=True, slots=True)
class NoiseLevels:
    """Standard deviations in percent, and the degrees of freedom by which they are known.

    ``df`` are those of runs and boots, ``build_df`` those of builds. Raises `OutOfRangeError` for
    negative or infinite noise and for less than one degree of freedom.
    """

    run: float
    boot: float = 0.0
    build: float = 0.0
    build_df: float = inf
    df: float = inf

    def __post_init__(self) -> None:
        if not all(isfinite(noise) and noise >= 0 for noise in (self.run, self.boot, self.build)):
            raise OutOfRangeError("noise must be a finite percentage ≥ 0")
        if not (self.build_df >= 1 and self.df >= 1):
            raise OutOfRangeError("noise needs at least 1 degree of freedom")

    def bound(self, certainty: float) -> "NoiseLevels":
        """This noise at the one-sided bound that the true one exceeds with 100 − ``certainty`` %.

        s·√(f/χ²) with f degrees of freedom: below 50 it is a lower bound.
        """
        inside, between = (_bound(df, certainty) for df in (self.df, self.build_df))
        return replace(
            self, run=self.run * inside, boot=self.boot * inside, build=self.build * between
        )


@dataclass(frozen=True, slots=True)
class Plan:
    """What one side measures: ``builds``, ``boots`` of each build, ``runs`` in each boot."""

    builds: int
    boots: int
    runs: int

    def __post_init__(self) -> None:
        if min(self.builds, self.boots, self.runs) < 1:
            raise OutOfRangeError("a plan has at least one build, boot and run")

    @property
    def all_boots(self) -> int:
        """Boots of a side."""
        return self.builds * self.boots

    @property
    def all_runs(self) -> int:
        """Runs of a side."""
        return self.all_boots * self.runs


@dataclass(frozen=True, slots=True)
class Durations:
    """Seconds that a run takes, a boot before its first run, and a build before its first boot."""

    run: float
    boot: float = 0.0
    build: float = 0.0

    def __post_init__(self) -> None:
        if not all(isfinite(time) and time >= 0 for time in (self.run, self.boot, self.build)):
            raise OutOfRangeError("a duration must be finite and ≥ 0 seconds")

    def of(self, plan: Plan) -> float:
        """Seconds for one side of a comparison."""
        return plan.builds * self.build + plan.all_boots * self.boot + plan.all_runs * self.run


@dataclass(frozen=True, slots=True)
class Requirement:
    """The cheapest plan that proves a change, per side; ``plan`` is None when none does.

    ``plan`` holds for the noise at its upper bound of `CERTAINTY` percent, so that four plans of
    five keep their promise; ``least`` would do at the lower bound. They are the same where noise is
    known for certain. ``provable`` is the change, percent, that the plan proves, or that the
    largest plan allowed would; None where not even that has a scatter to go by. ``seconds`` is the
    time for one side, None without durations or plan.
    """

    plan: Plan | None
    least: Plan | None
    provable: float | None
    seconds: float | None


CERTAINTY = 80.0
"""Percent, one-sided: how sure a plan is that noise is not larger than what it is made for."""

LARGEST_PLAN = Plan(builds=10, boots=20, runs=20)


def provable_change(
    plan: Plan,
    noise: NoiseLevels,
    *,
    confidence: float = significance.DEFAULT_CONFIDENCE,
) -> float | None:
    """The smallest change, percent, that two sides of the plan prove in 80 % of repetitions.

    None when the data would hold no scatter to go by, or when a single boot would hide noise
    between boots. Raises `OutOfRangeError` as `require_confidence` does.
    """
    significance.require_confidence(confidence)
    variances = _variances(plan, noise)
    if variances is None:
        return None
    total = sum(variance for variance, _ in variances)
    if total == 0:
        return 0.0
    df = _expected_df(variances)
    return percent_of_log(significance.visible_shift(df, confidence) * sqrt(total))


def plan_for(
    percent: float,
    noise: NoiseLevels,
    *,
    durations: Durations | None = None,
    most: Plan = LARGEST_PLAN,
) -> Requirement:
    """The cheapest plan up to ``most`` that proves a change of ``percent`` (> 0).

    Where builds scatter, a plan measures two a side at least: what differs between two single
    builds may be the builds. Cheapest is the least time where durations are known, else the fewest
    runs; then the fewest builds, then boots. Raises `OutOfRangeError` for a change that is not
    above 0.
    """
    if not percent > 0:
        raise OutOfRangeError(f"a change of {percent:g} %: it must be more than 0")

    grid = _grid(most)
    order = grid.by_cost(durations)

    def cheapest(noise: NoiseLevels) -> Plan | None:
        changes = grid.changes(noise)[order]
        for index in order[changes <= percent * (1 + GRID_ERROR)]:
            plan = grid.plan(index)
            change = provable_change(plan, noise)
            if change is not None and change <= percent:
                return plan
        return None

    upper = noise.bound(CERTAINTY)
    best, least = cheapest(upper), cheapest(noise.bound(100 - CERTAINTY))
    provable = provable_change(best or most, upper)
    return Requirement(best, least, provable, durations.of(best) if best and durations else None)


def _bound(df: float, certainty: float) -> float:
    """How many times an estimated standard deviation the true one is at most."""
    return 1.0 if df == inf else sqrt(df / float(special.chdtri(df, certainty / 100)))


GRID_ERROR = 1e-3
"""How far, relatively, the grid's provable change may be from the exact one. Its table is a hundred
times better; whatever lies within is computed exactly."""


@dataclass(frozen=True, slots=True)
class _Grid:
    """Every plan up to a largest one, as columns: thousands at the price of a few by themselves."""

    builds: Floats
    boots: Floats
    runs: Floats

    @property
    def all_boots(self) -> Floats:
        """Boots of a side."""
        return self.builds * self.boots

    @property
    def all_runs(self) -> Floats:
        """Runs of a side."""
        return self.all_boots * self.runs

    def plan(self, index: int) -> Plan:
        """One of them."""
        builds, boots, runs = self.builds[index], self.boots[index], self.runs[index]
        return Plan(int(builds), int(boots), int(runs))

    def by_cost(self, durations: Durations | None) -> Indices:
        """Indices, the cheapest first."""
        cost = self.all_runs
        if durations is not None:
            run, boot, build = durations.run, durations.boot, durations.build
            cost = self.builds * build + self.all_boots * boot + self.all_runs * run
        return np.lexsort((self.boots, self.builds, cost))

    def changes(self, noise: NoiseLevels) -> Floats:
        """`provable_change` of each within `GRID_ERROR`; infinite where it is None, and of single
        builds where builds scatter."""
        by_build, boots, runs = self.builds >= 2, self.all_boots, self.all_runs
        build = (noise.build / 100) ** 2
        inside = (noise.boot / 100) ** 2 / boots + (noise.run / 100) ** 2 / runs
        within = np.where(boots >= 2, boots, runs) - self.builds
        hidden = ~by_build & ((build > 0) | (within < 1) | ((boots == 1) & (noise.boot > 0)))
        variance = inside + np.where(by_build, build / self.builds, 0.0)
        side = variance, np.where(by_build, self.builds - 1, within)
        between = np.where(by_build, 0.0, 2 * build / self.builds)
        parts = [side, side, (between, np.full_like(between, noise.build_df))]
        total = np.sum([variance for variance, _ in parts], axis=0)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            squares = [((variance / total) ** 2, np.maximum(df, 1)) for variance, df in parts]
            spread = 1 + np.sum([2 * square / df for square, df in squares], axis=0)
            uncertainty = np.sum([square * (1 + 2 / df) / df for square, df in squares], axis=0)
            freedom = np.asarray(spread / uncertainty, np.float64)
            freedom = np.where(np.isfinite(freedom), freedom, 1e9)  # NaN: of no noise
            shifts = significance.visible_shifts(freedom, significance.DEFAULT_CONFIDENCE)
            changes = 100 * np.expm1(shifts * np.sqrt(total))
        changes = np.where(total == 0, 0.0, changes)
        return np.where(hidden, inf, changes)


@cache
def _grid(most: Plan) -> _Grid:
    axes = [np.arange(1.0, each + 1) for each in (most.builds, most.boots, most.runs)]
    return _Grid(*(axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")))


def _variances(plan: Plan, noise: NoiseLevels) -> list[tuple[float, float]] | None:
    """Variances of both means (natural logarithms) in parts, each with its degrees of freedom."""
    build, inside = (noise.build / 100) ** 2, _within_builds(plan, noise)
    if plan.builds >= 2:
        return 2 * [(inside + build / plan.builds, plan.builds - 1.0)]
    df = (plan.all_boots if plan.all_boots >= 2 else plan.all_runs) - 1.0
    if df < 1 or (plan.all_boots == 1 and noise.boot > 0):
        return None
    return 2 * [(inside, df)] + ([(2 * build, noise.build_df)] if build > 0 else [])


def _expected_df(parts: list[tuple[float, float]]) -> float:
    """Satterthwaite's degrees of freedom as estimates of these variances will give them.

    A part estimated with f degrees of freedom has E[v²] = σ⁴·(1 + 2/f), which lowers what is
    found in data below what the true variances would give (3 instead of 4 for 3 against 3).
    """
    total = sum(variance for variance, _ in parts)
    squares = [((variance / total) ** 2, df) for variance, df in parts]
    spread = 1 + sum(2 * square / df for square, df in squares)
    uncertainty = sum(square * (1 + 2 / df) / df for square, df in squares)
    return spread / uncertainty if uncertainty else inf


def _within_builds(plan: Plan, noise: NoiseLevels) -> float:
    return (noise.boot / 100) ** 2 / plan.all_boots + (noise.run / 100) ** 2 / plan.all_runs
