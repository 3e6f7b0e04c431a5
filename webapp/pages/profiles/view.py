"""How a flame graph is looked at: what its address holds."""

from dataclasses import dataclass, replace

from django.http import HttpRequest

from webapp.analysis.queries import idle_patterns
from webapp.pages.parts.links import with_query
from webapp.stats.profiles.calls import Bools, Calls
from webapp.stats.profiles.idle import idle_nodes

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


@dataclass(frozen=True, slots=True)
class View:
    """What is switched on (of `TEXTS`), and the frame that fills the picture; ``plain`` is what is
    on where the address says nothing.
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
