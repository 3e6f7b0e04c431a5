"""What people's acts, taken together, say of the revisions."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from webapp.bisects.models import BisectAct, BisectBoot

Kind = BisectAct.Kind


@dataclass(frozen=True, slots=True)
class Marks:
    """Indices along the bisect: the forced one, those excluded, those that a person calls as
    likely as any other, those built as their parents, those skipped, and those pinned in order."""

    forced: int | None
    excluded: frozenset[int]
    allowed: frozenset[int]
    identical: frozenset[int]
    skipped: frozenset[int]
    pinned: tuple[tuple[int, int], ...]
    """(index, last boot known then): a pin holds until something was measured there after it."""
    discarded: Mapping[int, int]
    """By index the last boot known when somebody called what was measured there weak."""

    def excludes(self, boot: BisectBoot) -> bool:
        """Whether the boot is one that somebody called weak: it counts for nothing."""
        after = self.discarded.get(boot.index)
        return after is not None and boot.number <= after


def marks_of(acts: Iterable[BisectAct], subject: int = 0) -> Marks:
    """Later acts replace earlier ones on the same revision. Acts on one machine and mode only
    count for the one with that number.
    """
    suspects, measuring = _Suspects(), _Measuring()
    for act in acts:
        if act.index is not None and act.subject in (None, subject):
            suspects.apply(act.kind, act.index)
            measuring.apply(act.kind, act.index, act.after_boots)
    return Marks(
        forced=suspects.forced,
        excluded=frozenset(suspects.excluded),
        allowed=frozenset(suspects.allowed),
        identical=frozenset(suspects.identical),
        skipped=frozenset(measuring.skipped),
        pinned=tuple(measuring.pinned.items()),
        discarded=measuring.discarded,
    )


@dataclass(slots=True)
class _Suspects:
    """Which commits may have made the step."""

    forced: int | None = None
    excluded: set[int] = field(default_factory=set)
    allowed: set[int] = field(default_factory=set)
    identical: set[int] = field(default_factory=set)

    def apply(self, kind: str, index: int) -> None:
        if kind in (Kind.EXCLUDE, Kind.ALLOW) and self.forced == index:
            self.forced = None
        if kind == Kind.FORCE:
            self.forced = index
            self.excluded.discard(index)
        elif kind == Kind.EXCLUDE:
            self.excluded.add(index)
            self.allowed.discard(index)
        elif kind == Kind.SAME:
            self.identical.add(index)
        elif kind == Kind.ALLOW:
            self.excluded.discard(index)
            self.identical.discard(index)
            self.allowed.add(index)


@dataclass(slots=True)
class _Measuring:
    """Which revisions can be measured, are to be, and were measured badly."""

    skipped: set[int] = field(default_factory=set)
    pinned: dict[int, int] = field(default_factory=dict)
    discarded: dict[int, int] = field(default_factory=dict)

    def apply(self, kind: str, index: int, after_boots: int) -> None:
        if kind == Kind.SKIP:
            self.skipped.add(index)
            self.pinned.pop(index, None)
        elif kind in (Kind.UNSKIP, Kind.PIN, Kind.DISCARD):
            self.skipped.discard(index)
        if kind in (Kind.PIN, Kind.DISCARD):
            self.pinned[index] = after_boots
        if kind == Kind.DISCARD:
            self.discarded[index] = after_boots
