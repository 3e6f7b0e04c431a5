"""What the lab itself may do while a bisect runs: nothing, a trend, a walk, one step.

Boots have an order, and a machine that warms up, is moved or gets a new switch changes all later
boots alike. Each state is a covariance between boots, in units of the variance of one boot; the
step is a column of its own (`columns`), because its place is to be told.
"""

from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


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


STEP_WEIGHT = 0.1
"""Prior chance that the lab steps once between any two boots of the bisect or before its first."""

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
"""Chance that the companions feel what the lab does. Else they say nothing of it: a change of the
network card moves what forwards packets, and no loop of `memcpy`."""

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


def kernel(state: LabState, fresh: NDArray[np.bool_], time: Floats) -> Floats:
    """Covariance (T, T) of the lab's shift over T boots; 0 in the past (not ``fresh``)."""
    both = (fresh[:, None] & fresh[None, :]).astype(np.float64)
    if state.kind is LabKind.TREND:
        shape = time[:, None] * time[None, :] + GAP_BOOTS
    else:
        shape = np.minimum(time[:, None], time[None, :]) + GAP_BOOTS
    return state.rate**2 * both * shape


def step_columns(fresh: NDArray[np.bool_], time: Floats) -> Floats:
    """Columns (T, U): 1 from each place on at which the lab may have stepped.

    The first one is between history and the first boot, where there is a history.
    """
    positions = step_times(fresh, time)
    return (fresh[:, None] & (time[:, None] >= positions[None, :])).astype(np.float64)


def step_times(fresh: NDArray[np.bool_], time: Floats) -> Floats:
    """The time from which on each of those columns is 1."""
    when = np.unique(time[fresh])
    positions = when if (~fresh).any() else when[1:]
    return positions[:: 1 + len(positions) // MOST_POSITIONS]
