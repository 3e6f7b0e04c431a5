"""When levels are looked for anew: at the end of a block, and where a series is not at rest.

Looking for levels takes ten times as long as all else. A revision that lies where the series lay
moves no level; what it adds is seen at the end of its block. Which revisions those are is read from
the fold alone, so that it does not matter in how many pieces points came. (A series that moves by
and by is never at rest: `window.moves`.)
"""

from webapp.stats import changes
from webapp.stats.changes import scale

LONGEST = 16
"""Points of a block: as many as lie between two states that are stored (`checkpoints`)."""

SHARE = 8
"""Part of a series that a block of it is at most: a young one must not wait."""

AT_REST = scale.KEEP
"""Normal score of the newest revisions, taken together in any number, below which a series is at
rest: with less a confirmed change is retracted."""

FRESH = 12
"""Revisions of a regime of the fold in which levels are looked for each time: those that may have
the fold's word alone (`joining.FRESH`), and two by which places may differ (`joining.NEAR`)."""


def ends_block(length: int) -> bool:
    """Return whether a block of a series ends with its `length`-th point."""
    return length % min(max(length // SHARE, 1), LONGEST) == 0


def last_block_end(length: int) -> int:
    """Return the number of points after which the last block of `length` points ended."""
    return next(at for at in range(length, -1, -1) if not at or ends_block(at))


def is_stirred(fold: changes.State) -> bool:
    """Return whether the newest revisions of a series say anything but that nothing happens.

    One revision alone moves no level: what the newest says counts with the one after it.
    """
    return changes.largest_score(fold) >= AT_REST


def is_fresh(fold: changes.State) -> bool:
    """Return whether the fold's newest regime is so young that levels must bear it out."""
    return bool(fold.breaks) and fold.regimes[-1].count <= FRESH


def counts(fold: changes.State) -> tuple[int, int]:
    """Return what changes when the fold finds something new, or takes it back."""
    return len(fold.breaks), len(fold.retracted)
