"""Who called a function, and whom it called, with what that cost on two sides."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from webapp.charts.flame.tree import totals_of
from webapp.stats.profiles.calls import Bools, Calls
from webapp.stats.profiles.costs import Floats

MOST = 12
"""Callers, and callees, those with the largest change first."""


@dataclass(frozen=True, slots=True)
class Beside:
    """A caller or a callee (``role``), and what was spent in the call on both sides."""

    role: str
    name: str
    a: float
    b: float

    @property
    def change(self) -> float:
        """What side B spent more."""
        return self.b - self.a


@dataclass(frozen=True, slots=True)
class Around:
    """A function with its callers and callees."""

    name: str
    rows: Sequence[Beside]


def name_of(name: str, module: str) -> str:
    """A function as an address names it."""
    return f"{name}@{module}"


def around_function(calls: Calls, a: Floats, b: Floats, named: str) -> Around | None:
    """The callers and callees of the function that an address names; None: no such function."""
    name, _, module = named.rpartition("@")
    at = next((i for i, one in enumerate(calls.functions) if one == (name, module)), None)
    if at is None:
        return None
    totals = totals_of(calls.parent, np.stack([a, b]))
    called = calls.parent >= 0
    own = calls.function == at
    above = called & own[np.where(called, calls.parent, 0)]
    # Of a function that calls itself the calls within are left out on both sides.
    callers = _beside(calls, calls.function[calls.parent], totals, own & called & ~above, "caller")
    return Around(name, [*callers, *_beside(calls, calls.function, totals, above & ~own, "callee")])


def _beside(
    calls: Calls, function: np.ndarray, totals: Floats, chosen: Bools, role: str
) -> list[Beside]:
    count = len(calls.functions)
    a, b = (np.bincount(function[chosen], one[chosen], count) for one in totals)
    order = np.argsort(-np.abs(b - a), kind="stable")[:MOST]
    return [
        Beside(role, calls.functions[at].name, float(a[at]), float(b[at]))
        for at in order.tolist()
        if a[at] or b[at]
    ]
