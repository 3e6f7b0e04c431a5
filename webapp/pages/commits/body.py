"""What the page of a commit shows of its points and findings, drawn once for as long as they stay.

Nothing in it belongs to one reader but the links of those who may ask for jobs, nothing is told
against the clock, and nothing is of its runs: the page adds these each time.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from webapp.alerts.queries import Detected, FindingAt, detected_at, why_not
from webapp.analysis.queries import (
    CommitPoint,
    PointVerdict,
    Previous,
    judge_commit,
    points_of_rows,
    rows_of_commit,
)
from webapp.pages.commits.charts import drawn
from webapp.pages.commits.headline import answer, cells_of, headline
from webapp.pages.commits.table import Surroundings, Table, tables
from webapp.pages.parts.kept import Kept, fingerprint
from webapp.pages.parts.variants import variants_of_commit
from webapp.results.models import Revision
from webapp.results.queries import NamedSeries, tested_near
from webapp.stats.compare import MORE_BUILDS

STEPS_SHOWN = 9
"""Tested revisions on either side."""

INLINE_MOST = 12
"""Up to so many runs, findings or reasons are in the page at once; more are read when opened."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured at a commit, without variants (``points``) and with them, and the verdict
    on each point by series (id); all of it follows from what ``key`` is the fingerprint of.
    """

    key: bytes
    everything: Sequence[CommitPoint]
    points: Sequence[CommitPoint]
    judged: Mapping[int, PointVerdict]


@dataclass(frozen=True, slots=True)
class Body:
    """What the page shows of ``everything`` that was measured at a commit: the answer and what is
    below it, as HTML, and what the rest of the page follows from. ``tested`` are the positions of
    the tested commits around it, ``silent`` the series of which nothing is reported, with the
    reason where these are few or asked for.
    """

    everything: Sequence[CommitPoint]
    tested: Sequence[int]
    detected: Detected
    findings: Sequence[object]
    silent: Sequence[tuple[NamedSeries, str]]
    silent_count: int
    has_tables: bool
    has_variants: bool
    simulated: bool
    lead: SafeString
    html: SafeString


MEASURED: Kept[Measured] = Kept(most=16, seconds=600.0)
TABLES: Kept[Sequence[Table]] = Kept(most=16, seconds=600.0)
"""Never too old: their keys are all that they are made of. The age frees what nobody reads."""

OPENED = ("why", "findings")
"""What is read of it when it is opened."""

BODIES: Kept[Body] = Kept(most=32, seconds=60.0)
"""What changes without a sign of it in the stamp, as a row that no service wrote, is told late by
a minute at most."""


def body_of(commit: Revision, stamp: str, part: str, *, ask_from: str) -> Body:
    """What is drawn of ``commit``, whose `BesideCommit.stamp` is given; ``part`` is what is open.
    No query where it is kept.
    """
    opened = part if part in OPENED else ""
    told = (commit.pk, commit.name, commit.position, commit.tree.name)
    return BODIES.get(
        (told, stamp, opened, ask_from), lambda: _body(commit, opened, ask_from=ask_from)
    )


def _body(commit: Revision, part: str, *, ask_from: str) -> Body:
    measured = _measured(commit)
    everything, points, judged = measured.everything, measured.points, measured.judged
    detected = detected_at(commit, judged, {one.series_id: one.series for one in everything})
    begun = {one.finding.series.pk: one.finding for one in detected.begun}
    of_cells = [point for point in points if not point.series.is_cost]
    told = {one.series_id: judged[one.series_id] for one in of_cells if one.series_id in judged}
    cells = cells_of(of_cells, told)
    previous = _most_common_base(points)
    own = [point for point in everything if not point.series.is_plain]
    findings = _findings(detected, part)
    shown = {
        "tables": _tables(measured, begun, Surroundings(commit, ask_from, previous)),
        "headline": headline(detected, cells),
        "answer": answer(detected.let_through, cells),
        "detected": detected,
        "findings": findings,
        "is_findings_open": part == "findings",
        "charts": drawn(detected.let_through, commit),
        "variants": variants_of_commit(commit, own, points),
        "more_builds": MORE_BUILDS,
        "can_ask": bool(ask_from),
        "in_question": any(point.disagrees for point in points),
        "previous": previous,
    }
    silent = [point.series for point in points if point.series_id not in begun]
    return Body(
        everything=everything,
        tested=tested_near(commit, most=STEPS_SHOWN),
        detected=detected,
        findings=findings,
        silent=_reasons(commit, silent) if part == "why" or len(silent) <= INLINE_MOST else [],
        silent_count=len(silent),
        has_tables=bool(shown["tables"]),
        has_variants=bool(shown["variants"]),
        simulated=any(point.series.hardware.lab.simulated for point in everything),
        lead=render_to_string("pages/commits/_lead.html", shown),
        html=render_to_string("pages/commits/_body.html", shown),
    )


def _measured(commit: Revision) -> Measured:
    """One query. What follows from its rows is not made again while they are the same."""
    rows = rows_of_commit(commit)
    key = fingerprint(rows)
    return MEASURED.get(key, lambda: _judged(key, rows))


def _judged(key: bytes, rows: Sequence[tuple[object, ...]]) -> Measured:
    everything = points_of_rows(rows)
    judged = judge_commit([point for point in everything if point.series.is_plain])
    # What they are judged by is most of their size, and they are.
    everything = [point._replace(pair=None) for point in everything]
    points = [point for point in everything if point.series.is_plain]
    return Measured(key, everything, points, judged)


def _tables(
    measured: Measured, begun: Mapping[int, FindingAt], around: Surroundings
) -> Sequence[Table]:
    """The heat maps, drawn anew when anything in them changed."""
    findings = tuple(
        (pk, row.state, row.verdict, row.change_pct, row.low_pct, row.high_pct)
        for pk, row in begun.items()
    )
    commit = around.commit
    return TABLES.get(
        (measured.key, findings, commit.tree.name, commit.name, around.ask_from),
        lambda: tables(measured.points, measured.judged, begun, around),
    )


def _findings(detected: Detected, part: str) -> Sequence[object]:
    """The findings that begin here, in full: at first no more than fit a page."""
    everything = part == "findings" or len(detected.begun) <= INLINE_MOST
    return detected.begun if everything else detected.begun[:INLINE_MOST]


def _reasons(commit: Revision, series: Iterable[NamedSeries]) -> list[tuple[NamedSeries, str]]:
    """Each series with the reason why nothing of it is reported."""
    named = sorted(series, key=lambda one: (one.mode.name, one.hardware.name, one.metric.name))
    reasons = why_not(commit, [one.pk for one in named]) if named else {}
    return [(one, reasons[one.pk]) for one in named]


def _most_common_base(points: Iterable[CommitPoint]) -> Previous | None:
    """What most points are compared with, whether that point is still there or not."""
    bases = Counter(point.previous for point in points if point.previous is not None)
    return bases.most_common(1)[0][0] if bases else None
