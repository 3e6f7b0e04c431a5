"""Which samples count, given what may be wrong with them and what a person decided.

An agent marks samples with a *kind* and a sentence. A mark changes no value. Most kinds leave the
sample out of the statistics; it is kept, shown, and counted again where a person says so. In words:
docs/results.md.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any


class Kind(StrEnum):
    """What may be wrong with a sample."""

    SENDER_SATURATED = "sender-saturated"
    ALL_ARRIVED = "all-arrived"
    WARM_UP = "warm-up"
    ZERO_SECONDS = "zero-seconds"
    MISSING_SECONDS = "missing-seconds"
    TOO_FEW_SECONDS = "too-few-seconds"
    CLOCK_STEP = "clock-step"
    THROTTLED = "throttled"


NAMES: Mapping[str, str] = MappingProxyType(
    {
        Kind.SENDER_SATURATED: "sender saturated",
        Kind.ALL_ARRIVED: "all that was sent arrived",
        Kind.WARM_UP: "warm-up",
        Kind.ZERO_SECONDS: "seconds without a packet",
        Kind.MISSING_SECONDS: "missing seconds",
        Kind.TOO_FEW_SECONDS: "too few seconds",
        Kind.CLOCK_STEP: "clock step",
        Kind.THROTTLED: "throttled",
    }
)
"""What each kind is called on a page."""

MARK_ONLY = frozenset({Kind.ALL_ARRIVED})
"""Kinds that leave nothing out. Ethernet flow control makes a generator send what the machine
forwards, and then its rate is what was to be measured."""

UNLESS_ALL = frozenset({Kind.TOO_FEW_SECONDS})
"""Kinds that leave a sample out only beside samples of the run without them. Where every iteration
is as short the lab measures that way, and leaving them out would leave out its whole archive."""


class Choice(StrEnum):
    """What a person decides about the marked samples of a run in one metric."""

    COUNT = "count"
    LEAVE_OUT = "leave_out"


@dataclass(frozen=True, slots=True)
class Mark:
    """That something may be wrong with the sample of this index: a ``Kind``, and a sentence with
    the figures."""

    sample: int
    kind: str
    text: str

    @property
    def name(self) -> str:
        """What its kind is called."""
        return NAMES.get(self.kind, self.kind)


def marks_of(data: Iterable[Mapping[str, Any]] | None) -> list[Mark]:
    """The marks as they are stored with a measurement."""
    return [Mark(one["sample"], one["kind"], one["text"]) for one in data or ()]


def left_out(marks: Sequence[Mark], count: int, choice: str = "") -> list[int] | None:
    """The indices of those of ``count`` samples that do not count, in order; None: all count.

    ``choice`` (of ``Choice``) is what a person decided about the marked ones; empty: nothing.
    """
    if choice == Choice.COUNT:
        return None
    if choice == Choice.LEAVE_OUT:
        return sorted({mark.sample for mark in marks}) or None
    by_kind = _samples_by_kind(marks)
    excluded: set[int] = set()
    for kind, samples in by_kind.items():
        if kind not in MARK_ONLY and not (kind in UNLESS_ALL and len(samples) == count):
            excluded |= samples
    return sorted(excluded) or None


def why_counted(mark: Mark, marks: Sequence[Mark], count: int) -> str:
    """Why a mark alone leaves its sample in; empty: it does not."""
    if mark.kind in MARK_ONLY:
        return "marked only: flow control may have slowed the generator to the machine's own rate"
    if mark.kind in UNLESS_ALL and len(_samples_by_kind(marks)[mark.kind]) == count:
        return "marked only: every iteration of this run is as short"
    return ""


def counted(
    samples: Sequence[float], boots: Sequence[int] | None, excluded: Iterable[int] | None
) -> tuple[list[float], list[int] | None]:
    """The samples that count, and the boots of these."""
    if not excluded:
        return list(samples), None if boots is None else list(boots)
    out = set(excluded)
    kept = [index for index in range(len(samples)) if index not in out]
    chosen = None if boots is None else [boots[index] for index in kept]
    return [samples[index] for index in kept], chosen


@dataclass(frozen=True, slots=True)
class LeftOut:
    """How many ``samples`` of ``of`` do not count, by what kinds: each with its samples."""

    samples: int
    of: int
    kinds: Mapping[str, int]

    @classmethod
    def of_measurements(
        cls, rows: Iterable[tuple[int, Sequence[int] | None, Sequence[Mark]]]
    ) -> "LeftOut | None":
        """Of the number of samples of each measurement, the indices left out, and the marks. None
        where all count."""
        samples = total = 0
        kinds: Counter[str] = Counter()
        for count, excluded, marks in rows:
            total += count
            out = set(excluded or ())
            samples += len(out)
            pairs = {(one.sample, one.kind) for one in marks if one.sample in out}
            kinds.update(kind for _, kind in pairs)
        return cls(samples, total, dict(sorted(kinds.items()))) if samples else None

    @classmethod
    def from_data(cls, data: Mapping[str, Any] | None) -> "LeftOut | None":
        """What `to_data` wrote."""
        return None if data is None else cls(data["samples"], data["of"], data["kinds"])

    def to_data(self) -> dict[str, Any]:
        """Numbers, strings and dicts only: what JSON can hold."""
        return {"samples": self.samples, "of": self.of, "kinds": dict(self.kinds)}

    @property
    def text(self) -> str:
        """As a clause: ``1 of 5 samples left out: sender saturated``."""
        why = ", ".join(NAMES.get(kind, kind) for kind in self.kinds)
        return f"{self.samples} of {self.of} samples left out: {why}"


def _samples_by_kind(marks: Iterable[Mark]) -> dict[str, set[int]]:
    found: dict[str, set[int]] = {}
    for mark in marks:
        found.setdefault(mark.kind, set()).add(mark.sample)
    return found
