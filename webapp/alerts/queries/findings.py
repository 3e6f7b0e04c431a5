"""The findings that alerts hold, now and at a past moment, what was measured around them for small
charts (two statements, however many), and what happened to an alert.
"""

import json
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any, NamedTuple

from django.db.models import Case, F, Q, Value, When
from django.db.models.functions import Abs, Coalesce

from webapp.accounts.models import User
from webapp.alerts.models import Alert, AlertEvent
from webapp.analysis.models import Finding, FindingEvent, FindingQuerySet, SeriesSettings, Verdict
from webapp.results.models import Point
from webapp.results.queries import made_of, rows_of
from webapp.stats.compare import Summary, unpack_summary

WITHDRAWN = "Withdrawn: "
SHOWN = 13
"""Revisions on either side of a change."""
WINDOW_MOST, WINDOW_DRAWN = 2_000, 60
"""Revisions of the window of a slow change that are read, and those of them that are drawn."""
POINTS = """
SELECT wanted.finding, near.position, revision.name, near.mean,
       CASE WHEN wanted.finding = ANY(%s) THEN near.levels END
  FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[])
       AS wanted (finding, series, position, since, most)
 CROSS JOIN LATERAL (
       (SELECT * FROM results_point AS point
         WHERE point.series_id = wanted.series AND point.position < wanted.position
           AND point.position >= wanted.since AND NOT point.disagrees AND point.beside IS NULL
         ORDER BY point.position DESC LIMIT wanted.most)
       UNION ALL
       (SELECT * FROM results_point AS point
         WHERE point.series_id = wanted.series AND point.position >= wanted.position
           AND NOT point.disagrees AND point.beside IS NULL
         ORDER BY point.position LIMIT %s)) AS near
  JOIN results_revision AS revision ON revision.id = near.revision_id
 ORDER BY wanted.finding, near.position
"""
SEGMENTS = """
SELECT series_id, summary -> 'segments' FROM analysis_seriesanalysis WHERE series_id = ANY(%s)
"""
COLUMNS = ("id", "alert_id", "at", "actor_id", "kind", "reason", "version", "before", "is_quiet")
EVENTS = f"""
SELECT person.username, {", ".join(f"event.{name}" for name in COLUMNS)}
  FROM alerts_alertevent AS event
  LEFT JOIN accounts_user AS person ON person.id = event.actor_id
 WHERE event.alert_id = %s
 ORDER BY event.id
"""  # noqa: S608 (names of columns; no value of a request is in this text)

LEFT_OUT = """
SELECT point.revision_id, point.series_id
  FROM unnest(%s::bigint[], %s::bigint[]) AS wanted (series, revision)
  JOIN results_point AS point ON point.series_id = wanted.series
       AND point.revision_id = wanted.revision
 WHERE point.left_out IS NOT NULL
"""


class PointAround(NamedTuple):
    """One point with the 95 % interval of its mean (None: unknown, or not asked for), in the
    metric's unit.
    """

    position: int
    name: str
    mean: float
    low: float | None
    high: float | None


class LevelAround(NamedTuple):
    """A level of a series from one position of its tree to another, with its height at either."""

    first: int
    last: int
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The ``points`` around a change, in order, and the ``levels`` of the series among them."""

    points: Sequence[PointAround]
    levels: Sequence[LevelAround]

    def at(self, position: int) -> int:
        """The index of the first point at ``position`` or later."""
        return bisect_left(self.points, position, key=lambda point: point.position)


@dataclass(frozen=True, slots=True)
class Past:
    """A finding, and its newest event of the time: state, revision, suspects and size as noted.
    Where the time is now it is the finding itself.
    """

    finding: Finding
    then: FindingEvent | Finding


def findings_of(alerts: Iterable[Alert | int]) -> FindingQuerySet:
    """What alerts hold: regressions before improvements, each from the largest on; then what
    options cost, which repeats what was measured.
    """
    costs_last = Case(When(series__metric__of=None, then=0), default=1)
    worst_first = Case(When(verdict=Verdict.WORSE, then=0), default=1)
    size = Abs("change_pct").desc(nulls_first=True)
    members = Finding.all_kinds.filter(
        membership__alert__in=list(alerts), state__in=Finding.ALERTED
    )
    ordered = members.order_by("membership__alert_id", costs_last, worst_first, size, "pk")
    return ordered.select_related("membership")


def by_alert(findings: Iterable[Finding]) -> dict[int, list[Finding]]:
    """Findings read by `findings_of`, by the id of their alert, in their order."""
    found: dict[int, list[Finding]] = defaultdict(list)
    for row in findings:
        found[row.membership.alert_id].append(row)
    return dict(found)


def worst_of(alerts: Iterable[Alert | int]) -> dict[int, Finding]:
    """The weightiest finding, with its subjects, of each alert (by id) that has any."""
    members = findings_of(alerts).distinct("membership__alert_id").with_subjects().with_today()
    members = members.defer("why")
    return {row.membership.alert_id: row for row in members}


def why_withdrawn(alert: Alert) -> str:
    """What the clearest of the findings that left an alert last has on why it is gone; empty where
    none is.
    """
    left = alert.events.filter(kind=AlertEvent.Kind.LEFT).order_by("-pk").first()
    # Before, a finding that was gone went on saying why it had been confirmed.
    gone = Finding.all_kinds.filter(pk__in=left.findings if left else [], why__startswith=WITHDRAWN)
    row = gone.order_by("-score", "pk").first()
    return row.why if row else ""


def candidates_beside(alert: Alert) -> FindingQuerySet:
    """Candidates that suspect a commit which the alert suspects."""
    found = Finding.objects.filter(
        state=Finding.State.CANDIDATE,
        series__tree=alert.tree_id,
        after__position__lt=alert.revision.position,
        last__position__gt=alert.after.position,
    )
    return found.order_by("series__hardware__name", "series__mode__name", "pk")


def of_interest(findings: FindingQuerySet, *, or_alerted: bool = False) -> FindingQuerySet:
    """Findings at least as large as what is in force, by ``webapp.alerts.queries.min_effects``;
    ``or_alerted``: also smaller ones at the commit that their open alert suspects most.

    A change beyond the double range has no figure, and is larger than any.
    """
    least = Coalesce(
        "series__settings__min_effect_pct",
        "series__mode__min_effect__percent",
        "series__hardware__min_effect__percent",
        "series__tree__min_effect__percent",
        Value(SeriesSettings.DEFAULT_MIN_EFFECT_PCT),
    )
    fits = Q(size__gte=F("least")) | Q(size=None)
    if or_alerted:
        at = F("membership__alert__likeliest")
        fits |= Q(membership__alert__state__in=Alert.OPEN, revision=at)
    return findings.annotate(size=Abs("change_pct"), least=least).filter(fits)


def surroundings_of(
    findings: Sequence[Finding], *, whiskers: Sequence[Finding] = ()
) -> dict[int, Surroundings]:
    """What lies around each finding (by id): up to `SHOWN` revisions before it, its own and as many
    after it; of a slow change its whole window, thinned. The points around those of ``whiskers``
    have their intervals.
    """
    if not findings:
        return {}
    columns = [
        [row.pk for row in findings],
        [row.series_id for row in findings],
        [row.position for row in findings],
        [row.after.position if _is_slow(row) else 0 for row in findings],
        [WINDOW_MOST if _is_slow(row) else SHOWN for row in findings],
    ]
    found: dict[int, list[PointAround]] = defaultdict(list)
    for finding, position, name, mean, packed in rows_of(
        POINTS, [[row.pk for row in whiskers], *columns, SHOWN + 1]
    ):
        low, high = _interval(packed)
        found[finding].append(PointAround(position, name, mean, low, high))
    points = {finding: _thinned(its) for finding, its in found.items()}
    segments = dict(rows_of(SEGMENTS, [list(set(columns[1]))]))
    return {
        row.pk: Surroundings(its, _levels(segments.get(row.series_id), its))
        for row in findings
        for its in [points.get(row.pk, ())]
    }


def moves_of(levels: Sequence[LevelAround], *, better: str) -> list[str]:
    """For each level after the first, "worse" or "better" than the one before it; "" for equal."""
    return [_move(after.start - before.end, better=better) for before, after in pairwise(levels)]


def members_at(alert: Alert, moment: datetime) -> Sequence[Past]:
    """What ``alert`` held at ``moment``, in three queries; the weightiest of today first."""
    return members_of_all_at([alert], moment)[alert.pk]


def members_of_all_at(
    alerts: Collection[Alert], moment: datetime
) -> defaultdict[int, Sequence[Past]]:
    """The same of several alerts, by their numbers, in as many queries.

    A size is noted again only when it left the interval noted before, so figures within that
    interval may differ from those that were shown then.
    """
    members = _members(alerts, moment)
    held = {pk for its in members.values() for pk in its}
    findings = Finding.all_kinds.filter(pk__in=held).with_subjects().select_related("recovered_by")
    events = FindingEvent.objects.filter(at__lte=moment).newest_of([row.pk for row in findings])
    then = {row.finding_id: row for row in events.select_related("revision", "after", "last")}
    past = [Past(row, then[row.pk]) for row in findings.order_by("pk") if row.pk in then]
    found: defaultdict[int, Sequence[Past]] = defaultdict(list)
    for pk, its in members.items():
        found[pk] = [one for one in past if one.finding.pk in its]
    return found


def events_of(alert: Alert) -> list[AlertEvent]:
    """The events of an alert in their order, with who did what; one statement. Their findings are
    read when they are asked for.
    """
    found = []
    for username, *values in rows_of(EVENTS, [alert.pk]):
        event = made_of(AlertEvent, COLUMNS, values)
        if isinstance(event.before, str):
            event.before = json.loads(event.before)
        if event.actor_id is not None:
            event.actor = made_of(User, ("id", "username"), (event.actor_id, username))
        found.append(event)
    return found


def _is_slow(row: Finding) -> bool:
    return row.kind == Finding.Kind.SLOW


def _thinned(points: Sequence[PointAround]) -> Sequence[PointAround]:
    """Every so manyth of a long window, the newest among them."""
    step = -(-len(points) // WINDOW_DRAWN)
    return points[(len(points) - 1) % step :: step]


def _interval(packed: bytes | None) -> tuple[float | None, float | None]:
    found = Summary.from_data(unpack_summary(packed)).interval() if packed else None
    return found or (None, None)


def _levels(written: str | None, points: Sequence[PointAround]) -> list[LevelAround]:
    """The levels that reach into what is shown."""
    if not written or not points:
        return []
    first, last = points[0].position, points[-1].position
    found = [_level(one) for one in json.loads(written) or ()]
    return [one for one in found if one is not None and one.last >= first and one.first <= last]


def _level(segment: dict[str, Any]) -> LevelAround | None:
    if segment["level"] is None or segment["end_level"] is None:
        return None
    return LevelAround(
        segment["first"]["position"],
        segment["last"]["position"],
        segment["level"],
        segment["end_level"],
    )


def _move(difference: float, *, better: str) -> str:
    if not difference:
        return ""
    return "better" if (difference > 0) == (better == "more") else "worse"


def _members(alerts: Collection[Alert], moment: datetime) -> dict[int, set[int]]:
    """Of each alert the findings that joined and did not leave."""
    members: defaultdict[int, set[int]] = defaultdict(set)
    events = AlertEvent.objects.filter(alert__in=[one.pk for one in alerts], at__lte=moment)
    for event in events.order_by("pk"):
        if event.kind == AlertEvent.Kind.JOINED:
            members[event.alert_id].update(event.findings)
        elif event.kind == AlertEvent.Kind.LEFT:
            members[event.alert_id].difference_update(event.findings)
    return members


def left_out_beside(findings: Sequence[Finding]) -> list[Point]:
    """The points on either side of each finding that lack samples of their runs, along the
    tree; one statement where there are none, which is nearly always.
    """
    wanted = {pair for row in findings for pair in _sides_of(row)}
    if not wanted:
        return []
    series, revisions = (list(column) for column in zip(*wanted, strict=True))
    keys = rows_of(LEFT_OUT, [series, revisions])
    if not keys:
        return []
    found = Point.objects.filter(pk__in=keys)
    rows = found.with_subjects().select_related("revision__tree").order_by("position", "series")
    return list(rows)


def left_out_of(finding: Finding, points: Sequence[Point]) -> list[dict[str, Any]]:
    """The ``points`` (of `left_out_beside`) that this finding rests on, as data: the revision, how
    many samples of how many are left out, by what kinds, and that in words.
    """
    sides = _sides_of(finding)
    return [
        {"revision": point.revision.name, **found.to_data(), "text": found.text}
        for point in points
        if (point.series_id, point.revision_id) in sides and (found := point.excluded)
    ]


def _sides_of(row: Finding) -> set[tuple[int, int]]:
    """Series and revision of the points on either side of it."""
    ends = (row.previous_id, row.revision_id, row.after_id, row.last_id)
    return {(row.series_id, revision) for revision in ends}
