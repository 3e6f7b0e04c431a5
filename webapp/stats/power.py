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
from typing import Any

import numpy as np
from scipy import special

from webapp.stats import sensitivity
from webapp.stats.arrays import Floats, Indices
from webapp.stats.compare.relative import percent_of_log
from webapp.stats.errors import OutOfRangeError


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
    baseline: Plan | None = None,
    confidence: float = sensitivity.DEFAULT_CONFIDENCE,
    power: float = sensitivity.DEFAULT_POWER,
) -> float | None:
    """The smallest change, percent, that the plan proves in ``power`` percent of repetitions.

    Both sides follow ``plan`` unless ``baseline`` gives what the first side has. None when the
    data would hold no scatter to go by, or when a single boot would hide noise between boots.
    Raises `OutOfRangeError` as `require_confidence` and `require_power` do.
    """
    sensitivity.require_confidence(confidence)
    sensitivity.require_power(power)
    variances = _variances((baseline or plan, plan), noise)
    if variances is None:
        return None
    total = sum(variance for variance, _ in variances)
    if total == 0:
        return 0.0
    df = _expected_df(variances)
    return percent_of_log(sensitivity.visible_shift(df, confidence, power) * sqrt(total))


def plan_for(
    percent: float,
    noise: NoiseLevels,
    *,
    durations: Durations | None = None,
    baseline: Plan | None = None,
    most: Plan = LARGEST_PLAN,
    confidence: float = sensitivity.DEFAULT_CONFIDENCE,
    power: float = sensitivity.DEFAULT_POWER,
) -> Requirement:
    """The cheapest plan up to ``most`` that proves a change of ``percent`` (> 0).

    Where builds scatter, a plan measures two a side at least: what differs between two single
    builds may be the builds. Cheapest is the least time where durations are known, else the fewest
    runs; then the fewest builds, then boots. ``confidence`` and ``power`` are percent. Raises
    `OutOfRangeError` for a change that is not above 0, and as `provable_change` does.
    """
    if not percent > 0:
        raise OutOfRangeError(f"a change of {percent:g} %: it must be more than 0")

    grid = _grid(most)
    order = grid.by_cost(durations)

    def cheapest(noise: NoiseLevels) -> Plan | None:
        changes = grid.changes(noise, baseline, confidence, power)[order]
        for index in order[changes <= percent * (1 + GRID_ERROR)]:
            plan = grid.plan(index)
            change = provable_change(
                plan, noise, baseline=baseline, confidence=confidence, power=power
            )
            if change is not None and change <= percent:
                return plan
        return None

    upper = noise.bound(CERTAINTY)
    best, least = cheapest(upper), cheapest(noise.bound(100 - CERTAINTY))
    provable = provable_change(
        best or most, upper, baseline=baseline, confidence=confidence, power=power
    )
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

    def changes(
        self, noise: NoiseLevels, baseline: Plan | None, confidence: float, power: float
    ) -> Floats:
        """`provable_change` of each within `GRID_ERROR`; infinite where it is None, and of single
        builds where builds scatter."""
        others = self if baseline is None else _grid_of(baseline)
        by_build = np.minimum(self.builds, others.builds) >= 2
        by_boot = np.minimum(self.all_boots, others.all_boots) >= 2
        build = (noise.build / 100) ** 2
        hidden = (self.builds < 2) & (build > 0)
        parts = []
        for side in (others, self):
            inside = (noise.boot / 100) ** 2 / side.all_boots + (noise.run / 100) ** 2 / (
                side.all_runs
            )
            within = np.where(by_boot, side.all_boots, side.all_runs) - side.builds
            hidden |= ~by_build & ((within < 1) | ((side.all_boots == 1) & (noise.boot > 0)))
            variance = inside + np.where(by_build, build / side.builds, 0.0)
            parts.append((variance, np.where(by_build, side.builds - 1, within)))
        between = np.where(by_build, 0.0, build / self.builds + build / others.builds)
        parts.append((between, np.full_like(between, noise.build_df)))
        total = np.sum([variance for variance, _ in parts], axis=0)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            squares = [((variance / total) ** 2, np.maximum(df, 1)) for variance, df in parts]
            spread = 1 + np.sum([2 * square / df for square, df in squares], axis=0)
            uncertainty = np.sum([square * (1 + 2 / df) / df for square, df in squares], axis=0)
            freedom = np.asarray(spread / uncertainty, np.float64)
            changes = 100 * np.expm1(_shifts(freedom, confidence, power) * np.sqrt(total))
        changes = np.where(total == 0, 0.0, changes)
        return np.where(hidden, inf, changes)


def _grid_of(most: Plan) -> _Grid:
    return _Grid(*(np.array([float(each)]) for each in (most.builds, most.boots, most.runs)))


@cache
def _grid(most: Plan) -> _Grid:
    axes = [np.arange(1.0, each + 1) for each in (most.builds, most.boots, most.runs)]
    return _Grid(*(axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")))


def _shifts(df: Floats, confidence: float, power: float) -> Floats:
    """`visible_shift` of each, from the table where there is one. NaN, of no noise, is let be."""
    df = np.where(np.isfinite(df), df, 1e9)
    if power == sensitivity.DEFAULT_POWER:
        return sensitivity.visible_shifts(df, confidence)
    critical: Any = special.stdtrit(df, 0.5 + confidence / 200)
    return np.asarray(special.nctdtrinc(df, 1 - power / 100, critical), np.float64)


def _variances(plans: tuple[Plan, Plan], noise: NoiseLevels) -> list[tuple[float, float]] | None:
    """Variances of both means (natural logarithms) in parts, each with its degrees of freedom."""
    by_build = min(plan.builds for plan in plans) >= 2
    parts = []
    build = (noise.build / 100) ** 2
    for plan in plans:
        inside = _within_builds(plan, noise)
        if by_build:
            parts.append((inside + build / plan.builds, plan.builds - 1.0))
            continue
        df = _df_within(plans, plan)
        if df < 1 or (plan.all_boots == 1 and noise.boot > 0):
            return None
        parts.append((inside, df))
    if not by_build and build > 0:
        parts.append((sum(build / plan.builds for plan in plans), noise.build_df))
    return parts


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


def _df_within(plans: tuple[Plan, Plan], plan: Plan) -> float:
    by_boot = min(each.all_boots for each in plans) >= 2
    return float((plan.all_boots if by_boot else plan.all_runs) - plan.builds)
