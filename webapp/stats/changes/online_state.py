"""What the online update knows of a series after some of its revisions: bounded, plain, storable.

The state is all that the next revision needs. It holds the last `RING` revisions, the regimes
and the breaks between them; it does not grow with the history, except by one entry per break.
"""

import json
import zlib
from base64 import b64decode, b64encode
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, chain, pairwise
from operator import attrgetter
from typing import Any, Literal

import numpy as np

from webapp.stats.changes.noise import Tracker

DOUBLES = np.dtype("<f8")


def pack(numbers: Sequence[float], before: str = "") -> str:
    """Return the numbers as text, behind those that were packed `before`: base64 of their
    little-endian doubles. JSON's own numbers take twice the space and ten times as long.

    Raises ValueError for text that it did not write.
    """
    new = np.asarray(numbers, dtype=DOUBLES).tobytes()
    return b64encode(b64decode(before, validate=True) + new).decode("ascii")


def unpack(text: str) -> list[float]:
    """Return the numbers that `pack` wrote, bit by bit; ValueError for text that it did not."""
    numbers: list[float] = np.frombuffer(b64decode(text, validate=True), DOUBLES).tolist()
    return numbers


def pack_data(data: Any) -> str:
    """Return what JSON can hold as text without escapes, for what is written once and kept."""
    return b64encode(zlib.compress(json.dumps(data).encode(), 1)).decode("ascii")


def unpack_data(text: str) -> Any:
    """Return what `pack_data` wrote; ValueError for text that it did not."""
    try:
        return json.loads(zlib.decompress(b64decode(text, validate=True)))
    except zlib.error as error:
        raise ValueError(f"packed data cannot be read: {error}") from error


RING = 96
"""Revisions kept at least (twice as many before the oldest are dropped)."""

KEPT_SAMPLES = 24
"""Newest revisions whose samples are kept to recognise two modes."""

VERSION = 21
"""Of the stored form and of the method: another version means that a series is done anew."""

PACKED = ("location", "weight", "clipped", "near", "far", "weights", "totals")
"""Columns of the ring that are numbers with fractions."""

_columns = attrgetter("position", "label", *PACKED)

Kind = Literal["change", "drift"]


@dataclass(slots=True)
class Regime:
    """A stretch without a change: a straight line on the log scale, mostly a level one.

    `total / weight` is its level at its first revision, `slope` what it gains per revision.
    """

    first: int
    position: int
    label: str
    slope: float = 0.0
    count: int = 0
    weight: float = 0.0
    total: float = 0.0
    last_position: int = 0
    last_label: str = ""

    @property
    def level(self) -> float:
        """The line's value at the first revision, relative to the origin of the series."""
        return self.total / self.weight

    def at(self, index: int) -> float:
        """The line's value at a revision's index."""
        return self.level + self.slope * (index - self.first)


@dataclass(slots=True)
class Interval:
    """Where a break lies: 95 % of the probability is on the revisions `first` to `last`.

    Each pair is (position, label); `after` is the measured revision before `first`, the last
    one known at the old level. `locations` are (position, label, probability) of the revisions that
    may be the first of the new level; the first one is the revision before them, with none.
    """

    after: tuple[int, str]
    first: tuple[int, str]
    last: tuple[int, str]
    previous: tuple[int, str]
    chance: float
    locations: tuple[tuple[int, str, float], ...] = ()


@dataclass(slots=True)
class Break:
    """The end of one regime and the beginning of the next, which starts at `index`.

    `score` is the evidence, `interval` where it lies, `variance`, `freedom` and `memory_step` the
    noise around it; all follow the data until it is `settled`.
    """

    kind: Kind
    index: int
    position: int
    label: str
    confirmed_by: tuple[int, str]
    score: float = 0.0
    interval: Interval | None = None
    variance: float = 0.0
    freedom: float = 0.0
    memory_step: int = 0
    settled: bool = False


@dataclass(frozen=True, slots=True)
class Gap:
    """Revisions in a row that mostly failed: fewer than half of their samples are above 0.

    `previous` is the revision before the gap and `back` the one after it, None where there is none
    (yet). `usable` and `unusable` count the revisions before the gap that did not fail, and that
    did. `is_zero`: no sample of the gap is below 0.
    """

    revisions: tuple[tuple[int, str], ...]
    previous: tuple[int, str] | None
    usable: int
    unusable: int
    is_zero: bool
    back: tuple[int, str] | None = None


@dataclass(slots=True)
class Ring:
    """The newest revisions, column by column; `start` is the index of the first kept one.

    `clipped` is the location relative to the regime's line, wild values drawn in; `weights` and
    `totals` are running sums of it inside the current regime. `near` and `far` wait to be counted
    as noise (in a young series all do, each time), and are negative where there is none.
    """

    start: int = 0
    position: list[int] = field(default_factory=list)
    label: list[str] = field(default_factory=list)
    location: list[float] = field(default_factory=list)
    weight: list[float] = field(default_factory=list)
    clipped: list[float] = field(default_factory=list)
    near: list[float] = field(default_factory=list)
    far: list[float] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    totals: list[float] = field(default_factory=list)

    def columns(self) -> tuple[list[Any], ...]:
        """Every column, to copy or to trim them alike."""
        found: tuple[list[Any], ...] = _columns(self)
        return found

    def trim(self) -> None:
        """Drop the oldest revisions: there are twice as many as needed."""
        for column in self.columns():
            del column[:-RING]
        self.start += RING

    def copy(self) -> "Ring":
        """A ring of its own."""
        return Ring(self.start, *(column.copy() for column in self.columns()))


@dataclass(frozen=True, slots=True)
class Past:
    """The first `count` breaks of a series, and the regimes before them, as they are stored."""

    count: int = 0
    text: str = ""


@dataclass(slots=True)
class OnlineState:
    """A series as far as it was read; `changes.advance` makes the next one.

    `gaps` are the revisions that mostly failed. `origin` is the first location: all others
    are kept relative to it. `variance`, `freedom` and `memory_step` are the noise as known now.
    `past` is how what is settled was stored last: it holds nothing that the lists do not.
    """

    count: int = 0
    origin: float = 0.0
    last_position: int | None = None
    variance: float = 0.0
    freedom: float = 0.0
    memory_step: int = 0
    tracker: Tracker = field(default_factory=Tracker)
    ring: Ring = field(default_factory=Ring)
    regimes: list[Regime] = field(default_factory=list)
    breaks: list[Break] = field(default_factory=list)
    retracted: list[Break] = field(default_factory=list)
    samples: list[tuple[float, ...]] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    past: Past = field(default=Past(), compare=False, repr=False)

    @property
    def left_out(self) -> list[tuple[int, str]]:
        """The revisions of all gaps."""
        return [one for gap in self.gaps for one in gap.revisions]

    def copy(self) -> "OnlineState":
        """A state of its own, so that the old one stays as it was. Only breaks that the ring still
        holds, and the regimes around them, can change: the others are shared.
        """
        settled = self._settled()
        return replace(
            self,
            tracker=replace(self.tracker),
            ring=self.ring.copy(),
            regimes=[*self.regimes[:settled], *map(replace, self.regimes[settled:])],
            breaks=[*self.breaks[:settled], *map(replace, self.breaks[settled:])],
            retracted=self.retracted.copy(),
            samples=self.samples.copy(),
            gaps=self.gaps.copy(),
        )

    def _settled(self) -> int:
        """The number of breaks that are settled for good: the ring no longer holds them."""
        return bisect_left(self.breaks, self.ring.start, key=lambda item: item.index)

    def to_data(self) -> dict[str, Any]:
        """Return numbers, strings, lists and dicts only: what JSON can hold.

        The lists are the state's own: `asdict` would copy them number by number.
        """
        ring, past = _as_dict(self.ring), self._past()
        return {
            "version": VERSION,
            **_as_dict(self),
            "past": past.text,
            "tracker": _as_dict(self.tracker),
            "ring": ring | {name: pack(ring[name]) for name in PACKED},
            "regimes": [_as_row(one) for one in self.regimes[past.count :]],
            "breaks": [_break_as_row(one) for one in self.breaks[past.count :]],
            "retracted": [_break_as_row(one) for one in self.retracted],
            "gaps": [_as_row(one) for one in self.gaps],
            "samples": {
                "sizes": [len(row) for row in self.samples],
                "logs": pack(list(chain.from_iterable(self.samples))),
            },
        }

    def _past(self) -> Past:
        """What is settled for good, as text; written anew only where there is more of it."""
        count = self._settled()
        if count != self.past.count:
            rows = [_as_row(one) for one in self.regimes[:count]]
            self.past = Past(
                count, pack_data([rows, [_break_as_row(one) for one in self.breaks[:count]]])
            )
        return self.past

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> "OnlineState":
        """Return the state that `to_data` wrote, also after a passage through JSON.

        Raises ValueError when another version of the method wrote it.
        """
        data = dict(data)
        if data.pop("version", None) != VERSION:
            raise ValueError("the stored state is of another version: analyse the series anew")
        text = data["past"]
        regimes, breaks = unpack_data(text) if text else ((), ())
        ring = data["ring"] | {name: unpack(data["ring"][name]) for name in PACKED}
        return cls(
            **{
                **data,
                "tracker": Tracker(**data["tracker"]),
                "ring": Ring(**ring),
                "regimes": [Regime(*row) for row in (*regimes, *data["regimes"])],
                "breaks": [*map(_break_of_row, (*breaks, *data["breaks"]))],
                "past": Past(len(breaks), text),
                "retracted": [*map(_break_of_row, data["retracted"])],
                "samples": _read_samples(data["samples"]),
                "gaps": [*map(_gap_of_row, data["gaps"])],
            }
        )


def _as_dict(one: Any) -> dict[str, Any]:
    """The fields of a dataclass by name, as they are."""
    return {name: getattr(one, name) for name in one.__slots__}


def _as_row(one: Any) -> list[Any]:
    """The same without their names: of what there are many of."""
    return [getattr(one, name) for name in one.__slots__]


def _break_as_row(one: Break) -> list[Any]:
    kind, index, position, label, confirmed_by, score, interval, *noise = _as_row(one)
    if interval is not None:
        *ends, locations = _as_row(interval)
        interval = [*ends, list(zip(*locations, strict=True))]
    return [kind, index, position, label, confirmed_by, score, interval, *noise]


def _break_of_row(row: list[Any]) -> Break:
    kind, index, position, label, confirmed_by, score, interval, *noise = row
    if interval is not None:
        *ends, chance, locations = interval
        after, first, last, previous = map(_pair, ends)
        places: tuple[Any, ...] = tuple(zip(*locations, strict=True))
        interval = Interval(after, first, last, previous, chance, places)
    return Break(kind, index, position, label, _pair(confirmed_by), score, interval, *noise)


def _gap_of_row(row: list[Any]) -> Gap:
    revisions, previous, usable, unusable, is_zero, back = row
    before, after = (end and _pair(end) for end in (previous, back))
    return Gap(tuple(map(_pair, revisions)), before, usable, unusable, is_zero, after)


def _read_samples(data: dict[str, Any]) -> list[tuple[float, ...]]:
    logs, ends = unpack(data["logs"]), pairwise(accumulate(data["sizes"], initial=0))
    return [tuple(logs[first:stop]) for first, stop in ends]


def _pair(data: Any) -> tuple[int, str]:
    position, label = data
    return position, label
