"""Where the epochs of series begin: the statistics of a series start anew there.

An epoch is a stretch of the tree. An event that names revisions begins one at the first of them. An
event at a time begins one after the last revision of the series that was measured before it. What
was measured after the event at earlier revisions belongs to neither side: it is *late*, and left
out. Runs whose time is not known count where their revision lies. A long session from elsewhere
begins one too (`webapp.stats.sessions`).
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from webapp.events.models import LabEvent
from webapp.results.models import Series
from webapp.results.queries import rows_of


@dataclass(frozen=True, slots=True)
class Epochs:
    """The epochs of one series. ``starts`` are the first positions of all but the first epoch, in
    order. Runs measured since ``since`` at positions before ``start`` are late, for each pair of
    ``late_runs``; ``late`` are the positions of those there are.
    """

    starts: Sequence[int] = ()
    late_runs: Sequence[tuple[datetime, int]] = ()
    late: Collection[int] = field(default_factory=frozenset)

    def part(self, one: int, other: int) -> bool:
        """Whether an epoch begins between two positions: what was measured at them is not to be
        compared."""
        return any(min(one, other) < start <= max(one, other) for start in self.starts)


ONE_EPOCH = Epochs()

# Of series and the times of their events: where each epoch begins, and at which earlier positions
# there are late runs. An event after all runs of a series begins none there; nor does one before.
BEGINNINGS = """
WITH wanted AS (
    SELECT * FROM unnest(%s::bigint[], %s::timestamptz[]) AS given (series_id, since)
), measured AS MATERIALIZED (
    SELECT measurement.series_id, revision.position, run.measured_at
      FROM (SELECT series_id, run_id FROM results_measurement WHERE series_id = ANY(%s)
             UNION ALL
            SELECT series_id, run_id FROM results_costsamples WHERE series_id = ANY(%s)
           ) AS measurement
      JOIN results_run AS run ON run.id = measurement.run_id AND run.withdrawn_at IS NULL
      JOIN results_point AS point
        ON point.series_id = measurement.series_id AND point.revision_id = run.revision_id
      JOIN results_revision AS revision ON revision.id = run.revision_id
     WHERE run.measured_at IS NOT NULL
), starts AS (
    SELECT wanted.series_id, wanted.since, max(measured.position) + 1 AS start
      FROM wanted JOIN measured USING (series_id)
     WHERE measured.measured_at < wanted.since
     GROUP BY wanted.series_id, wanted.since
)
SELECT starts.series_id, starts.since, starts.start,
       array_agg(DISTINCT measured.position) FILTER (WHERE measured.position < starts.start)
  FROM starts JOIN measured USING (series_id)
 WHERE measured.measured_at >= starts.since
 GROUP BY starts.series_id, starts.since, starts.start
"""


# Of series: the times at which an event in force begins an epoch.
TIMES = """
SELECT series.id, array_agg(DISTINCT event.happened_at ORDER BY event.happened_at)
  FROM events_labevent AS event
  JOIN results_series AS series
    ON series.id = ANY(%s)
   AND (event.tree_id IS NULL OR event.tree_id = series.tree_id)
   AND (event.hardware_id IS NULL OR event.hardware_id = series.hardware_id)
  JOIN results_hardware AS hardware
    ON hardware.id = series.hardware_id
   AND (event.lab_id IS NULL OR event.lab_id = hardware.lab_id)
 WHERE event.withdrawn_at IS NULL AND event.begins_epoch AND event.happened_at IS NOT NULL
 GROUP BY series.id
"""


def epoch_times(series: Sequence[int]) -> Mapping[int, Sequence[datetime]]:
    """When epochs of ``series`` (ids) begin, of those where an event at a time begins one; what was
    measured on both sides of it is not to be compared, of one revision either. One query.
    """
    return dict(rows_of(TIMES, [list(series)]))


def epochs_of(series: Sequence[Series]) -> Mapping[int, Epochs]:
    """The epochs of those of ``series`` (with their hardware) that have more than one, by id. One
    query where no event begins an epoch; one more where one does so at a time.
    """
    events = _events(series)
    fixed: dict[int, set[int]] = defaultdict(set)
    for one in series:
        fixed[one.pk].update(start["position"] for start in one.session_starts or ())
    timed: list[tuple[int, datetime]] = []
    for event in events:
        for one in series:
            if not _covers(event, one):
                continue
            if event.first is not None:
                fixed[one.pk].add(event.first.position)
            elif event.happened_at is not None:
                timed.append((one.pk, event.happened_at))
    return {pk: found for pk, found in _joined(fixed, _beginnings(timed)) if found != ONE_EPOCH}


def _events(series: Sequence[Series]) -> list[LabEvent]:
    if not series:
        return []
    found = LabEvent.objects.in_force().filter(begins_epoch=True).select_related("first")
    return list(found.order_by("pk"))


def _covers(event: LabEvent, series: Series) -> bool:
    return (
        event.tree_id in (None, series.tree_id)
        and event.hardware_id in (None, series.hardware_id)
        and event.lab_id in (None, series.hardware.lab_id)
    )


Beginning = tuple[int, datetime, int, Sequence[int] | None]


def _beginnings(timed: Sequence[tuple[int, datetime]]) -> list[Beginning]:
    if not timed:
        return []
    ids, times = zip(*timed, strict=True)
    return rows_of(BEGINNINGS, [list(ids), list(times), list(ids), list(ids)])


def _joined(
    fixed: Mapping[int, set[int]], timed: Sequence[Beginning]
) -> Iterator[tuple[int, Epochs]]:
    rules: dict[int, list[tuple[datetime, int]]] = defaultdict(list)
    late: dict[int, set[int]] = defaultdict(set)
    for pk, since, start, positions in timed:
        rules[pk].append((since, start))
        late[pk].update(positions or ())
    for pk in sorted(fixed.keys() | rules.keys()):
        starts = fixed.get(pk, set()) | {start for _, start in rules[pk]}
        yield pk, Epochs(tuple(sorted(starts)), tuple(sorted(rules[pk])), frozenset(late[pk]))
