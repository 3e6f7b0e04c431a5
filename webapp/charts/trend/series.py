"""What a trend chart is given: the revisions along a tree, and series of points. Pure."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil, floor, isfinite
from typing import Any, NamedTuple

from webapp.charts.text import cost_figure
from webapp.charts.theme import SeriesStyle
from webapp.charts.trend.levels import Found, Level

INDEX_BASE = 100.0


@dataclass(frozen=True, slots=True)
class Revisions:
    """The revisions of the chart in the order of the tree; columns of one length.

    ``times`` are milliseconds since 1970 (UTC), None where the commit's time is unknown;
    ``authors`` are names. Of a long
    history only some are here: ``slots`` says where each stands among all ``total``.
    """

    names: Sequence[str] = ()
    subjects: Sequence[str] = ()
    times: Sequence[int | None] = ()
    slots: Sequence[int] = ()
    total: int = 0
    authors: Sequence[str] = ()

    @property
    def is_thinned(self) -> bool:
        """Whether the axis has more revisions than are here."""
        return len(self.slots) > 0

    @property
    def length(self) -> int:
        """How many revisions the axis has."""
        return self.total or len(self.names)

    def slot_at(self, at: float) -> float:
        """Where the index ``at`` stands along the axis; 3.5 is between the fourth and fifth."""
        if not self.is_thinned:
            return at
        last = len(self.slots) - 1
        low, high = (self.slots[min(max(end, 0), last)] for end in (floor(at), ceil(at)))
        return (low + high) / 2


class Apart(NamedTuple):
    """A point whose runs disagree: which of its series it is, and the mean of each run."""

    at: int
    means: Sequence[float]


@dataclass(frozen=True)
class TrendSeries:
    """One series of the chart; columns of one length, ordered along the tree.

    ``indices`` index `Revisions`. ``centres`` are what is drawn, ``lows`` and ``highs`` the ends of
    the whisker (None where unknown), in the metric's unit. ``levels`` and ``found`` are what the
    change detector concludes, ``found`` in order along the tree; ``marks`` are its findings of
    other kinds. Points whose runs disagree are ``apart``. ``left_out`` says by the index of a point
    how many samples of its runs do not count, and why, and ``foreign`` what becomes of its session,
    where that is one from elsewhere; points ``beside`` do not count for that. ``single`` is what a
    series of one revision tells; ``detects`` and ``noise`` are texts. Of what an option costs,
    ``option`` is that, values are ratios in percent, ``better`` says which way, and ``mode`` is
    what a sentence calls it.
    ``machine`` is what people call its hardware;
    ``count`` is how many points it has, drawn or not; ``stands`` what it has lost today, as data
    (`webapp.stats.changes.NetLoss`), None: nothing.
    """

    id: int
    hardware: str
    machine: str
    mode: str
    style: SeriesStyle
    indices: Sequence[int]
    counts: Sequence[int]
    centres: Sequence[float]
    lows: Sequence[float | None]
    highs: Sequence[float | None]
    simulated: bool = False
    levels: Sequence[Level] = ()
    found: Sequence[Found] = ()
    marks: Sequence[Found] = ()
    apart: Sequence[Apart] = ()
    left_out: Mapping[int, str] = field(default_factory=dict)
    foreign: Mapping[int, str] = field(default_factory=dict)
    beside: Collection[int] = ()
    single: str = ""
    detects: str = ""
    noise: str = ""
    option: str = ""
    better: str = ""
    count: int = 0
    stands: Mapping[str, Any] | None = None

    @property
    def is_cost(self) -> bool:
        """Whether it is what an option costs: the ratio of two series, in percent."""
        return bool(self.option)

    @property
    def title(self) -> str:
        """Of a cost: ``VIMAGE costs 3.7 %``, by its newest level, else its newest ratio."""
        ratio = self.newest if self.level is None else self.level
        return f"{self.option} costs {cost_figure(ratio, self.better)}"

    @property
    def level(self) -> float | None:
        """The newest level, None where the detector knows none."""
        return self.levels[-1].end if self.levels else None

    @property
    def newest(self) -> float | None:
        """The newest centre."""
        return self.centres[-1] if self.centres else None

    @property
    def last_change(self) -> Found | None:
        """The newest proven change."""
        return next((one for one in reversed(self.found) if one.is_confirmed), None)

    @property
    def label(self) -> str:
        """Mode and machine: what tells series of one chart apart."""
        return f"{self.mode} · {self.machine}"

    @property
    def factor(self) -> float | None:
        """What makes its first centre 100; None when that is not above zero. A ratio stays one."""
        if self.is_cost:
            return 1.0
        base = self.centres[0] if self.centres else 0.0
        return INDEX_BASE / base if isfinite(base) and base > 0 else None

    def indexed(self) -> "TrendSeries | None":
        """The same series with its first centre as 100; None when that is not above zero."""
        factor = self.factor
        if factor is None:
            return None
        return replace(
            self,
            centres=[value * factor for value in self.centres],
            lows=[_scaled(value, factor) for value in self.lows],
            highs=[_scaled(value, factor) for value in self.highs],
            levels=[level.scaled(factor) for level in self.levels],
            found=[one.scaled(factor) for one in self.found],
            marks=[one.scaled(factor) for one in self.marks],
            apart=[one._replace(means=[mean * factor for mean in one.means]) for one in self.apart],
        )


def _scaled(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor
