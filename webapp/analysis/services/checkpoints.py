"""The states of the detector that are kept: an analysis goes on from the last before what changed.

Checkpoints lie close where points arrive, and ever further apart before: a late point has all
points after it read again anyway, and from the checkpoint before it on it is at most as many more.
A series that may have several epochs has one state for each, none knows of another; what is stored
of an epoch that is over is a checkpoint at its last point. The revisions of its window are most of
a state: only the newest of an epoch have them, and from one before these they are read again.
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
WITH old AS MATERIALIZED (
     SELECT old.id, newest.length - old.length AS before, old.length & -old.length AS odd
       FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::int[])
            AS newest (series_id, since, position, length)
       JOIN analysis_checkpoint AS old
         ON old.series_id = newest.series_id
        AND old.position BETWEEN newest.since AND newest.position),
     gone AS (
     DELETE FROM analysis_checkpoint AS stored
      USING old WHERE stored.id = old.id AND old.before > %s * old.odd)
UPDATE analysis_checkpoint AS stored SET rows = NULL
  FROM old
 WHERE stored.id = old.id AND old.before <= %s * old.odd AND old.before > %s
   AND stored.rows IS NOT NULL"""


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
    """Store states, delete what is too close to its neighbours by now, and the revisions of windows
    that are not the newest; two statements.
    """
    if not kept:
        return
    newest = {(one.series, one.since): one for one in kept}
    rows = [_row(one, newest[one.series, one.since].state.length) for one in kept]
    insert_rows(Checkpoint, rows, unique=("series_id", "position"))
    ends = [(one.series, one.since, one.position, one.state.length) for one in newest.values()]
    columns = map(list, zip(*ends, strict=True))
    with connection.cursor() as cursor:
        cursor.execute(THIN_OUT, [*columns, REACH, REACH, CHECKPOINT_EVERY])


def _row(one: Kept, newest: int) -> dict[str, Any]:
    """The columns of a checkpoint, where the ``newest`` of its epoch has so many points."""
    data, length = one.state.to_data(), one.state.length
    window = data["window"]
    rows = window["values"]
    window["values"] = next(iter(rows["position"]), None)
    return {
        "series_id": one.series,
        "position": one.position,
        "length": length,
        "detector": changes.VERSION,
        "state": StateField.pack(data),
        "rows": StateField.pack(rows) if newest - length <= CHECKPOINT_EVERY else None,
    }


def _read(packed: bytes, packed_rows: bytes | None) -> tuple[changes.State, int | None]:
    """A state, and the first position of the revisions that its window lacks; None: it has all."""
    data, begin = StateField.unpack(packed), None
    window = data["window"]
    if packed_rows is not None:
        window["values"] = StateField.unpack(packed_rows)
    elif not isinstance(window["values"], dict):  # as all were stored before
        begin, window["values"] = window["values"], None
    return changes.State.from_data(data), begin


def delete_outdated(claimed: Sequence[Series]) -> None:
    """Delete checkpoints that hold changed points, or are of another method."""
    ids = [series.pk for series in claimed]
    since = [series.dirty_from for series in claimed]
    with connection.cursor() as cursor:
        cursor.execute(DELETE_OUTDATED, [ids, since, changes.VERSION])


BEFORE_ALL, BEYOND_ALL = -1, 2**63 - 1

NEWEST_OF_EPOCHS = """
SELECT wanted.series_id, wanted.epoch, newest.position, newest.state, newest.rows
  FROM unnest(%s::bigint[], %s::int[], %s::bigint[], %s::bigint[])
       AS wanted (series_id, epoch, start, beyond)
  JOIN LATERAL (
       SELECT position, state, rows FROM analysis_checkpoint
        WHERE series_id = wanted.series_id
          AND position >= wanted.start AND position < wanted.beyond
        ORDER BY position DESC LIMIT 1) AS newest ON true
"""


@dataclass(frozen=True, slots=True)
class EpochStates:
    """``states`` are those of the epochs of a series, the oldest first; all but the last are of
    epochs that are over. The points up to ``position`` are in them (`BEFORE_ALL`: none). The window
    of the last lacks its revisions, from ``begin`` on; None: it has them.
    """

    epochs: Epochs
    states: Sequence[changes.State]
    position: int = BEFORE_ALL
    begin: int | None = None

    @property
    def read_after(self) -> int:
        """The position after which points are to be read."""
        return self.position if self.begin is None else self.begin - 1

    def fill(self, points: Sequence[changes.Point]) -> Sequence[changes.Point]:
        """Give the last window what it lacks of the ``points`` that were read; those after it."""
        if self.begin is None:
            return points
        after = bisect_right(points, self.position, key=lambda point: point.position)
        self.states[-1].fill(points[:after])
        return points[after:]

    @property
    def first_whole(self) -> int:
        """The number of the first epoch of which no point is read yet."""
        return 0 if self.position == BEFORE_ALL else len(self.states)

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
    last: dict[int, tuple[int, int | None]] = {}
    with connection.cursor() as cursor:
        columns = [list(column) for column in zip(*wanted, strict=True)]
        cursor.execute(NEWEST_OF_EPOCHS, columns or [[]] * 4)
        for pk, number, position, *packed in sorted(cursor.fetchall()):
            found[pk][number], begin = _read(*packed)
            last[pk] = position, begin
    return {
        series.pk: EpochStates(
            epochs.get(series.pk, ONE_EPOCH),
            _filled(found[series.pk]),
            *last.get(series.pk, ()),
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
