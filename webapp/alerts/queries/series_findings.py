"""What a chart shows of the findings of some series, in one statement, written out as those of the
pages of alerts are.
"""

from collections.abc import Collection
from datetime import datetime
from typing import NamedTuple

from webapp.alerts.queries.commit_findings import OF_ANY_KIND, on_display
from webapp.alerts.queries.rows import rows_of
from webapp.analysis.models import Finding
from webapp.stats.metrics import ALONE

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
    return [FindingRow._make(row) for row in rows_of(SHOWN, asked)]
