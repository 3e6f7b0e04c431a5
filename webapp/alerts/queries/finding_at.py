"""The findings that suspect one commit, as its page tells them. No models: a commit that moved
hundreds of series has as many findings, and of each less than half of its columns is told.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from webapp.alerts.queries.rows import revisions_of, rows_of
from webapp.analysis.models import Finding
from webapp.results.models import Revision
from webapp.results.queries import NamedSeries, series_by_id

# As `FindingQuerySet.on_display` chooses them, changes of level alone.
ON_DISPLAY = """
       finding.kind = %(kind)s AND finding.state = ANY(%(live)s)
   AND NOT (finding.state = %(recovered)s
            AND COALESCE(finding.low_pct < 0 AND finding.high_pct > 0, false))
"""

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


def on_display() -> dict[str, Any]:
    """The parameters of `ON_DISPLAY`."""
    return {
        "kind": Finding.Kind.LEVEL,
        "live": list(Finding.LIVE),
        "recovered": Finding.State.RECOVERED,
    }


class FindingAt(NamedTuple):
    """What the page of a commit tells of a `Finding`. ``was_one_build``: it was judged by one build
    a side, and has a limit of its own.
    """

    series: NamedSeries
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


def findings_suspecting(commit: Revision, known: Mapping[int, NamedSeries]) -> list[FindingAt]:
    """Those shown whose interval of suspects holds ``commit``, in the order of what their series
    name. One query, one more where there is any, and one for series that are not ``known`` by id.
    """
    asked = {"tree": commit.tree_id, "at": commit.position}
    rows = rows_of(SUSPECTING, asked | on_display())
    if not rows:
        return []
    revisions = revisions_of(pk for row in rows for pk in row[14:])
    for revision in revisions.values():
        revision.tree = commit.tree
    series = {**known, **series_by_id({row[0] for row in rows} - known.keys())}
    return [
        FindingAt(series[row[0]], *row[1:14], *(revisions.get(pk) for pk in row[14:]))
        for row in rows
    ]
