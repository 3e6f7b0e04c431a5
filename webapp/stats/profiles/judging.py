"""Verdicts on the functions of two sides (their own cost, or what they cost inclusively), and what
a comparison of profiles found: changes, rows, and their order.
"""

from dataclasses import dataclass
from math import isnan
from typing import Literal

import numpy as np
from scipy.special import ndtri

from webapp.stats.arrays import Bools, Floats
from webapp.stats.false_discovery import gate
from webapp.stats.profiles import testing
from webapp.stats.profiles.calls import Function
from webapp.stats.profiles.costs import Basis
from webapp.stats.profiles.sides import Pair

Verdict = Literal["dearer", "cheaper", "equivalent", "cannot tell"]

OWN_LEVEL, INCLUSIVE_LEVEL = 0.04, 0.01
"""Shares of false claims among those of functions' own and of their inclusive cost: 5 % in all."""

_NORMAL = float(ndtri(0.5 + testing.LEVEL / 2))

Variances = tuple[Floats, Floats]


@dataclass(frozen=True, slots=True)
class Change:
    """A cost on both sides and its change, in percent of side A's packet (or of samples).

    ``low`` to ``high`` is the 95 % interval; where boots were too few for one, a lower bound of
    it; None where nothing is tested. ``p_value`` is that of a change of cost and share in one
    direction, ``probability`` 1 − the false discovery rate at which it would be claimed; None
    where it was not tested.
    """

    a_pct: float
    b_pct: float
    change: float
    low: float | None
    high: float | None
    p_value: float | None
    probability: float | None
    verdict: Verdict

    @property
    def is_claimed(self) -> bool:
        """Whether a change is proven."""
        return self.verdict in ("dearer", "cheaper")

    @property
    def over_scatter(self) -> float:
        """The change over half the length of its interval; 0 without one."""
        if self.low is None or self.high is None or self.high <= self.low:
            return 0.0
        return 2 * abs(self.change) / (self.high - self.low)


@dataclass(frozen=True, slots=True)
class Row(Change):
    """One function: what it costs itself, and with all it calls (``inclusive``).

    ``why`` is the reason of a verdict that its figures do not show, ``renamed_to`` its name on
    side B where it has another there.
    """

    function: str
    module: str
    inclusive: Change
    why: str = ""
    renamed_to: str = ""


@dataclass(frozen=True, slots=True)
class Events:
    """What one percent of a difference is on either side, in events (``unit``) of a packet."""

    unit: str
    a: float
    b: float


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference of two sides of profiles.

    ``rows`` are functions: proven ones first, then by change over its scatter. ``vanished``
    are those that side B never shows, renamed ones excepted. ``is_cost``: figures are
    costs in percent of side A's packet, else shares of samples in percent. ``claims`` are rows
    *dearer* or *cheaper*. ``freedom`` are the median degrees of freedom of tested functions.
    ``total`` is the change in cost of a packet (None without rates), ``events`` None where
    sampling periods are unknown.
    """

    rows: tuple[Row, ...]
    vanished: tuple[Function, ...]
    warnings: tuple[str, ...]
    is_cost: bool
    is_tested: bool
    claims: int
    boots: tuple[int, int]
    freedom: float
    margin_pct: float
    total: Change | None
    events: Events | None


@dataclass(frozen=True, slots=True)
class Judge:
    """By what verdicts are given."""

    basis: Basis
    enough: bool
    margin: float

    @property
    def tests(self) -> bool:
        """Whether anything can be claimed."""
        return self.enough and not self.basis.untested

    def verdict(
        self, change: float, low: float | None, high: float | None, passes: bool
    ) -> Verdict:
        """The verdict of a change with its interval."""
        if self.tests and passes:
            return "dearer" if change > 0 else "cheaper"
        if low is None or high is None:
            return "cannot tell"
        if self.tests and -self.margin < low and high < self.margin:
            return "equivalent"
        return "cannot tell"


@dataclass(frozen=True, slots=True)
class Family:
    """The tests of all functions, own or inclusive: which were ``looked`` at, what ``passes``."""

    sides: tuple[testing.Seen, testing.Seen]
    change: Floats
    error: Floats
    low: Floats
    high: Floats
    p_value: Floats
    q_value: Floats
    looked: Bools
    passes: Bools
    scatter: testing.Scatter | None

    @property
    def typical_freedom(self) -> float:
        """The median degrees of freedom of the functions looked at; 0 where none was tested."""
        if self.scatter is None or not self.looked.any():
            return 0.0
        return float(np.median(self.scatter.freedom[self.looked]))

    def changes(self, judge: Judge) -> list[Change]:
        """The change of each function, and its verdict."""
        low, high = _listed(self.low), _listed(self.high)
        if judge.basis.untested:
            low = high = [None] * len(low)
        a, b = (side.cost.tolist() for side in self.sides)
        changes: list[float] = self.change.tolist()
        tests = _listed(self.p_value), _listed(1 - self.q_value)
        verdicts = map(judge.verdict, changes, low, high, self.passes.tolist())
        return list(map(Change, a, b, changes, low, high, *tests, verdicts))


def family(
    both: Pair, kind: int, idle: Bools, earlier: tuple[Variances, Variances] | None, judge: Judge
) -> Family:
    """Test own (0) or inclusive (1) costs."""
    a, b = sides = (both.own, both.inclusive)[kind]
    looked = ((a.share + b.share) / 2 >= testing.TESTED) & ~idle
    if kind:
        looked &= (a.share > both.own[0].share) | (b.share > both.own[1].share)
    change = b.cost - a.cost
    nothing = np.full(len(change), np.nan)
    if not judge.enough:
        half = _NORMAL * _bound(both.within[kind], judge.basis)
        none = np.zeros_like(looked)
        return Family(
            sides, change, half, change - half, change + half, nothing, nothing, none, none, None
        )
    history = earlier and earlier[kind]
    scatter = testing.scatter_of(a, b, history, looked, None)
    found = testing.tested(a, b, scatter, judge.basis, looked)
    low, high = found.interval()
    q_value = nothing.copy()
    gates = gate(np.where(np.isnan(found.p_value), 1.0, found.p_value)[looked].tolist())
    q_value[looked] = [one.q_value for one in gates]
    p_value = np.where(looked, found.p_value, np.nan)
    passes = looked & (q_value <= (OWN_LEVEL, INCLUSIVE_LEVEL)[kind])
    return Family(sides, change, found.error, low, high, p_value, q_value, looked, passes, scatter)


def _bound(within: tuple[Floats, Floats], basis: Basis) -> Floats:
    """Standard errors of changes from sections alone: a lower bound."""
    rates = (basis.a, basis.b)
    variances = [
        float(rate.cost.mean()) ** 2 * one for rate, one in zip(rates, within, strict=True)
    ]
    error: Floats = np.sqrt(variances[0] + variances[1])
    return error


def _listed(column: Floats) -> list[float | None]:
    """Its numbers, None for NaN."""
    return [None if isnan(one) else one for one in column.tolist()]
