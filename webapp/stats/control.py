"""A control chart of individual values: whether a machine that should not change has changed. Pure.

The values of a fixed kernel on one machine, one a boot, in the order of time. The centre is the
median of the learning boots, their spread the larger of the median moving range / 0.9539 (Clifford
1959; Montgomery, *Introduction to Statistical Quality Control*, section 6.4) and the median
absolute deviation × 1.4826: the first sees boot-to-boot noise only, the second what wanders slower.

Limits from so few values are uncertain themselves, so three sigma would be left by chance far too
often. `factor` widens them such that a later boot of a machine with normal noise lies outside in
0.27 % of cases, as with known sigma, at any number of learning boots.

One boot outside is marked and concludes nothing, for noise with heavy tails puts 1 to 3 % of boots
there. The chart has *left its limits* at the second of three consecutive boots outside on the same
side, and is back at the second consecutive boot inside (tests/stats/test_control.py has the rates).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

LEAST_BOOTS = 8
"""Boots from which on there are limits."""

LEARNED_BOOTS = 24
"""Boots after which the limits stay as they are. Between the two each boot inside them counts."""

MEDIAN_MOVING_RANGE = 0.9539
"""The median of |difference| of two values of normal noise, in sigmas: √2 · 0.6745."""

MAD_TO_SIGMA = 1.4826
"""Sigmas in a median absolute deviation of normal noise: 1 / 0.6745."""

NOMINAL = 0.0027
"""The share of boots outside ± 3 sigma of normal noise."""


@dataclass(frozen=True, slots=True)
class Limits:
    """In the values' unit. ``boots`` is of how many they were learnt."""

    low: float
    centre: float
    high: float
    boots: int

    def side(self, value: float) -> int:
        """1 above them, -1 below, 0 within."""
        return (value > self.high) - (value < self.low)


@dataclass(frozen=True, slots=True)
class Excursion:
    """That the values left their limits, as indices: ``inside`` is the last boot within them
    before ``left``, the boot that showed it; ``returned`` the one that showed that they are back,
    None: they are not. ``side`` is 1 above, -1 below.
    """

    inside: int
    left: int
    returned: int | None
    side: int


@dataclass(frozen=True, slots=True)
class ControlChart:
    """``limits`` are the newest, None: cannot tell, for there are fewer than `LEAST_BOOTS` boots.
    ``sides``: whether each boot lies above (1), below (-1) or within (0) the limits that
    were in force when it was measured; 0 too for those from which the first limits were learnt.
    """

    limits: Limits | None
    sides: Sequence[int]
    excursions: Sequence[Excursion]

    @property
    def is_out(self) -> bool:
        """Whether it left its limits and is not back."""
        return bool(self.excursions) and self.excursions[-1].returned is None


def control_chart(values: Sequence[float]) -> ControlChart:
    """The chart of finite ``values`` in the order of time; O(n)."""
    if len(values) < LEAST_BOOTS:
        return ControlChart(None, [0] * len(values), [])
    learned = list(values[:LEAST_BOOTS])
    limits = limits_of(learned)
    sides = [0] * LEAST_BOOTS
    for value in values[LEAST_BOOTS:]:
        sides.append(limits.side(value))
        if not sides[-1] and len(learned) < LEARNED_BOOTS:
            learned.append(value)
            limits = limits_of(learned)
    return ControlChart(limits, sides, _excursions(sides))


def limits_of(learned: Sequence[float]) -> Limits:
    """The limits learnt from at least `LEAST_BOOTS` values."""
    centre = median(learned)
    moving = median(abs(later - earlier) for earlier, later in pairwise(learned))
    deviation = median(abs(value - centre) for value in learned)
    sigma = max(moving / MEDIAN_MOVING_RANGE, deviation * MAD_TO_SIGMA)
    reach = factor(len(learned)) * sigma
    return Limits(centre - reach, centre, centre + reach, len(learned))


def factor(boots: int) -> float:
    """How many estimated sigmas the limits lie from the centre: 5.8 at 8 boots, 3.5 at 24.

    Fitted to simulations of normal noise (400,000 values at each of 8, 10, 12, 16, 20 and 24
    boots); it tends to 3 as the estimates become exact.
    """
    return 3 + 1 / (0.102 * boots - 0.46)


def _excursions(sides: Sequence[int]) -> list[Excursion]:
    found: list[Excursion] = []
    for at, side in enumerate(sides):
        if found and found[-1].returned is None:
            if not side and not sides[at - 1]:
                out = found[-1]
                found[-1] = Excursion(out.inside, out.left, at, out.side)
        elif side and list(sides[max(0, at - 2) : at + 1]).count(side) >= 2:
            found.append(Excursion(_last_inside(sides, at, side), at, None, side))
    return found


def _last_inside(sides: Sequence[int], at: int, side: int) -> int:
    """The boot before the first of those outside that showed it: at most two before ``at``."""
    first = next(one for one in range(max(0, at - 2), at) if sides[one] == side)
    return first - 1
