"""The states of the detector that are kept: an analysis goes on from the last before what changed.

Checkpoints lie close where points arrive, and ever further apart before: a late point has all
points after it read again anyway, and from the checkpoint before it on it is at most as many more.
A series that may have several epochs has one state for each, none knows of another; what is stored
of an epoch that is over is a checkpoint at its last point.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from django.db import connection

from webapp.analysis.models import Checkpoint
from webapp.events.queries import ONE_EPOCH, Epochs
from webapp.results.models import Series, StateField
from webapp.results.services import insert_rows
from webapp.stats import changes, single_build
from webapp.stats.metrics import Better

CHECKPOINT_EVERY = 16
"""Points that one new point has read at most beside itself. To write a state costs as much as to
read some twenty points."""

REACH = 2
"""A checkpoint after 2ⁿ · (an odd number) points stays while at most this times 2ⁿ more are in the
newest one: of 200 points five states are kept, of 5,000 ten."""

FIRST_ASKED = single_build.YOUNG + single_build.WAITS
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


def update(
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


BEFORE_ALL, BEYOND_ALL = -1, 2**63 - 1

NEWEST_OF_EPOCHS = """
SELECT wanted.series_id, wanted.epoch, newest.position, newest.state
  FROM unnest(%s::bigint[], %s::int[], %s::bigint[], %s::bigint[])
       AS wanted (series_id, epoch, start, beyond)
  JOIN LATERAL (
       SELECT position, state FROM analysis_checkpoint
        WHERE series_id = wanted.series_id
          AND position >= wanted.start AND position < wanted.beyond
        ORDER BY position DESC LIMIT 1) AS newest ON true
"""


@dataclass(frozen=True, slots=True)
class EpochStates:
    """``states`` are those of the epochs of a series, the oldest first; all but the last are of
    epochs that are over. The points up to ``position`` are in them; None: no point is.
    """

    epochs: Epochs
    states: Sequence[changes.State]
    position: int | None

    @property
    def first_whole(self) -> int:
        """The number of the first epoch of which no point is read yet."""
        return 0 if self.position is None else len(self.states)

    def by_epoch(
        self, points: Sequence[changes.Point]
    ) -> Iterator[tuple[int, Sequence[changes.Point]]]:
        """Points in their order by the number of their epoch."""
        starts = self.epochs.starts
        for number, its in groupby(points, key=lambda point: bisect_right(starts, point.position)):
            yield number, list(its)

    def begin_of(self, number: int) -> int:
        """The first position of the epoch of this number."""
        return [BEFORE_ALL, *self.epochs.starts][number]

    def is_over(self, number: int) -> bool:
        """Whether an epoch comes after the one of this number."""
        return number < len(self.epochs.starts)


def resume(claimed: Sequence[Series], epochs: Mapping[int, Epochs]) -> dict[int, EpochStates]:
    """For each series the states to go on from: those of the epochs up to that of its newest
    checkpoint. One query.
    """
    wanted = [
        (series.pk, *interval)
        for series in claimed
        for interval in _intervals(epochs.get(series.pk, ONE_EPOCH))
    ]
    found: dict[int, dict[int, changes.State]] = defaultdict(dict)
    last: dict[int, int] = {}
    with connection.cursor() as cursor:
        columns = [list(column) for column in zip(*wanted, strict=True)]
        cursor.execute(NEWEST_OF_EPOCHS, columns or [[]] * 4)
        for pk, number, position, state in cursor.fetchall():
            found[pk][number] = changes.State.from_data(StateField.unpack(state))
            last[pk] = max(position, last.get(pk, BEFORE_ALL))
    return {
        series.pk: EpochStates(
            epochs.get(series.pk, ONE_EPOCH), _filled(found[series.pk]), last.get(series.pk)
        )
        for series in claimed
    }


def _intervals(epochs: Epochs) -> Iterator[tuple[int, int, int]]:
    """The number of each epoch, its first position, and the first one beyond it."""
    starts = [BEFORE_ALL, *epochs.starts]
    yield from zip(range(len(starts)), starts, [*epochs.starts, BEYOND_ALL], strict=True)


def _filled(found: Mapping[int, changes.State]) -> list[changes.State]:
    """One after the other; an epoch without points has the state of nothing."""
    return [found.get(number) or changes.start() for number in range(max(found, default=0) + 1)]


def present_all(states: Sequence[changes.State], better: Better) -> list[changes.Report]:
    """The analysis of each epoch. Of those that are over no candidate is left: no later revision
    will confirm it.
    """
    found = [changes.present(state, better) for state in states]
    return [*(_over(one) for one in found[:-1]), found[-1]]


def _over(report: changes.Report) -> changes.Report:
    proven = tuple(each for each in report.analysis.changes if each.state != "candidate")
    return replace(report, analysis=replace(report.analysis, changes=proven))


def joined(by_epoch: Sequence[changes.Report]) -> changes.Report:
    """The analysis of the whole series: noise and what can be proven are the last epoch's."""
    analyses = [one.analysis for one in by_epoch]
    others = [one.others for one in by_epoch]
    return changes.Report(
        replace(
            analyses[-1],
            changes=tuple(each for one in analyses for each in one.changes),
            segments=tuple(each for one in analyses for each in one.segments),
            retracted=tuple(each for one in analyses for each in one.retracted),
            left_out=tuple(each for one in analyses for each in one.left_out),
        ),
        replace(
            others[-1],
            excursions=tuple(each for one in others for each in one.excursions),
            noise_changes=tuple(each for one in others for each in one.noise_changes),
            modes=tuple(each for one in others for each in one.modes),
            slow=tuple(each for one in others for each in one.slow),
        ),
    )
