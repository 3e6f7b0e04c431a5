"""How much must be measured to prove a change, and what a given plan can prove.

Noise is in percent of the level: standard deviations of runs in a boot, of boots in a build and
of builds. The mean of a side that measures B builds, b boots of each and r runs in each boot has
the variance σ²build/B + σ²boot/(B·b) + σ²run/(B·b·r); the degrees of freedom are those that
`webapp.stats.compare.compare` is to expect in such data.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, isfinite, sqrt

from webapp.stats.compare.relative import percent_of_log
from webapp.stats.errors import OutOfRangeError
from webapp.stats.sensitivity import (
    DEFAULT_CONFIDENCE,
    DEFAULT_POWER,
    require_confidence,
    require_power,
    visible_shift,
)


@dataclass(frozen=True, slots=True)
class NoiseLevels:
    """Standard deviations in percent; ``build_df`` says how well that between builds is known.

    Raises `OutOfRangeError` for negative or infinite noise and ``build_df`` below 1.
    """

    run: float
    boot: float = 0.0
    build: float = 0.0
    build_df: float = inf

    def __post_init__(self) -> None:
        if not all(isfinite(noise) and noise >= 0 for noise in (self.run, self.boot, self.build)):
            raise OutOfRangeError("noise must be a finite percentage ≥ 0")
        if not self.build_df >= 1:
            raise OutOfRangeError("noise between builds needs at least 1 degree of freedom")


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

    ``provable`` is the change, percent, that the plan proves, or that the largest plan allowed
    would; None where not even that has a scatter to go by. ``seconds`` is the time for one side,
    None without durations or plan.
    """

    plan: Plan | None
    provable: float | None
    seconds: float | None


LARGEST_PLAN = Plan(builds=10, boots=20, runs=20)


def provable_change(
    plan: Plan,
    noise: NoiseLevels,
    *,
    baseline: Plan | None = None,
    confidence: float = DEFAULT_CONFIDENCE,
    power: float = DEFAULT_POWER,
) -> float | None:
    """The smallest change, percent, that the plan proves in ``power`` percent of repetitions.

    Both sides follow ``plan`` unless ``baseline`` says what the first side has. None when the
    data would hold no scatter to go by, or when a single boot would hide noise between boots.
    Raises `OutOfRangeError` as `require_confidence` and `require_power` do.
    """
    require_confidence(confidence)
    require_power(power)
    variances = _variances((baseline or plan, plan), noise)
    if variances is None:
        return None
    total = sum(variance for variance, _ in variances)
    if total == 0:
        return 0.0
    df = _expected_df(variances)
    return percent_of_log(visible_shift(df, confidence, power) * sqrt(total))


def plan_for(
    percent: float,
    noise: NoiseLevels,
    *,
    durations: Durations | None = None,
    baseline: Plan | None = None,
    most: Plan = LARGEST_PLAN,
    confidence: float = DEFAULT_CONFIDENCE,
    power: float = DEFAULT_POWER,
) -> Requirement:
    """The cheapest plan up to ``most`` that proves a change of ``percent`` (> 0).

    Cheapest is the least time where durations are known, else the fewest runs; then the fewest
    builds, then boots. ``confidence`` and ``power`` are percent. Raises `OutOfRangeError` for a
    change that is not above 0, and as `provable_change` does.
    """
    if not percent > 0:
        raise OutOfRangeError(f"a change of {percent:g} %: it must be more than 0")

    def provable(plan: Plan) -> float | None:
        return provable_change(plan, noise, baseline=baseline, confidence=confidence, power=power)

    def cost(plan: Plan) -> tuple[float, int, int]:
        time = durations.of(plan) if durations else float(plan.all_runs)
        return time, plan.builds, plan.boots

    best: Plan | None = None
    for plan in _plans(most):
        if best is not None and cost(plan) >= cost(best):
            continue
        change = provable(plan)
        if change is not None and change <= percent:
            best = plan
    seconds = durations.of(best) if best and durations else None
    return Requirement(best, provable(best or most), seconds)


def _plans(most: Plan) -> Iterator[Plan]:
    for builds in range(1, most.builds + 1):
        for boots in range(1, most.boots + 1):
            for runs in range(1, most.runs + 1):
                yield Plan(builds, boots, runs)


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
