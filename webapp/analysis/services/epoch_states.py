"""The detector's states of a series that may have several epochs: one for each, none knows of
another. What is stored of an epoch that is over is a checkpoint at its last point.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from django.db import connection

from webapp.events.queries import ONE_EPOCH, Epochs
from webapp.results.models import Series, StateField
from webapp.stats import changes
from webapp.stats.better import Better

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
    """What is said of each epoch. Of those that are over no candidate is left: no later revision
    will confirm it.
    """
    found = [changes.present(state, better) for state in states]
    return [*(_over(one) for one in found[:-1]), found[-1]]


def _over(report: changes.Report) -> changes.Report:
    proven = tuple(each for each in report.analysis.changes if each.state != "candidate")
    return replace(report, analysis=replace(report.analysis, changes=proven))


def joined(by_epoch: Sequence[changes.Report]) -> changes.Report:
    """What is said of the whole series: noise and what can be proven are the last epoch's."""
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
