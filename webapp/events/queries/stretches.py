"""Stretches of trees: the epochs of series, where their statistics start anew, and what lies
between points that people call by a name: releases, branch points, and the trees themselves.

An event that names revisions begins an epoch at the first of them. An event at a time begins one
after the last revision of the series that was measured before it. What was measured after the event
at earlier revisions belongs to neither side: it is *late*, and left out. Runs whose time is not
known count where their revision lies. A long session from elsewhere begins one too
(`webapp.stats.sessions`).
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from typing import NamedTuple

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


TREE, RELEASE, BRANCH_POINT = "tree", "release", "branch point"
BEFORE_ALL = -(2**62)
"""Before every position."""

VERSIONED = re.compile(r"(.*\D)(\d+(?:\.\d+)*)", re.DOTALL)
NAMES = """
SELECT tree.name, release.name, release.kind, revision.name, revision.position,
       EXISTS (SELECT FROM results_series AS series WHERE series.tree_id = tree.id)
  FROM events_release AS release
  JOIN results_revision AS revision ON revision.id = release.revision_id
  JOIN results_tree AS tree ON tree.id = release.tree_id
UNION ALL
SELECT tree.name, tree.name, 'tree', '', NULL,
       EXISTS (SELECT FROM results_series AS series WHERE series.tree_id = tree.id)
  FROM results_tree AS tree
 ORDER BY 1, 5 NULLS LAST, 2
"""
APART = str.maketrans("/_ ", "---")


class ReleaseName(NamedTuple):
    """A release or a branch point of ``tree`` at ``revision``, or (``kind`` *tree*) the tree
    itself, which stands for its newest revision: it has no revision and no position.
    ``is_measured``: the tree has a series.
    """

    tree: str
    name: str
    kind: str
    revision: str
    position: int | None
    is_measured: bool

    @property
    def is_tree(self) -> bool:
        """Whether it is a tree."""
        return self.kind == TREE

    @property
    def written(self) -> str:
        """The name that no other tree shares: ``freebsd-head:11.0``."""
        return self.name if self.is_tree else f"{self.tree}:{self.name}"


def release_names() -> list[ReleaseName]:
    """Names of the releases of every tree, in its order, the tree last; one statement."""
    return [ReleaseName._make(row) for row in rows_of(NAMES)]


def neighbouring(known: Sequence[ReleaseName]) -> list[tuple[ReleaseName, ReleaseName]]:
    """Pairs that people ask for, of measured trees: a release and the one before it on its tree
    (before the first of a branch the last that its tree had where the branch left), a tree and the
    version before it (``freebsd-releng-11.0`` and ``-11.1``); the newest first.
    """
    branched = _branched(known)
    families: dict[tuple[str, str], list[tuple[list[int], ReleaseName]]] = defaultdict(list)
    for one in known:
        version = VERSIONED.fullmatch(one.name) if one.is_tree else None
        if version and one.is_measured:
            numbers = [int(part) for part in version[2].split(".")]
            families[one.kind, version[1]].append((numbers, one))
        elif one.kind == RELEASE and one.is_measured and one.position is not None:
            families[one.kind, one.tree].append(([one.position], one))
    pairs: list[tuple[ReleaseName, ReleaseName]] = []
    for (kind, tree), its in sorted(families.items()):
        line = [one for _, one in sorted(its)]
        if kind == RELEASE and tree in branched:
            line = [
                *_last_before(*branched[tree], families.get((RELEASE, branched[tree][0]), [])),
                *line,
            ]
        pairs += reversed(list(pairwise(line)))
    return pairs


def _last_before(
    tree: str, position: int, releases: Iterable[tuple[list[int], ReleaseName]]
) -> list[ReleaseName]:
    """The last of the releases of ``tree`` up to a position; none where there is none."""
    return [one for at, one in sorted(releases) if at <= [position]][-1:]


class Stretch(NamedTuple):
    """Commits of a ``tree``: later than one position up to another."""

    tree: str
    after: int
    upto: int


def stretches(
    a: tuple[str, int], b: tuple[str, int], known: Sequence[ReleaseName]
) -> list[Stretch] | None:
    """The commits that two ends, each a tree and a position, do not share: up to where their
    branches left each other, and on either side behind it. None where no branch point joins them.
    """
    branched = _branched(known)
    lines = [_line_of(end, branched) for end in (a, b)]
    common = next((tree for tree in lines[0] if tree in lines[1]), None)
    if common is None:
        return None
    ends = sorted(line[common] for line in lines)
    own = [
        Stretch(tree, BEFORE_ALL, position)
        for line in lines
        for tree, position in line.items()
        if tree not in lines[0] or tree not in lines[1]
    ]
    return [Stretch(common, *ends), *own]


def _branched(known: Sequence[ReleaseName]) -> dict[str, tuple[str, int]]:
    """By tree the tree that it left, and where."""
    trees = [one for one in known if one.is_tree]
    return {
        child.tree: (one.tree, one.position)
        for one in known
        if one.kind == BRANCH_POINT and one.position is not None
        for child in names_called(one.name, trees)
        if child.tree != one.tree
    }


def _line_of(end: tuple[str, int], branched: Mapping[str, tuple[str, int]]) -> dict[str, int]:
    """The trees that lead to a position, its own first, each with how far it is followed."""
    found: dict[str, int] = {}
    following: tuple[str, int] | None = end
    while following and following[0] not in found:
        tree, position = following
        found[tree] = position
        following = branched.get(tree)
    return found


def plain_name(name: str) -> str:
    """For comparing: ``stable/11`` and ``stable-11`` are one."""
    return name.casefold().translate(APART)


def names_called(name: str, known: Iterable[ReleaseName]) -> list[ReleaseName]:
    """Releases in ``known`` of that name; else those that end in it, as ``freebsd-releng-11.0``
    ends in 11.0.
    """
    wanted = plain_name(name)
    plain = [(plain_name(one.name), one) for one in known]
    whole = [one for its, one in plain if its == wanted]
    return whole or [one for its, one in plain if its.endswith(f"-{wanted}")]


def names_with(parts: Iterable[str], known: Iterable[ReleaseName]) -> list[ReleaseName]:
    """Releases in ``known`` with every one of ``parts`` in their name."""
    wanted = [plain_name(part) for part in parts]
    return [one for one in known if all(part in plain_name(one.name) for part in wanted)]
