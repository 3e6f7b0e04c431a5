"""Where events stand along a tree, for its charts, and what happened to machines between two
measurements: events, and canaries that left their limits.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import NamedTuple

from django.db.models import Max, Min, Q
from django.db.models.functions import Coalesce
from django.utils.dateformat import format as date_format
from django.utils.text import Truncator
from django.utils.timezone import localtime

from webapp.events.models import Canary, LabEvent, Release
from webapp.events.queries.canaries import WatchedCanary, watch
from webapp.results.models import Hardware, Revision, Run, Tree
from webapp.results.queries import rows_of

TEXT_SHOWN = 200
"""Characters of the text of an event."""

NAMED = """
SELECT revision.position, revision.name, ''
  FROM results_revision AS revision
  JOIN results_tree AS tree ON tree.id = revision.tree_id
 WHERE tree.name = %(tree)s AND revision.position = ANY(%(ends)s::bigint[])
 UNION ALL
SELECT revision.position, revision.name, release.name
  FROM events_release AS release
  JOIN results_tree AS tree ON tree.id = release.tree_id
  JOIN results_revision AS revision ON revision.id = release.revision_id
 WHERE tree.name = %(tree)s AND revision.position BETWEEN %(first)s AND %(last)s
 ORDER BY 1, 3
"""


@dataclass(frozen=True, slots=True)
class Window:
    """Two measured revisions of a tree on one machine, between which something changed: ``before``
    and ``after`` were measured, the commit lies later than ``low`` up to ``high`` (positions).
    """

    hardware: Hardware
    before: Revision
    after: Revision
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Disturbance:
    """``event`` lies between the two measurements on ``hardware``, or its ``canary`` left its
    limits (or came back, ``returned``) between them: ``at`` is when that was seen.
    """

    hardware: Hardware
    event: LabEvent | None = None
    canary: Canary | None = None
    at: datetime | None = None
    returned: bool = False

    @property
    def sentence(self) -> str:
        """The disturbance as text, as the pages of alerts have it with links."""
        if self.event is not None:
            one = self.event
            when = _moment(one.happened_at) or f"{one.first} to {one.last}"
            text = Truncator(one.text).chars(TEXT_SHOWN)
            return f"An event nearby: {text} ({one.get_kind_display()}, {one.subject}, {when})."
        if self.returned:
            return (
                f"The canary of {self.hardware} came back within its limits on {_moment(self.at)}."
            )
        return (
            f"The canary of {self.hardware} left its limits on {_moment(self.at)}: the machine "
            "itself changed between the two measurements."
        )


def _moment(at: datetime | None) -> str:
    return date_format(localtime(at), "Y-m-d H:i e") if at else ""


Times = tuple[datetime, datetime]  # of the first and of the last run
Span = tuple[datetime, datetime]  # later than the one, up to the other


def disturbances(windows: Sequence[Window]) -> list[Disturbance]:
    """What lies in any of ``windows``, each thing once, in five queries, and in two where nothing
    is recorded and no canary watches. Their machines have their labs loaded.
    """
    if not windows:
        return []
    machines = {one.hardware.pk: one.hardware for one in windows}
    watched = list(Canary.objects.filter(hardware__in=machines).named())
    if not watched and not LabEvent.objects.in_force().exists():
        return []
    times = _times(windows)
    spans = [(one, _between(times, one)) for one in windows]
    events = _candidates(spans)
    canaries = watch(watched)
    found = [*_events_in(spans, events), *_canaries_in(spans, canaries)]
    return list(dict.fromkeys(found))


def _times(windows: Sequence[Window]) -> dict[tuple[int, int], Times]:
    """When each revision was measured on each machine, from the first run to the last."""
    at = Coalesce("measured_at", "received_at")
    rows = (
        Run.objects.counted()
        .plain()
        .filter(
            hardware__in={one.hardware.pk for one in windows},
            revision__in={one.pk for window in windows for one in (window.before, window.after)},
        )
        .order_by()
        .values_list("hardware_id", "revision_id")
        .annotate(first=Min(at), last=Max(at))
    )
    return {(hardware, revision): (first, last) for hardware, revision, first, last in rows}


def _between(times: dict[tuple[int, int], Times], window: Window) -> Span | None:
    """From the last run of the revision measured first to the first run of the other. None where
    either was not measured, or they were measured in turn: nothing that happened between explains
    a difference then.
    """
    before = times.get((window.hardware.pk, window.before.pk))
    after = times.get((window.hardware.pk, window.after.pk))
    if before is None or after is None:
        return None
    if before[1] < after[0]:
        return before[1], after[0]
    return (after[1], before[0]) if after[1] < before[0] else None


def _candidates(spans: Sequence[tuple[Window, Span | None]]) -> list[LabEvent]:
    """Events about any of the machines and trees, in the stretch of time or of a tree that all
    windows lie in: which one each lies in is for `_lies_in`.
    """
    windows = [window for window, _ in spans]
    whole_tree = Q(hardware__isnull=True, lab__isnull=True)
    about = whole_tree | Q(hardware__in={one.hardware.pk for one in windows})
    about |= Q(lab__in={one.hardware.lab_id for one in windows})
    trees = {one.after.tree_id for one in windows}
    when = Q(
        first__position__lte=max(one.high for one in windows),
        last__position__gt=min(one.low for one in windows),
    )
    if known := [span for _, span in spans if span is not None]:
        when |= Q(
            happened_at__gt=min(start for start, _ in known),
            happened_at__lte=max(end for _, end in known),
        )
    of_tree = Q(tree__isnull=True) | Q(tree__in=trees)
    return list(LabEvent.objects.in_force().named().filter(about, of_tree, when).order_by("pk"))


def _events_in(
    spans: Sequence[tuple[Window, Span | None]], events: Sequence[LabEvent]
) -> Iterator[Disturbance]:
    for window, span in spans:
        for event in events:
            if _concerns(event, window) and _lies_in(event, window, span):
                yield Disturbance(window.hardware, event=event)


def _concerns(event: LabEvent, window: Window) -> bool:
    return (
        event.hardware_id in (None, window.hardware.pk)
        and event.lab_id in (None, window.hardware.lab_id)
        and event.tree_id in (None, window.after.tree_id)
    )


def _lies_in(event: LabEvent, window: Window, span: Span | None) -> bool:
    if event.first is not None and event.last is not None:
        return event.first.position <= window.high and event.last.position > window.low
    at = event.happened_at
    return span is not None and at is not None and span[0] < at <= span[1]


def _canaries_in(
    spans: Sequence[tuple[Window, Span | None]], canaries: Sequence[WatchedCanary]
) -> Iterator[Disturbance]:
    of: dict[int, list[WatchedCanary]] = defaultdict(list)
    for one in canaries:
        of[one.canary.hardware_id].append(one)
    for window, span in spans:
        for one in of[window.hardware.pk]:
            for changed, at, returned in _changes(one):
                if span is not None and changed[0] < span[1] and span[0] < changed[1]:
                    yield Disturbance(window.hardware, canary=one.canary, at=at, returned=returned)


def _changes(one: WatchedCanary) -> Iterator[tuple[Span, datetime, bool]]:
    """When the machine changed, as far as its canary shows (between the last boot on the one side
    and the first on the other), when that was seen, and whether it came back by it.
    """
    boots, sides = one.boots, one.chart.sides
    for excursion in one.chart.excursions:
        first = excursion.inside + 1
        yield (boots[excursion.inside].at, boots[first].at), boots[excursion.left].at, False
        if excursion.returned is not None:
            back = excursion.returned - 1
            last = max(at for at in range(back) if sides[at])
            yield (boots[last].at, boots[back].at), boots[excursion.returned].at, True


@dataclass(frozen=True, slots=True)
class Axis:
    """``names`` of the revisions that were asked for, by position; ``releases`` by the position of
    their revision, with its name, in the order of the tree."""

    names: dict[int, str]
    releases: list[tuple[int, str, str]]


# Whole rows of the small tables; of those that grow a sum of hashes. Of what a series shows its
# version is enough: each change of that raises it.
STAMP = """
SELECT (SELECT string_agg(tree::text, E'\\n' ORDER BY tree.id) FROM results_tree AS tree),
       (SELECT string_agg(metric::text, E'\\n' ORDER BY metric.id) FROM results_metric AS metric),
       (SELECT string_agg(lab::text, E'\\n' ORDER BY lab.id) FROM labs_lab AS lab),
       (SELECT sum(hash_record_extended(hardware, 0)) FROM results_hardware AS hardware),
       (SELECT sum(hash_record_extended(mode, 0)) FROM results_mode AS mode),
       series.subjects,
       (SELECT string_agg(release::text, E'\\n' ORDER BY release.id)
          FROM events_release AS release),
       (SELECT string_agg(event::text, E'\\n' ORDER BY event.id) FROM events_labevent AS event),
       series.versions
  FROM (SELECT sum(hash_record_extended(
                   ROW(id, tree_id, hardware_id, mode_id, metric_id, variant_id), 0)) AS subjects,
               (count(*), max(id), sum(version))::text AS versions
          FROM results_series) AS series
"""
OFFERED = 6
"""Columns of what there is to choose from."""

# Most charts have no events, and the times of all runs that are shown need not be looked at.
RECORDED = """
SELECT known.has_events, release.id, release.name, release.kind, release.revision, release.position
  FROM (SELECT EXISTS (SELECT FROM events_labevent
                        WHERE withdrawn_at IS NULL) AS has_events) AS known
  LEFT JOIN LATERAL (
       SELECT release.id, release.name, release.kind, revision.name AS revision, revision.position
         FROM events_release AS release
         JOIN results_revision AS revision ON revision.id = release.revision_id
        WHERE release.tree_id = %s AND revision.position BETWEEN %s AND %s) AS release ON true
 ORDER BY release.name
"""

MOST_EVENTS = 100
"""Drawn in one chart, the newest."""

# An event at a time stands after the last of the shown revisions that was measured before it, on
# the machines that it concerns. `shown` is made once: an event looks at a row for each machine and
# revision, not at each run.
EVENTS_ALONG = """
WITH shown AS MATERIALIZED (
    SELECT run.hardware_id, hardware.lab_id, revision.position,
           min(COALESCE(run.measured_at, run.received_at)) AS since,
           max(COALESCE(run.measured_at, run.received_at)) AS until
      FROM results_run AS run
      JOIN results_revision AS revision ON revision.id = run.revision_id
      JOIN results_hardware AS hardware ON hardware.id = run.hardware_id
     WHERE run.revision_id = ANY(%(revisions)s) AND run.hardware_id = ANY(%(hardware)s)
       AND run.withdrawn_at IS NULL AND run.variant_id IS NULL
     GROUP BY run.hardware_id, hardware.lab_id, revision.position
)
SELECT event.*, first.position AS first_position, last.position AS last_position,
       first.name AS first_name, last.name AS last_name,
       (SELECT max(shown.position) FROM shown
         WHERE shown.since < event.happened_at
           AND (event.hardware_id IS NULL OR event.hardware_id = shown.hardware_id)
           AND (event.lab_id IS NULL OR event.lab_id = shown.lab_id)) AS measured_before,
       hardware.name AS hardware_name, lab.name AS lab_name
  FROM events_labevent AS event
  LEFT JOIN results_revision AS first ON first.id = event.first_id
  LEFT JOIN results_revision AS last ON last.id = event.last_id
  LEFT JOIN results_hardware AS hardware ON hardware.id = event.hardware_id
  LEFT JOIN labs_lab AS lab ON lab.id = event.lab_id
 WHERE event.withdrawn_at IS NULL
   AND (event.tree_id IS NULL OR event.tree_id = %(tree)s)
   AND (event.first_id IS NULL OR event.tree_id = %(tree)s)
   AND (event.hardware_id IS NULL OR event.hardware_id = ANY(%(hardware)s))
   AND (event.lab_id IS NULL OR event.lab_id IN (
        SELECT lab_id FROM results_hardware WHERE id = ANY(%(hardware)s)))
   AND (event.first_id IS NOT NULL
        OR event.happened_at <= (SELECT max(shown.until) FROM shown))
 ORDER BY COALESCE(event.happened_at, event.created_at) DESC, event.id DESC
 LIMIT %(most)s
"""


@dataclass(frozen=True, slots=True)
class LocatedEvent:
    """An event along a tree: it shows from the first revision after the position ``after``, and,
    where it names a range, up to the position ``until`` (None: it names none). ``subject`` and
    ``when`` state in words what it concerns, and its time or revisions.
    """

    event: LabEvent
    after: int
    until: int | None
    subject: str
    when: str


def recorded_along(tree: Tree, first: int, last: int) -> tuple[list[Release], bool]:
    """The releases of ``tree`` from the position ``first`` to ``last``, by name, and whether there
    are events in force at all; one query.
    """
    rows = rows_of(RECORDED, [tree.pk, first, last])
    releases = [
        Release(pk=pk, tree=tree, name=name, kind=kind, revision=Revision(name=at, position=place))
        for _, pk, name, kind, at, place in rows
        if pk is not None
    ]
    for one in releases:
        one.revision.tree = tree
    return releases, rows[0][0]


def events_along(
    tree: Tree, *, hardware: Collection[int], revisions: Collection[int]
) -> list[LocatedEvent]:
    """The events that concern what was measured of ``revisions`` on ``hardware`` (ids) of ``tree``,
    in the order of the tree; at most `MOST_EVENTS`, in one query. One from before everything that
    is shown is left out.
    """
    rows = LabEvent.objects.raw(
        EVENTS_ALONG,
        {
            "tree": tree.pk,
            "hardware": sorted(hardware),
            "revisions": sorted(revisions),
            "most": MOST_EVENTS,
        },
    )
    return sorted(_located(rows, tree), key=lambda one: (one.after, one.event.pk))


def _located(rows: Iterable[LabEvent], tree: Tree) -> Iterator[LocatedEvent]:
    for row in rows:
        first, last = row.first_position, row.last_position  # type: ignore[attr-defined]
        before = row.measured_before  # type: ignore[attr-defined]
        subject = _subject(row, tree)
        if first is not None:
            names = (row.first_name, row.last_name)  # type: ignore[attr-defined]
            ends = " to ".join(dict.fromkeys(names))
            yield LocatedEvent(row, first - 1, last, subject, ends)
        elif before is not None and row.happened_at is not None:
            yield LocatedEvent(row, before, None, subject, f"{row.happened_at:%Y-%m-%d}")


def _subject(row: LabEvent, tree: Tree) -> str:
    """As `LabEvent.subject`, from the names that came with the row."""
    hardware, lab = row.hardware_name, row.lab_name  # type: ignore[attr-defined]
    return hardware or (f"all hardware of {lab}" if lab else f"all of {tree}")


class Stamps(NamedTuple):
    """What was made of the rows that these are digests of holds as long as they are the same:
    ``offer`` is of all trees, metrics, labs, machines, modes, and which series there are;
    ``chart`` of these with releases, lab events, and what all series show.
    """

    offer: str
    chart: str


def stamps() -> Stamps:
    """The digests as of now, in one statement."""
    (row,) = rows_of(STAMP)
    return Stamps(*(sha256(repr(part).encode()).hexdigest() for part in (row[:OFFERED], row)))


def axis_of(tree: str, ends: Sequence[int]) -> Axis:
    """The names of the revisions at ``ends`` (positions, at least one) and what was released from
    the first to the last, in one statement."""
    asked: dict[str, str | int | list[int]] = {"tree": tree, "ends": list(ends)}
    rows = rows_of(NAMED, asked | {"first": min(ends), "last": max(ends)})
    return Axis(
        names={position: name for position, name, release in rows if not release},
        releases=[(position, name, release) for position, name, release in rows if release],
    )
