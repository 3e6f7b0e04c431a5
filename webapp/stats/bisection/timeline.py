"""Boots in the order in which they were measured: what the lab may have done meanwhile shows there.

History's boots of one build lie in the past together and enter as their mean; their scatter is
what the noise was estimated from, and is not counted again.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property

import numpy as np

from webapp.stats.arrays import Bools, Floats, Indices
from webapp.stats.bisection.plan import Boot, Plan, Purpose
from webapp.stats.bisection.tally import Tally, slot_of

STEP_WEIGHT = 0.1
"""Prior chance that the lab steps once between any two boots of the bisect or before its first."""


class LabKind(StrEnum):
    """How the lab behaves."""

    STEADY = "steady"
    TREND = "trend"
    WALK = "walk"
    STEP = "step"


@dataclass(frozen=True, slots=True)
class LabState:
    """``rate``: standard deviation of the change from boot to boot, in those of a boot.
    ``follows``: what moves the series moves its companions alike, in percent.
    """

    kind: LabKind
    rate: float
    weight: float
    follows: bool = True


STATES = (
    LabState(LabKind.STEADY, 0.0, 0.72),
    LabState(LabKind.TREND, 0.12, 0.08),
    LabState(LabKind.WALK, 0.08, 0.04),
    LabState(LabKind.WALK, 0.2, 0.04),
    LabState(LabKind.WALK, 0.5, 0.02),
)
"""Prior over states; with `STEP_WEIGHT` they add up to 1. The rates span what can do harm: at a
twelfth of a boot's scatter twenty boots move by a third of it, at a half no boot knows the next."""
FOLLOWS = 0.8
"""Chance that the companions feel what the lab does. Else they are no evidence of it: a change of
the network card moves what forwards packets, and no loop of `memcpy`."""
STATES_BESIDE = tuple(
    replace(state, weight=share * state.weight, follows=follows)
    for state in STATES
    for share, follows in (
        ((1.0, True),) if state.kind is LabKind.STEADY else ((FOLLOWS, True), (1 - FOLLOWS, False))
    )
)
"""The same where companions were measured; the steady one first."""
MOST_POSITIONS = 30
"""Positions of the lab's step that are looked at; in a longer bisect every second, third … boot."""
GAP_BOOTS = 9.0
"""The time between history and the first boot of a bisect, in boots of a walk."""


@dataclass(frozen=True, eq=False)
class Timeline:
    """T rows: those of the series, then of its companions, which the same boots measured.

    ``value`` (log percent, from ``origin``; of a companion from its own mean), ``variance`` at the
    noise's estimate, ``slot``, ``build`` (equal: of one build, in one series), ``fresh`` (measured
    by or during the bisect) and ``time``: how many boots the machine
    made before, 0 in the past. ``series``: 0, or
    the companion's number from 1. ``can_step``: a companion that a commit may move.
    """

    value: Floats
    variance: Floats
    slot: Indices
    build: Indices
    fresh: Bools
    time: Floats
    series: Indices
    can_step: Bools
    origin: float

    @cached_property
    def own(self) -> Bools:
        """The rows of the series itself."""
        return np.asarray(self.series == 0)

    @cached_property
    def is_alone(self) -> bool:
        """Whether there are no companions."""
        return bool(self.own.all())

    @property
    def states(self) -> tuple[LabState, ...]:
        """What the lab may do, the steady state first."""
        return STATES if self.is_alone else STATES_BESIDE

    @cached_property
    def slots(self) -> Indices:
        """The distinct slots, in order."""
        return np.unique(self.slot)

    def alone(self) -> "Timeline":
        """Without the companions."""
        own = self.own
        rows = {
            name: getattr(self, name)[own]
            for name in ("value", "variance", "slot", "build", "fresh", "time", "series")
        }
        return replace(self, **rows, can_step=self.can_step[own])

    def levels(self) -> Floats:
        """Columns (T, q): 1 in the rows of each series, whose levels are not known."""
        return np.asarray(self.series[:, None] == np.unique(self.series)[None, :], np.float64)

    def after(self, *, beside: bool = False) -> Floats:
        """Columns (T, M − 1): 1 behind each cut between two of the M measured slots; in the rows of
        the series, or in those of the companions that a commit may move.
        """
        rows = self.can_step if beside else self.own
        behind = self.slot[:, None] >= self.slots[None, 1:]
        return np.asarray(rows[:, None] & behind, np.float64)

    @cached_property
    def lab_steps(self) -> Floats:
        """Columns (T, U): 1 from each place on at which the lab may have stepped, the first one
        between history, if any, and the first boot; where there are companions the same again,
        without their rows.
        """
        places = step_times(self.fresh, self.time)
        since = self.fresh[:, None] & (self.time[:, None] >= places[None, :])
        columns = since.astype(np.float64)
        if self.is_alone:
            return columns
        return np.hstack([columns, columns * self.own[:, None]])

    def covariances(self, plan: Plan, builds: Floats, states: Sequence[LabState]) -> Floats:
        """(B, L, T, T) for B variances between builds and L states of the lab, all at the noise's
        estimate.
        """
        boot = plan.noise.boot_variance(plan.runs)
        same = (self.build[:, None] == self.build[None, :]).astype(np.float64)
        inside = np.diag(self.variance) + [boot * self.kernel(state) for state in states]
        return np.asarray(inside[None] + builds[:, None, None, None] * same)

    def kernel(self, state: LabState) -> Floats:
        """Covariance (T, T) of the lab's shift, in variances of a boot; 0 in the past."""
        fresh = self.fresh if state.follows else self.fresh & self.own
        pairs = np.multiply if state.kind is LabKind.TREND else np.minimum
        shape = pairs(self.time[:, None], self.time[None, :]) + GAP_BOOTS
        return np.asarray(state.rate**2 * (fresh[:, None] & fresh[None, :]) * shape)


def timeline(plan: Plan, data: Tally) -> Timeline:
    """The boots that count, in their order."""
    boots = data.counted
    begin = next((i for i, one in enumerate(boots) if one.purpose is not Purpose.HISTORY), None)
    begin = len(boots) if begin is None else begin
    past: dict[tuple[str, int], list[Boot]] = {}
    for boot in boots[:begin]:
        past.setdefault(boot.of_build, []).append(boot)
    rows = [_mean(plan, group) for _, group in sorted(past.items())]
    rows += [(boot, boot.value, plan.noise.boot_variance(boot.runs)) for boot in boots[begin:]]
    value = np.array([mean for _, mean, _ in rows], np.float64)
    variance = np.array([each for _, _, each in rows], np.float64)
    origin = float((value / variance).sum() / (1 / variance).sum()) if rows else 0.0
    builds = {
        key: number for number, key in enumerate(dict.fromkeys(boot.of_build for boot in boots))
    }
    count = len(boots) - begin
    line = Timeline(
        value=value - origin,
        variance=variance,
        slot=np.array([slot_of(data.slots, boot.index) for boot, _, _ in rows], np.intp),
        build=np.array([builds[boot.of_build] for boot, _, _ in rows], np.intp),
        fresh=np.array([False] * (len(rows) - count) + [True] * count),
        time=np.concatenate([np.zeros(len(rows) - count), _turns(boots[begin:])]),
        series=np.zeros(len(rows), np.intp),
        can_step=np.zeros(len(rows), np.bool_),
        origin=origin,
    )
    return _with_companions(plan, line, boots[begin:], len(builds))


def step_times(fresh: Bools, time: Floats) -> Floats:
    """The times (U,) from which on each of the columns of the lab's steps is 1."""
    when = np.unique(time[fresh])
    positions = when if (~fresh).any() else when[1:]
    return positions[:: 1 + len(positions) // MOST_POSITIONS]


def _with_companions(plan: Plan, line: Timeline, boots: Sequence[Boot], builds: int) -> Timeline:
    """With the rows of what the fresh ``boots`` measured beside the series."""
    first = len(line.value) - len(boots)
    measured = [
        (first + at, number, value)
        for at, boot in enumerate(boots)
        for number, value in boot.beside
        if number < len(plan.companions)
    ]
    if not measured:
        return line
    of, numbers = (np.array([row[at] for row in measured], np.intp) for at in (0, 1))
    values = np.array([row[2] for row in measured])
    for number in np.unique(numbers):
        values[numbers == number] -= values[numbers == number].mean()
    known = [plan.companions[number] for number in numbers]
    return replace(
        line,
        value=np.append(line.value, values),
        variance=np.append(line.variance, [one.sd**2 for one in known]),
        slot=np.append(line.slot, line.slot[of]),
        build=np.append(line.build, line.build[of] + builds * (numbers + 1)),
        fresh=np.append(line.fresh, line.fresh[of]),
        time=np.append(line.time, line.time[of]),
        series=np.append(line.series, numbers + 1),
        can_step=np.append(line.can_step, [one.can_step for one in known]),
    )


def _turns(boots: tuple[Boot, ...]) -> Floats:
    """When each was measured, in boots of its machine."""
    return np.array([at if boot.turn < 0 else boot.turn for at, boot in enumerate(boots)], float)


def _mean(plan: Plan, boots: list[Boot]) -> tuple[Boot, float, float]:
    weights = [1 / plan.noise.boot_variance(boot.runs) for boot in boots]
    total = sum(weights)
    mean = sum(weight * boot.value for weight, boot in zip(weights, boots, strict=True)) / total
    return boots[0], mean, 1 / total
