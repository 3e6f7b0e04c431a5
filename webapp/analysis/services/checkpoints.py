"""The states of the detector that are kept: what changes is folded in from the one before it.

They lie close where points arrive, and ever further apart before: a late point has all points after
it read again anyway, and from the checkpoint before it on it is at most as many more.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection

from webapp.analysis.models import Checkpoint
from webapp.results.models import Series, StateField
from webapp.results.services import insert_rows
from webapp.stats import changes, decisive

CHECKPOINT_EVERY = 16
"""Points that one new point has read at most beside itself. To write a state costs as much as to
read some twenty points."""

REACH = 2
"""A checkpoint after 2ⁿ · (an odd number) points stays while at most this times 2ⁿ more are in the
newest one: of 200 points five states are kept, of 5,000 ten."""

FIRST_ASKED = decisive.YOUNG + decisive.WAITS
"""Measured revisions that pairs of builds are looked for in: they are read together, once."""

DELETE_OUTDATED = """
DELETE FROM analysis_checkpoint AS old
 USING unnest(%s::bigint[], %s::bigint[]) AS dirty (series_id, dirty_from)
 WHERE old.series_id = dirty.series_id
   AND (old.position >= dirty.dirty_from OR old.detector <> %s)"""

THIN_OUT = """
DELETE FROM analysis_checkpoint AS old
 USING unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::int[])
       AS newest (series_id, since, position, length)
 WHERE old.series_id = newest.series_id
   AND old.position BETWEEN newest.since AND newest.position
   AND newest.length - old.length > %s * (old.length & -old.length)"""


@dataclass(frozen=True, slots=True)
class Kept:
    """A state to keep: of a ``series`` (id), in its epoch that begins at position ``since``."""

    series: int
    since: int
    position: int
    state: changes.State


def fold(
    state: changes.State, points: Sequence[changes.Point], *, is_over: bool
) -> Iterator[tuple[int | None, changes.State]]:
    """The states to keep, with the position of each, and at last the state after all points, which
    is kept too where their epoch ``is_over``.

    Where a checkpoint lies depends on the number of points only, so that it does not matter in how
    many pieces they came.
    """
    begun, at = state.length, 0
    last = begun + len(points)
    for length in [*_lengths(begun, last, is_over=is_over), last]:
        part = points[at : length - begun]
        if not part:
            continue
        state = changes.advance(state, part)
        at += len(part)
        is_end = is_over and length == last
        is_kept = is_end or (length % CHECKPOINT_EVERY == 0 and state.online.count >= FIRST_ASKED)
        yield (part[-1].position if is_kept else None), state


def _lengths(begun: int, last: int, *, is_over: bool) -> list[int]:
    """After how many points more than ``begun`` a state stays once there are ``last``."""
    first = begun // CHECKPOINT_EVERY * CHECKPOINT_EVERY + CHECKPOINT_EVERY
    newest = last if is_over else last // CHECKPOINT_EVERY * CHECKPOINT_EVERY
    return [at for at in range(first, last + 1, CHECKPOINT_EVERY) if _stays(at, newest)]


def _stays(length: int, newest: int) -> bool:
    return newest - length <= REACH * (length & -length)


def store(kept: Sequence[Kept]) -> None:
    """Store states, and delete what is too close to its neighbours by now; two statements."""
    if not kept:
        return
    insert_rows(Checkpoint, [_row(one) for one in kept])
    newest = {(one.series, one.since): one for one in kept}.values()
    rows = [(one.series, one.since, one.position, one.state.length) for one in newest]
    with connection.cursor() as cursor:
        cursor.execute(THIN_OUT, [*map(list, zip(*rows, strict=True)), REACH])


def _row(one: Kept) -> dict[str, Any]:
    return {
        "series_id": one.series,
        "position": one.position,
        "length": one.state.length,
        "detector": changes.VERSION,
        "state": StateField.pack(one.state.to_data()),
    }


def delete_outdated(claimed: Sequence[Series]) -> None:
    """Delete checkpoints that hold changed points, or are of another method."""
    ids = [series.pk for series in claimed]
    since = [series.dirty_from for series in claimed]
    with connection.cursor() as cursor:
        cursor.execute(DELETE_OUTDATED, [ids, since, changes.VERSION])
