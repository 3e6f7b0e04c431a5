"""Boots in the order in which they were measured: what the lab may have done meanwhile shows there.

History's boots of one build lie in the past together and enter as their mean; their scatter is
what the noise was estimated from, and is not counted again.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from webapp.stats.bisection.lab_states import STATES, kernel, step_columns
from webapp.stats.bisection.plan import Boot, Plan, Purpose
from webapp.stats.bisection.tally import Tally, slot_of

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Timeline:
    """T rows. ``value`` (log percent, from ``origin``), ``variance`` at the noise's estimate,
    ``slot``, ``build`` (equal: of one build), ``fresh`` (measured by or during the bisect) and
    ``time``: its number among those, 0 in the past. ``boots``: the fresh ones, in order.
    """

    value: Floats
    variance: Floats
    slot: NDArray[np.intp]
    build: NDArray[np.intp]
    fresh: NDArray[np.bool_]
    time: Floats
    origin: float
    boots: tuple[Boot, ...]

    @property
    def slots(self) -> NDArray[np.intp]:
        """The distinct slots, in order."""
        return np.unique(self.slot)

    def after(self) -> Floats:
        """Columns (T, M − 1): 1 behind each cut between two of the M measured slots."""
        return (self.slot[:, None] >= self.slots[None, 1:]).astype(np.float64)

    def lab_steps(self) -> Floats:
        """Columns (T, U): see `lab_states.step_columns`."""
        return step_columns(self.fresh, self.time)

    def covariances(self, plan: Plan, builds: Floats) -> Floats:
        """(B, L, T, T) for B variances between builds and the L states of the lab, all at the
        noise's estimate.
        """
        boot = plan.noise.boot_variance(plan.runs)
        same = (self.build[:, None] == self.build[None, :]).astype(np.float64)
        states = np.stack([boot * kernel(state, self.fresh, self.time) for state in STATES])
        inside = np.diag(self.variance) + states
        return np.asarray(inside[None] + builds[:, None, None, None] * same)


def timeline(plan: Plan, data: Tally) -> Timeline:
    """The boots that count, in their order."""
    boots = data.counted
    begin = next((i for i, one in enumerate(boots) if one.purpose is not Purpose.HISTORY), None)
    begin = len(boots) if begin is None else begin
    past: dict[tuple[str, int], list[Boot]] = {}
    for boot in boots[:begin]:
        past.setdefault(_build(boot), []).append(boot)
    rows = [_mean(plan, group) for _, group in sorted(past.items())]
    rows += [(boot, boot.value, plan.noise.boot_variance(boot.runs)) for boot in boots[begin:]]
    value = np.array([mean for _, mean, _ in rows], np.float64)
    variance = np.array([each for _, _, each in rows], np.float64)
    origin = float((value / variance).sum() / (1 / variance).sum()) if rows else 0.0
    builds = {key: number for number, key in enumerate(dict.fromkeys(map(_build, boots)))}
    count = len(boots) - begin
    return Timeline(
        value=value - origin,
        variance=variance,
        slot=np.array([slot_of(data.slots, boot.index) for boot, _, _ in rows], np.intp),
        build=np.array([builds[_build(boot)] for boot, _, _ in rows], np.intp),
        fresh=np.array([False] * (len(rows) - count) + [True] * count),
        time=np.concatenate([np.zeros(len(rows) - count), np.arange(count)]),
        origin=origin,
        boots=boots[begin:],
    )


def _build(boot: Boot) -> tuple[str, int]:
    return boot.build, 0 if boot.build else boot.index


def _mean(plan: Plan, boots: list[Boot]) -> tuple[Boot, float, float]:
    weights = np.array([1 / plan.noise.boot_variance(boot.runs) for boot in boots])
    total = float(weights.sum())
    return boots[0], float(weights @ [boot.value for boot in boots]) / total, 1 / total
