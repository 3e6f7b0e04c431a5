"""Findings by commits: those that suspect one commit, for its page, and what was found at each of
some commits, for lists of them in three statements, however many; and those of some series, for
charts, in one. No models: a commit that moved hundreds of series has as many findings, and of each
less than half of its columns is shown.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from webapp.analysis.models import Finding, Tally, Verdict
from webapp.analysis.queries import FLAGGED, OF_ANY_KIND, ON_DISPLAY, on_display
from webapp.results import queries
from webapp.results.models import Revision
from webapp.stats.metrics import ALONE

# Of many points the indexes alone are read.
TALLIES = f"""
SELECT wanted.id,
       (SELECT count(*) FROM results_point WHERE revision_id = wanted.id)
       - (SELECT count(*) FROM analysis_notedpoint
           WHERE revision_id = wanted.id AND NOT is_compared),
       COALESCE(flagged.regressed, 0), COALESCE(flagged.improved, 0),
       NOT EXISTS (SELECT FROM analysis_notedpoint
                    WHERE revision_id = wanted.id AND is_compared)
  FROM unnest(%(revisions)s::bigint[]) AS wanted (id)
  LEFT JOIN (SELECT finding.revision_id AS id,
                    count(*) FILTER (WHERE finding.verdict = %(worse)s) AS regressed,
                    count(*) FILTER (WHERE finding.verdict <> %(worse)s) AS improved
               FROM analysis_finding AS finding
              WHERE finding.revision_id = ANY(%(revisions)s) AND {FLAGGED}
              GROUP BY finding.revision_id) AS flagged ON flagged.id = wanted.id
"""  # noqa: S608 (text of our own; no value of a request is in it)
# Without what options cost at revisions where something that was measured changed: the cost repeats
# it.
VERDICTS = f"""
SELECT finding.revision_id, finding.verdict, finding.p_value, finding.one_build IS NULL
  FROM analysis_finding AS finding
  JOIN results_series AS series ON series.id = finding.series_id
  JOIN results_metric AS metric ON metric.id = series.metric_id
 WHERE finding.revision_id = ANY(%(revisions)s) AND {FLAGGED}
   AND (metric.of_id IS NULL OR NOT EXISTS (
        SELECT FROM analysis_finding AS other
          JOIN results_series AS measured ON measured.id = other.series_id
          JOIN results_metric AS its ON its.id = measured.metric_id
         WHERE other.revision_id = finding.revision_id AND other.kind = %(kind)s
           AND other.state = ANY(%(live)s) AND its.of_id IS NULL))
"""  # noqa: S608 (text of our own; no value of a request is in it)
ENDS = ("revision", "previous", "after", "last")
OWN = ("id", "state", "verdict", "change_pct", "low_pct", "high_pct", "level_before", "here")
# Worse before better, confirmed before candidate, then by size; what an option costs where nothing
# else is found.
LARGEST = f"""
SELECT DISTINCT ON (finding.revision_id) {queries.SERIES_COLUMNS},
       {", ".join(f"finding.{name}" for name in OWN)},
       {", ".join(f"{end}.{name}" for end in ENDS for name in queries.REVISION_NAMES)}
  FROM analysis_finding AS finding
  JOIN results_series AS series ON series.id = finding.series_id {queries.SERIES_JOINS}
  {" ".join(f"JOIN results_revision AS {end} ON {end}.id = finding.{end}_id" for end in ENDS)}
 WHERE finding.revision_id = ANY(%(revisions)s) AND {ON_DISPLAY}
 ORDER BY finding.revision_id, metric.of_id IS NOT NULL, finding.verdict <> %(worse)s,
          finding.state <> ALL(%(proven)s), abs(finding.change_pct) DESC NULLS FIRST, finding.id
"""  # noqa: S608 (names of columns and tables; no value of a request is in this text)
SUSPECTING = f"""
SELECT finding.series_id, finding.id, finding.state, finding.verdict, finding.change_pct,
       finding.low_pct, finding.high_pct, finding.level_before, finding.level, finding.here,
       finding.probability, finding.p_value, finding.why, finding.one_build IS NOT NULL,
       finding.revision_id, finding.previous_id, finding.after_id, finding.last_id,
       finding.recovered_by_id
  FROM analysis_finding AS finding
  JOIN results_series AS series ON series.id = finding.series_id
  JOIN results_hardware AS hardware ON hardware.id = series.hardware_id
  JOIN results_mode AS mode ON mode.id = series.mode_id
  JOIN results_metric AS metric ON metric.id = series.metric_id
  JOIN results_revision AS after ON after.id = finding.after_id
  JOIN results_revision AS last ON last.id = finding.last_id
 WHERE series.tree_id = %(tree)s AND after.position < %(at)s AND last.position >= %(at)s
   AND {ON_DISPLAY}
 ORDER BY hardware.name, mode.name, metric.name, finding.position
"""  # noqa: S608 (text of our own; no value of a request is in it)


class LargestFinding(NamedTuple):
    """The finding that stands for a commit in a list."""

    series: queries.NamedSeries
    pk: int
    state: str
    verdict: str
    change_pct: float | None
    low_pct: float | None
    high_pct: float | None
    level_before: float
    here: float
    revision: Revision
    previous: Revision
    after: Revision
    last: Revision


class VerdictAt(NamedTuple):
    """The verdict of a finding at a revision, for its headline; ``is_detected``: it was not judged
    by one build a side, which has a limit of its own.
    """

    revision: int
    verdict: Verdict
    p_value: float
    is_detected: bool


class FindingAt(NamedTuple):
    """What the page of a commit shows of a `Finding`. ``was_one_build``: it was judged by one build
    a side, and has a limit of its own.
    """

    series: queries.NamedSeries
    pk: int
    state: str
    verdict: str
    change_pct: float | None
    low_pct: float | None
    high_pct: float | None
    level_before: float
    level: float
    here: float
    probability: float
    p_value: float
    why: str
    was_one_build: bool
    revision: Revision
    previous: Revision
    after: Revision
    last: Revision
    recovered_by: Revision | None

    @property
    def state_text(self) -> str:
        """Its state as a page calls it."""
        return Finding.State(self.state).label


def tallies_at(revisions: Sequence[int]) -> dict[int, Tally]:
    """What the comparisons of each revision (id) are."""
    asked = on_display() | {"revisions": list(revisions), "worse": Verdict.WORSE}
    return {row[0]: Tally(*row[1:]) for row in queries.rows_of(TALLIES, asked)}


def verdicts_at(revisions: Sequence[int]) -> list[VerdictAt]:
    """The verdicts of the findings at ``revisions`` (ids), without those of one build a side."""
    asked = on_display() | {"revisions": list(revisions)}
    return [
        VerdictAt(revision, Verdict(verdict), p_value, is_detected)
        for revision, verdict, p_value, is_detected in queries.rows_of(VERDICTS, asked)
    ]


def largest_at(revisions: Sequence[int]) -> list[LargestFinding]:
    """Of each of ``revisions`` (ids) the finding that stands for it, where there is any."""
    asked = on_display() | {
        "revisions": list(revisions),
        "worse": Verdict.WORSE,
        "proven": list(Finding.PROVEN),
    }
    reader, found = queries.SeriesReader(), []
    for row in queries.rows_of(LARGEST, asked):
        first = queries.SERIES_WIDTH + len(OWN)
        ends = (row[at : at + len(queries.REVISION_NAMES)] for at in _starts(first))
        own = row[queries.SERIES_WIDTH : first]
        found.append(LargestFinding(reader.read(row), *own, *map(queries.revision_from, ends)))
    return found


def findings_suspecting(
    commit: Revision, known: Mapping[int, queries.NamedSeries]
) -> list[FindingAt]:
    """Findings on display whose interval of suspects holds ``commit``, in the order of what their
    series name. One query, one more where there is any, and one for series that are not ``known``
    by id.
    """
    asked = {"tree": commit.tree_id, "at": commit.position}
    rows = queries.rows_of(SUSPECTING, asked | on_display())
    if not rows:
        return []
    revisions = queries.revisions_of(pk for row in rows for pk in row[14:])
    for revision in revisions.values():
        revision.tree = commit.tree
    series = {**known, **queries.series_by_id({row[0] for row in rows} - known.keys())}
    return [
        FindingAt(series[row[0]], *row[1:14], *(revisions.get(pk) for pk in row[14:]))
        for row in rows
    ]


def _starts(first: int) -> range:
    """Where the revisions of a row begin."""
    width = len(queries.REVISION_NAMES)
    return range(first, first + width * len(ENDS), width)


# As `FindingQuerySet.shown_alone` leaves out excursions that count only together.
SHOWN = f"""
SELECT finding.series_id, finding.kind, finding.position, revision.name, finding.state,
       finding.verdict, finding.change_pct, finding.low_pct, finding.high_pct, finding.probability,
       finding.level_before, finding.level, after.name, after.position, last.name, last.position,
       finding.why, membership.alert_id, alert.state, likeliest.position,
       (finding.details->>'ratio')::float8, (finding.details->>'share_before')::float8,
       (finding.details->>'share_after')::float8
  FROM analysis_finding AS finding
  JOIN results_revision AS revision ON revision.id = finding.revision_id
  JOIN results_revision AS after ON after.id = finding.after_id
  JOIN results_revision AS last ON last.id = finding.last_id
  LEFT JOIN alerts_alertfinding AS membership ON membership.finding_id = finding.id
  LEFT JOIN alerts_alert AS alert ON alert.id = membership.alert_id
  LEFT JOIN results_revision AS likeliest ON likeliest.id = alert.likeliest_id
 WHERE finding.series_id = ANY(%(series)s) AND {OF_ANY_KIND}
   AND NOT (finding.kind = %(excursion)s AND membership.id IS NULL
            AND COALESCE(finding.score < %(alone)s, false))
   AND (%(asof)s::timestamptz IS NULL OR finding.first_detected_at <= %(asof)s::timestamptz)
 ORDER BY finding.series_id, finding.position
"""  # noqa: S608 (text of our own; no value of a request is in it)


class FindingRow(NamedTuple):
    """The columns of a finding that a chart needs, revisions by name and position."""

    series_id: int
    kind: str
    position: int
    revision__name: str
    state: str
    verdict: str
    change_pct: float | None
    low_pct: float | None
    high_pct: float | None
    probability: float
    level_before: float
    level: float
    after__name: str
    after__position: int
    last__name: str
    last__position: int
    why: str
    membership__alert_id: int | None
    membership__alert__state: str | None
    membership__alert__likeliest__position: int | None
    details__ratio: float | None = None
    details__share_before: float | None = None
    details__share_after: float | None = None


def findings_shown(series: Collection[int], *, asof: datetime | None = None) -> list[FindingRow]:
    """The findings of ``series`` (ids) that are on display and shown alone, by series and along the
    tree; with ``asof`` those of today that had been detected then. One query.
    """
    asked = on_display() | {
        "series": list(series),
        "excursion": Finding.Kind.EXCURSION,
        "alone": ALONE,
        "asof": asof,
    }
    return [FindingRow._make(row) for row in queries.rows_of(SHOWN, asked)]
