"""What people's acts, taken together, say of the revisions."""

from collections.abc import Iterable
from dataclasses import dataclass

from webapp.bisects.models import BisectAct

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


def marks_of(acts: Iterable[BisectAct]) -> Marks:
    """Later acts replace earlier ones on the same revision."""
    forced: int | None = None
    excluded: set[int] = set()
    allowed: set[int] = set()
    identical: set[int] = set()
    skipped: set[int] = set()
    pinned: dict[int, int] = {}
    for act in acts:
        if act.index is None:
            continue
        if act.kind == Kind.FORCE:
            forced = act.index
            excluded.discard(act.index)
        elif act.kind == Kind.EXCLUDE:
            excluded.add(act.index)
            allowed.discard(act.index)
            forced = None if forced == act.index else forced
        elif act.kind == Kind.SAME:
            identical.add(act.index)
        elif act.kind == Kind.ALLOW:
            excluded.discard(act.index)
            identical.discard(act.index)
            allowed.add(act.index)
            forced = None if forced == act.index else forced
        elif act.kind == Kind.SKIP:
            skipped.add(act.index)
            pinned.pop(act.index, None)
        elif act.kind == Kind.UNSKIP:
            skipped.discard(act.index)
        elif act.kind == Kind.PIN:
            pinned[act.index] = act.after_boots
            skipped.discard(act.index)
    return Marks(
        forced=forced,
        excluded=frozenset(excluded),
        allowed=frozenset(allowed),
        identical=frozenset(identical),
        skipped=frozenset(skipped),
        pinned=tuple(pinned.items()),
    )
