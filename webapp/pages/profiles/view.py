"""How a flame graph is looked at, which its address holds; who called a function and whom it
called, with what that cost on two sides.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from django.http import HttpRequest

from webapp.analysis.queries import idle_patterns
from webapp.charts.flame.tree import totals_of
from webapp.pages.parts.links import with_query
from webapp.stats.profiles.calls import Bools, Calls, idle_nodes
from webapp.stats.profiles.costs import Floats

LEAST_PX = 0.1
"""Of frames on a page: the script draws them where a zoom makes them wide."""

REVERSE, MODULE, IDLE = "reverse", "module", "idle"
TEXTS = {REVERSE: "Callers below", MODULE: "By module", IDLE: "With idle"}
"""What can be switched in an address (1 or 0), and what pages call it."""

PLAIN: frozenset[str] = frozenset()
CALLERS_BELOW = frozenset({REVERSE})
"""A difference shows the functions that ran on top. A profiler that cuts stacks at a depth (pmcstat
at 16) begins them elsewhere once a call is added: callers first, unchanged functions would move.
"""

MOST = 12
"""Callers, and callees, those with the largest change first."""


@dataclass(frozen=True, slots=True)
class View:
    """What is switched on (of `TEXTS`), and the frame that fills the picture; ``plain`` is what is
    on where the address gives none.
    """

    on: frozenset[str]
    root: str
    plain: frozenset[str]

    @classmethod
    def of(cls, request: HttpRequest, plain: frozenset[str] = PLAIN) -> "View":
        """What the address asks for."""
        on = {one for one in TEXTS if request.GET.get(one, str(int(one in plain))) == "1"}
        return cls(frozenset(on), request.GET.get("root", "").replace("\0", ""), plain)

    def hidden(self, calls: Calls) -> Bools | None:
        """Which nodes are not drawn."""
        return None if IDLE in self.on else idle_nodes(calls, idle_patterns())

    def query(self) -> list[tuple[str, str]]:
        """The parts of the address, those alone that differ from the plain view."""
        parts = [(one, str(int(one in self.on))) for one in TEXTS if one in self.on ^ self.plain]
        return [*parts, ("root", self.root)] if self.root else parts

    def toggles(self, path: str, more: list[tuple[str, str]]) -> list[tuple[str, str, bool]]:
        """What else can be seen: text, address, whether it is so now. The root does not survive:
        a turned graph has other frames.
        """
        others = ((one, replace(self, on=self.on ^ {one}, root="")) for one in TEXTS)
        return [
            (TEXTS[one], with_query(path, [*more, *other.query()]), one in self.on)
            for one, other in others
        ]


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
