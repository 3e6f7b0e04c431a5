"""Where events stand along a tree, for its charts."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256

from django.db import connection

from webapp.events.models import LabEvent
from webapp.results.models import Tree

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
class Axis:
    """``names`` of the revisions that were asked for, by position; ``releases`` by the position of
    their revision, with its name, in the order of the tree."""

    names: dict[int, str]
    releases: list[tuple[int, str, str]]


# Whole rows of the small tables. Of series the version is enough: each change of one, and of what
# is shown of it, raises it.
STAMP = """
SELECT (SELECT string_agg(tree::text, E'\\n' ORDER BY tree.id) FROM results_tree AS tree),
       (SELECT string_agg(metric::text, E'\\n' ORDER BY metric.id) FROM results_metric AS metric),
       (SELECT string_agg(lab::text, E'\\n' ORDER BY lab.id) FROM labs_lab AS lab),
       (SELECT string_agg(release::text, E'\\n' ORDER BY release.id)
          FROM events_release AS release),
       (SELECT string_agg(event::text, E'\\n' ORDER BY event.id) FROM events_labevent AS event),
       (SELECT (count(*), max(id), sum(version))::text FROM results_series)
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
    where it names a range, up to the position ``until`` (None: it does not say). ``subject`` and
    ``when`` say in words what it concerns, and its time or revisions.
    """

    event: LabEvent
    after: int
    until: int | None
    subject: str
    when: str


def events_along(
    tree: Tree, *, hardware: Collection[int], revisions: Collection[int]
) -> list[LocatedEvent]:
    """The events that concern what was measured of ``revisions`` on ``hardware`` (ids) of ``tree``,
    in the order of the tree; at most `MOST_EVENTS`, in one query, and one more where there is any.
    One from before everything that is shown is left out.
    """
    # Most charts have none, and the times of all runs that are shown need not be looked at.
    if not hardware or not revisions or not LabEvent.objects.in_force().exists():
        return []
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


def chart_stamp() -> str:
    """A digest of all trees, metrics, labs, releases, lab events and series, in one statement: what
    was made of them holds as long as it is the same.
    """
    with connection.cursor() as cursor:
        cursor.execute(STAMP)
        return sha256(repr(cursor.fetchone()).encode()).hexdigest()


def axis_of(tree: str, ends: Sequence[int]) -> Axis:
    """The names of the revisions at ``ends`` (positions, at least one) and what was released from
    the first to the last, in one statement."""
    asked: dict[str, str | int | list[int]] = {"tree": tree, "ends": list(ends)}
    with connection.cursor() as cursor:
        cursor.execute(NAMED, asked | {"first": min(ends), "last": max(ends)})
        rows = cursor.fetchall()
    return Axis(
        names={position: name for position, name, release in rows if not release},
        releases=[(position, name, release) for position, name, release in rows if release],
    )
