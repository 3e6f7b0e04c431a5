"""What a comparison of profiles found: changes, rows, and their order."""

from dataclasses import dataclass
from typing import Literal

from webapp.stats.profiles.calls import Function

Verdict = Literal["dearer", "cheaper", "equivalent", "cannot tell"]


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
