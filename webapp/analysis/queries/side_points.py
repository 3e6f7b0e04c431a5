"""The sides of a comparison by their points: every row with its verdict, and no sample read; with
`?asof=` as they were at a moment.
"""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from django.utils.dateparse import parse_datetime
from django.utils.timezone import is_naive, make_aware

from webapp.analysis.queries.compared import PointRow, PointTable, SidePoint, digests_of
from webapp.analysis.queries.series_state import BLIND, NOISES, Beliefs, SeriesFacts, noise_from
from webapp.analysis.queries.sides import (
    MODE,
    AskedKernel,
    Side,
    free_parts,
    kernels_of,
    matched_mode,
    options_of,
    require_no_shared_runs,
    require_sides,
    revisions_of,
)
from webapp.analysis.queries.unmatched import unmatched_of
from webapp.analysis.queries.verdicts import PointVerdict, judge_pairs
from webapp.events.queries import ONE_EPOCH, Epochs, epochs_of
from webapp.results.models import Hardware, LeftOut, ModeName, Revision, Series
from webapp.results.queries import machine_of, rows_of
from webapp.stats.compare import unpack_summary
from webapp.stats.metrics import MARGIN_PCT, Better

# The points of every side in one statement. The base alone is judged by its history: a variant's is
# that of the plain kernel. `OFFSET 0` and sub-selects keep what each row has one of out of the
# order of joins, which PostgreSQL searches at each first look: with all eleven tables in one join
# the search takes longer than reading the points.
POINTS = """
SELECT side.number - 1, point.series_id, machine.id, machine.name, machine.display_name,
       machine.cpu, machine.nic, machine.agreed_cpu, machine.agreed_nic,
       (SELECT lab.simulated FROM labs_lab AS lab WHERE lab.id = machine.lab_id),
       mode.name, mode.workload, mode.traffic, mode.options, metric.name, metric.unit,
       COALESCE(NULLIF(COALESCE(analysis.own_better, series.own_better), ''), metric.better),
       side.variant, point.n, point.mean, point.levels, point.disagrees,
       point.left_out, analysis.margin_pct,
       analysis.summary -> 'noise' ->> 'measured_build_pct',
       analysis.summary -> 'noise' ->> 'measured_freedom',
       CASE WHEN point.builds > 1 THEN ARRAY(
            SELECT DISTINCT kernel.build_id FROM results_run AS run
              JOIN results_kernel AS kernel ON kernel.id = run.kernel_id
              JOIN results_measurement AS measurement ON measurement.run_id = run.id
             WHERE run.revision_id = point.revision_id AND run.withdrawn_at IS NULL
               AND measurement.series_id = point.series_id) END,
       EXISTS (SELECT FROM events_labevent WHERE withdrawn_at IS NULL AND begins_epoch),
       CASE WHEN side.side = 0 AND {blind}
             AND row_number() OVER (PARTITION BY side.side = 0 AND {blind}) = 1
            THEN {noises} END
  FROM unnest(%(sides)s::int[], %(revisions)s::bigint[], %(variants)s::text[],
              %(hardware)s::text[], %(modes)s::text[], %(metrics)s::text[]) WITH ORDINALITY
       AS side (side, revision, variant, hardware, mode, metric, number)
  JOIN results_point AS point ON point.revision_id = side.revision
  JOIN results_series AS series ON series.id = point.series_id
  JOIN results_mode AS mode ON mode.id = series.mode_id
  JOIN results_metric AS metric ON metric.id = series.metric_id
  JOIN results_hardware AS machine ON machine.id = series.hardware_id
  LEFT JOIN LATERAL (
       SELECT its.own_better, settings.margin_pct, known.summary
         FROM results_series AS its
         LEFT JOIN analysis_seriessettings AS settings ON settings.series_id = its.id
         LEFT JOIN analysis_seriesanalysis AS known ON known.series_id = its.id
        WHERE side.side = 0 AND its.id = CASE WHEN series.variant_id IS NULL THEN series.id ELSE (
              SELECT plain.id FROM results_series AS plain
               WHERE plain.variant_id IS NULL AND plain.tree_id = series.tree_id
                 AND plain.hardware_id = series.hardware_id AND plain.mode_id = series.mode_id
                 AND plain.metric_id = series.metric_id) END
       OFFSET 0) AS analysis ON true
 WHERE side.variant = COALESCE((SELECT variant.name FROM results_variant AS variant
                                 WHERE variant.id = series.variant_id), '')
   AND (side.hardware = '' OR machine.name = side.hardware)
   AND (side.mode = '' OR mode.name = side.mode)
   AND (metric.name = side.metric OR side.metric = '' AND metric.of_id IS NULL)
""".format(  # noqa: S608 (names of our own tables and columns; values are parameters)
    blind=BLIND, noises=NOISES.format(revision="(%(revisions)s::bigint[])[1]")
)

# Where each side names a machine: found by its series, which are few, not among all at a revision.
ON_MACHINES = """ AND series.hardware_id = ANY(ARRAY(
       SELECT id FROM results_hardware WHERE name = ANY(%(hardware)s)))"""

# Of each point some of whose runs were not wanted then, or are not counted now: whether any was
# wanted. `wanted` is what `MeasurementQuerySet.counted_at` and the side's session take.
DIFFERENT = """
SELECT one.number, one.series_id, bool_or(one.wanted)
  FROM (SELECT side.number - 1 AS number, measurement.series_id,
               run.withdrawn_at IS NULL AS counts,
               run.received_at <= %(asof)s
               AND (run.withdrawn_at IS NULL OR run.withdrawn_at > %(asof)s)
               AND (side.sessions = '[]' OR side.sessions ? run.session) AS wanted
          FROM unnest(%(revisions)s::bigint[], %(sessions)s::jsonb[]) WITH ORDINALITY
               AS side (revision, sessions, number)
          JOIN results_run AS run ON run.revision_id = side.revision
          JOIN results_measurement AS measurement ON measurement.run_id = run.id) AS one
 GROUP BY one.number, one.series_id
HAVING NOT bool_and(one.counts = one.wanted)
"""

SeriesOfSide = tuple[int, int]
"""The number of a side, from 0, and the id of a series."""


class _Found(NamedTuple):
    """A row of `POINTS`: what is shown, and what is judged by."""

    point: SidePoint
    parts: ModeName
    levels: Mapping[str, Any]
    build_names: frozenset[str]
    facts: SeriesFacts

    @property
    def disagrees(self) -> bool:
        return self.point.disagrees

    def is_of_the_builds_of(self, other: "_Found") -> bool:
        """Whether both hold samples of the very same builds."""
        return bool(self.levels["identity"] == other.levels["identity"])


Key = tuple[str, ...]


class _Read(NamedTuple):
    """What a table follows from: the sides, what they ask for, the rows of `POINTS`, those of them
    that are ``absent`` (side and series), and the epochs of series that have more than one.
    """

    sides: tuple[Side, ...]
    kernels: Sequence[AskedKernel]
    rows: Sequence[tuple[Any, ...]]
    absent: Collection[SeriesOfSide]
    epochs: Mapping[int, Epochs]


class Matched(NamedTuple):
    """What each side has, and the rows that every side has; ``key`` is by what both are kept, empty
    where they are not.
    """

    found: Sequence[Collection[Key]]
    rows: tuple[PointRow, ...]
    key: bytes


Keep = Callable[[object, Callable[[bytes], Matched]], Matched]
"""Of plain values, from which what is matched follows, and what makes that of the key to keep it
by: what is matched.
"""

FactsOfPoint = Callable[[SidePoint], SeriesFacts]
"""How a point of the base is judged, where not by what is known today."""


def compare_points(
    sides: Sequence[Side],
    asof: datetime | None = None,
    judged_by: FactsOfPoint | None = None,
    nearest: Sequence[Mapping[tuple[str, str], Revision]] | None = None,
    keep: Keep | None = None,
) -> PointTable | None:
    """Match and judge by points. None where only samples decide: a side names a session, or at
    ``asof`` a point pooled other runs than it does now, or nothing was measured under its names as
    they are now. Two statements, whatever the number of rows; one more with ``asof``, which allows
    for sessions, one where a side lacks something, one where an event begins an epoch. ``nearest``
    names for each side the revision that stands for it on a machine in a mode, where that need not
    be the one that it names; others are not its. ``keep`` may have the same table from before,
    which it does not without ``asof`` and ``judged_by``. Raises SideError: as `compare_sides` does.
    """
    require_sides(sides)
    revisions = revisions_of(sides)
    kernels = kernels_of(sides, revisions, nearest)
    absent = _absent(kernels, asof)
    if absent is None:
        return None
    rows = _points_of(kernels)
    read = _Read(tuple(sides), kernels, rows, absent, _epochs(rows))

    def match(key: bytes) -> Matched:
        return _matched(read, judged_by, key)

    matched = keep(_plain(read), match) if keep else match(b"")
    if nearest is None and not all(matched.found):
        return None
    if nearest is None:
        require_no_shared_runs(sides, revisions)
    asked = [one[:3] for one in kernels]
    unmatched = unmatched_of(asked, free_parts(sides), matched.found, asof)
    return PointTable(tuple(sides), revisions, matched.rows, unmatched, matched.key)


def _plain(read: _Read) -> list[object]:
    """All that a table of today follows from."""
    revisions = [one.revision for one in read.kernels]
    return [
        [str(side) for side in read.sides],
        [[one.number, str(one.side), sorted(one.modes)] for one in read.kernels],
        [[one.pk, one.name, one.position, one.tree_id, one.tree.name] for one in revisions],
        [[one.author_name, one.subject, str(one.committed_at)] for one in revisions],
        read.rows,
        [[series, list(its.starts)] for series, its in sorted(read.epochs.items())],
    ]


def _matched(read: _Read, judged_by: FactsOfPoint | None, key: bytes) -> Matched:
    free, epochs = free_parts(read.sides), read.epochs
    found = _found(read, free)
    everywhere = set.intersection(*(set(points) for points in found))
    matched = {names: [points[names] for points in found] for names in sorted(everywhere)}
    judged = _judged(matched, judged_by)
    its = (
        PointRow(
            mode=names[free.index(MODE)] if MODE in free else points[0].point.mode,
            points=tuple(one.point for one in points),
            judged=tuple(judged[names, number] for number in range(len(points) - 1)),
            parted=_parted(points, epochs),
        )
        for names, points in matched.items()
    )
    return Matched([frozenset(one) for one in found], tuple(its), key)


def _absent(kernels: Sequence[AskedKernel], asof: datetime | None) -> set[tuple[int, int]] | None:
    """The points that were not there ``asof``; None where points do not show it."""
    sides = [one.side for one in kernels]
    if asof is not None:
        return absent_points(sides, [one.revision for one in kernels], asof)
    return None if any(side.session for side in sides) else set()


def _judged(
    matched: Mapping[Key, Sequence["_Found"]], judged_by: FactsOfPoint | None
) -> Mapping[tuple[Key, int], PointVerdict]:
    """The verdict on each other side against the first, by key and number."""
    return judge_pairs(
        {
            (key, number): (
                points[0],
                other,
                judged_by(points[0].point) if judged_by else points[0].facts,
            )
            for key, points in matched.items()
            for number, other in enumerate(points[1:])
        }
    )


def _points_of(kernels: Sequence[AskedKernel]) -> list[tuple[Any, ...]]:
    """The rows of `POINTS`."""
    sides = [one.side for one in kernels]
    asked: dict[str, Any] = {
        "sides": [one.number for one in kernels],
        "revisions": [one.revision.pk for one in kernels],
        "variants": [side.variant for side in sides],
        "hardware": [side.hardware for side in sides],
        "modes": [side.mode_name for side in sides],
        "metrics": [side.metric for side in sides],
    }
    return rows_of(POINTS + ON_MACHINES * all(asked["hardware"]), asked)


def _found(read: _Read, free: Sequence[str]) -> list[dict[Key, _Found]]:
    """For each side what was measured, by what rows are matched with."""
    kernels, rows, compared = read.kernels, read.rows, options_of(read.sides)
    beliefs = Beliefs.from_json(next((row[-1] for row in rows if row[-1]), None))
    is_matched = bool(compared) or any(one.side.workload for one in kernels)
    machines: dict[int, Hardware] = {}
    found: list[dict[Key, _Found]] = [{} for _ in read.sides]
    for at, *columns, _, _ in rows:
        if (at, columns[0]) in read.absent:
            continue
        kernel = kernels[at]
        one = _read(columns, kernel.revision, machines, beliefs)
        if kernel.modes and one.point.mode not in kernel.modes:
            continue
        mode = matched_mode(kernel.side, one.parts, compared) if is_matched else one.point.mode
        if mode is not None:
            names = {"hardware": one.point.hardware.name, MODE: mode, "metric": one.point.metric}
            found[kernel.number][tuple(names[part] for part in free)] = one
    return found


def _read(
    columns: Sequence[Any], revision: Revision, machines: dict[int, Hardware], beliefs: Beliefs
) -> _Found:
    series, machine, simulated = columns[0], columns[1], columns[8]
    mode, workload, traffic, options, metric, unit, better, variant = columns[9:17]
    n, mean, levels, disagrees, left_out, margin, build_pct, freedom, builds = columns[17:]
    hardware = machines.get(machine)
    if hardware is None:
        hardware = machine_of(columns[1:8])
        machines[machine] = hardware
    way: Better = "less" if better == "less" else "more"
    point = SidePoint(
        series_id=series,
        revision=revision,
        hardware=hardware,
        simulated=simulated,
        mode=mode,
        metric=metric,
        unit=unit,
        better=way,
        variant=variant,
        n=n,
        mean=mean,
        disagrees=disagrees,
        left_out=LeftOut.from_data(json.loads(left_out)) if left_out else None,
    )
    facts = SeriesFacts(
        way,
        MARGIN_PCT if margin is None else margin,
        noise_from(build_pct, freedom),
        beliefs.of(metric, machine, workload),
    )
    parts = ModeName(workload, traffic or None, tuple(options))
    kept = unpack_summary(levels)
    # The digest of a single build's id distinguishes it from others; those of several have to be
    # read.
    names = frozenset([kept["identity"]]) if builds is None else digests_of(builds)
    return _Found(point, parts, kept, names, facts)


def _epochs(rows: Sequence[tuple[Any, ...]]) -> Mapping[int, Epochs]:
    """By series (id) of ``rows``, those that have more than one; one statement where an event
    begins an epoch anywhere.
    """
    if not (rows and rows[0][-2]):
        return {}
    its = Series.objects.filter(pk__in={row[1] for row in rows})
    return epochs_of(list(its.select_related("hardware")))


def _parted(points: Sequence[_Found], epochs: Mapping[int, Epochs]) -> tuple[bool, ...]:
    """For each point after the base, whether an epoch of their machine begins between the two."""
    if not epochs:
        return (False,) * (len(points) - 1)
    base = points[0].point
    return tuple(
        other.hardware.pk == base.hardware.pk
        and other.revision.tree_id == base.revision.tree_id
        and any(
            epochs.get(one.series_id, ONE_EPOCH).part(
                base.revision.position, other.revision.position
            )
            for one in (base, other)
        )
        for other in (one.point for one in points[1:])
    )


def absent_points(
    sides: Sequence[Side], revisions: Sequence[Revision], asof: datetime
) -> set[SeriesOfSide] | None:
    """The points that ``sides`` did not have at ``asof``; None where one pools other runs now than
    then, so that only samples decide. One statement.
    """
    asked: dict[str, Any] = {
        "asof": asof,
        "revisions": [revision.pk for revision in revisions],
        "sessions": [json.dumps(side.sessions) for side in sides],
    }
    rows = rows_of(DIFFERENT, asked)
    if any(was_wanted for _, _, was_wanted in rows):
        return None
    return {(number, series) for number, series, _ in rows}


def moment_of(text: str) -> datetime | None:
    """When ``asof`` means; None where it is no time, so that the page shows now."""
    try:
        moment = parse_datetime(text)
        if moment is None:
            return None
        return make_aware(moment, UTC) if is_naive(moment) else moment.astimezone(UTC)
    except (ValueError, OverflowError):  # in UTC the year 1 may be the year 0
        return None
