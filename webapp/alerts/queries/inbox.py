"""The inbox: alerts by filters, each with the weightiest of what it holds, and the counts beside
the filters. Statements are written out; see `webapp.results.queries`."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from webapp.alerts.models import Alert
from webapp.alerts.queries.members import (
    SHOWN_MOST,
    STAMP,
    Members,
    give,
    give_revisions,
    members_of,
    revision_ids,
)
from webapp.alerts.queries.quality import REAL
from webapp.alerts.queries.suspicion import Suspicion, suspicions_of
from webapp.results.models import Revision, Tree
from webapp.results.queries import machine_of, revisions_of, rows_of

FIELDS = Alert._meta.concrete_fields  # noqa: SLF001 (Django's documented list of fields)
NAMES = tuple(field.attname for field in FIELDS)
COLUMNS = ", ".join(f"alert.{field.column}" for field in FIELDS)
TREE = Tree._meta.concrete_fields  # noqa: SLF001
TREE_NAMES = tuple(field.attname for field in TREE)
TREE_COLUMNS = ", ".join(f"tree.{field.column}" for field in TREE)
TAKER = len(NAMES) + len(TREE_NAMES)
"""The place of ``TAKEN_BY`` in a row."""

TAKEN_BY = """
    (SELECT person.username FROM alerts_alertevent AS event
       JOIN accounts_user AS person ON person.id = event.actor_id
      WHERE event.alert_id = alert.id AND event.kind = alert.state
      ORDER BY event.id DESC LIMIT 1)
"""
LOSS = """
    (SELECT max(CASE WHEN finding.change_pct IS NULL THEN 'infinity'::float8
                     ELSE abs(finding.change_pct) END)
       FROM alerts_alertfinding AS membership
       JOIN analysis_finding AS finding ON finding.id = membership.finding_id
      WHERE membership.alert_id = alert.id AND finding.verdict = 'worse'
        AND finding.state = ANY(%(alerted)s))
"""
ORDERS = {
    "new": "alert.id DESC",
    "loss": "(alert.state = 'recovered'), loss DESC NULLS LAST, alert.id DESC",
}
LISTED = f"""
SELECT {COLUMNS}, {TREE_COLUMNS}, {TAKEN_BY}, {{loss}} AS loss
  FROM alerts_alert AS alert
  JOIN results_tree AS tree ON tree.id = alert.tree_id
 WHERE ((alert.id, alert.version) IN (
           SELECT * FROM unnest(%(also)s::bigint[], %(versions)s::bigint[])) OR (
       (%(states)s::text[] IS NULL OR alert.state = ANY(%(states)s))
   AND (NOT %(history)s OR alert.history)
   AND (%(tree)s = '' OR tree.name = %(tree)s)
   AND (%(before)s::bigint IS NULL OR alert.id < %(before)s)
   AND ((%(hardware)s = '' AND %(mode)s = '') OR EXISTS (
        SELECT FROM alerts_alertfinding AS membership
          JOIN analysis_finding AS finding ON finding.id = membership.finding_id
          JOIN results_series AS series ON series.id = finding.series_id
          JOIN results_hardware AS hardware ON hardware.id = series.hardware_id
          JOIN results_mode AS mode ON mode.id = series.mode_id
         WHERE membership.alert_id = alert.id
           AND (%(hardware)s = '' OR hardware.name = %(hardware)s)
           AND (%(mode)s = '' OR mode.name = %(mode)s)))))
 ORDER BY {{order}}
 LIMIT %(limit)s OFFSET %(offset)s
"""  # noqa: S608 (names of columns; values of requests are parameters)
ONE = f"""
SELECT {COLUMNS}, {TREE_COLUMNS}, {TAKEN_BY}, {{stamp}}
  FROM alerts_alert AS alert
  JOIN results_tree AS tree ON tree.id = alert.tree_id
 WHERE alert.id = coalesce(
       (SELECT former.alert_id FROM alerts_formeralert AS former WHERE former.number = %s), %s)
"""  # noqa: S608
JUDGED = "triaged AND state = 'resolved' AND NOT history AND opened_at >= %(since)s"
COUNTS = f"""
SELECT count(*) FILTER (WHERE state = ANY(%(open)s)), count(*) FILTER (WHERE state = 'new'),
       count(*) FILTER (WHERE state = 'snoozed'), count(*) FILTER (WHERE state = 'resolved'),
       count(*) FILTER (WHERE history), count(*),
       count(*) FILTER (WHERE {JUDGED} AND resolution = ANY(%(real)s)),
       count(*) FILTER (WHERE {JUDGED} AND resolution = ANY(%(judged)s))
  FROM alerts_alert
"""  # noqa: S608
CHOICES = """
SELECT 'tree', name, NULL FROM results_tree
UNION ALL
(SELECT DISTINCT 'hardware', hardware.name, ARRAY[
            hardware.display_name, hardware.cpu, hardware.nic, hardware.agreed_cpu,
            hardware.agreed_nic]
   FROM alerts_alertfinding AS membership
   JOIN analysis_finding AS finding ON finding.id = membership.finding_id
   JOIN results_series AS series ON series.id = finding.series_id
   JOIN results_hardware AS hardware ON hardware.id = series.hardware_id)
UNION ALL
(SELECT DISTINCT 'mode', mode.name, NULL::text[]
   FROM alerts_alertfinding AS membership
   JOIN analysis_finding AS finding ON finding.id = membership.finding_id
   JOIN results_series AS series ON series.id = finding.series_id
   JOIN results_mode AS mode ON mode.id = series.mode_id)
ORDER BY 1, 2
"""


Read = Callable[[], Mapping[int, Members]]
Keep = Callable[[Hashable, Read], Mapping[int, Members]]


@dataclass(frozen=True, slots=True)
class Asked:
    """Which alerts an inbox lists: a part left empty means all. ``order`` is a key of `ORDERS`;
    ``before`` an alert (number) that they are older than, for the order ``new``; ``offset`` how
    many to pass over, for another. Those of ``also``, a number with a version, are listed whatever
    the filters have it, as long as they have that version.
    """

    state: str = "open"
    tree: str = ""
    hardware: str = ""
    mode: str = ""
    order: str = "new"
    before: int = 0
    offset: int = 0
    also: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Listed:
    """An alert with its tree and revisions, what it holds, and the commits that it suspects.
    ``taken_by`` is who brought it into its state, empty for the system.
    """

    alert: Alert
    members: Members
    suspicion: Suspicion
    taken_by: str


class Counts(NamedTuple):
    """How many alerts there are, by what tabs show; of those that were opened since a moment and
    that people judged, how many there are and how many were real.
    """

    open: int
    new: int
    snoozed: int
    resolved: int
    history: int
    all: int
    real: int
    judged: int


def listed(
    asked: Asked, *, limit: int, choose: Callable[[Sequence[int]], int], shown: int = 3
) -> list[Listed]:
    """The alerts of an inbox, at most ``limit``, in five statements. ``choose`` is given their
    numbers in order and for which one ``shown`` findings are read (0: of none); of the others
    it is the weightiest.
    """
    rows = rows_of(_statement(asked), _parameters(asked, limit))
    if not rows:
        return []
    chosen = choose([row[0] for row in rows])
    return _complete(rows, {row[0]: shown if row[0] == chosen else 1 for row in rows})


def one_listed(number: int, *, shown: int = SHOWN_MOST, keep: Keep | None = None) -> Listed | None:
    """The alert of that number, or the one that its alert was joined to, with as many findings as
    ``shown``; five statements. None: there is none.

    ``keep`` is given a key that holds all that the members follow from, and what reads them; where
    it gives those of before, they are shared and nobody may change them.
    """
    rows = rows_of(ONE.format(stamp=STAMP if keep else "NULL"), [number, number])
    if not rows:
        return None
    key = (rows[0][0], rows[0][-1], shown)
    return _complete(rows, {key[0]: shown}, lambda read: keep(key, read) if keep else read())[0]


def _complete(
    rows: Sequence[Sequence[Any]],
    most: Mapping[int, int],
    kept: Callable[[Read], Mapping[int, Members]] = lambda read: read(),
) -> list[Listed]:
    alerts = [_alert(row) for row in rows]
    own = [pk for one in alerts for pk in _revision_ids(one)]
    found: dict[int, Revision] = {}

    def read() -> Mapping[int, Members]:
        members = members_of(most)
        # Only of those that are shown with their evidence more is named than how much they changed.
        findings = [row for pk, one in members.items() if most[pk] > 1 for row in one.findings]
        found.update(revisions_of([*own, *revision_ids(findings)]))
        give_revisions(findings, found)
        return members

    members = kept(read)
    found = found or revisions_of(own)
    for one in alerts:
        _give(one, found)
    suspicions = suspicions_of(alerts)
    return [
        Listed(one, members[one.pk], suspicions[one.pk], row[TAKER] or "")
        for one, row in zip(alerts, rows, strict=True)
    ]


def counts(since: datetime) -> Counts:
    """How many alerts there are, in one statement; ``since`` bounds those that are judged."""
    parameters = {
        "open": list(Alert.OPEN),
        "since": since,
        "real": list(REAL),
        "judged": [*REAL, Alert.Resolution.NOT_REAL],
    }
    return Counts(*rows_of(COUNTS, parameters)[0])


def choices() -> dict[str, dict[str, str]]:
    """The names of trees, and of hardware and modes that an alert is about, each with what people
    call it; one statement.
    """
    found: dict[str, dict[str, str]] = {"tree": {}, "hardware": {}, "mode": {}}
    for part, name, machine in rows_of(CHOICES):
        found[part][name] = str(machine_of([None, name, *machine])) if machine else name
    return found


def _statement(asked: Asked) -> str:
    order = asked.order if asked.order in ORDERS else "new"
    return LISTED.format(loss=LOSS if order == "loss" else "NULL", order=ORDERS[order])


def _parameters(asked: Asked, limit: int) -> dict[str, object]:
    states = {"open": list(Alert.OPEN), "all": None, "history": None}
    return {
        "states": states.get(asked.state, [asked.state]),
        "history": asked.state == "history",
        "tree": asked.tree,
        "hardware": asked.hardware,
        "mode": asked.mode,
        "before": asked.before or None,
        "also": list(asked.also),
        "versions": list(asked.also.values()),
        "alerted": ["one build", "confirmed", "recovered"],
        "limit": limit,
        "offset": asked.offset,
    }


def _alert(row: Sequence[Any]) -> Alert:
    made = Alert.from_db("default", NAMES, row[: len(NAMES)])
    made.tree = Tree.from_db("default", TREE_NAMES, row[len(NAMES) : TAKER])
    return made


def _revision_ids(one: Alert) -> tuple[int | None, ...]:
    return (
        *(one.revision_id, one.after_id, one.likeliest_id),
        *(one.named_id, one.resolution_revision_id),
    )


def _give(one: Alert, found: Mapping[int, Revision]) -> None:
    """Its revisions, each with its tree."""
    names = ("revision", "after", "likeliest", "named", "resolution_revision")
    known = {name: found.get(getattr(one, f"{name}_id")) for name in names}
    give(one, **known)
    for revision in known.values():
        if revision is not None:
            give(revision, tree=one.tree)
