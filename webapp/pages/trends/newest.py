"""The newest points of the only series of a trend chart, with what ministat says of each."""

from collections.abc import Sequence
from dataclasses import dataclass

from webapp.analysis.models import Comparison
from webapp.analysis.queries import RUNS_DISAGREE
from webapp.charts.trend import Trend

POINTS_SHOWN = 20


@dataclass(frozen=True, slots=True)
class PointLine:
    """One point in a table; ``percent`` and ``verdict`` against the one before it."""

    series_id: int
    revision: str
    subject: str
    n: int
    centre: float
    percent: float | None
    percent_error: float | None
    verdict: str
    flag: str
    runs: Sequence[float]
    left_out: str
    foreign: str


def newest_points(trend: Trend) -> list[PointLine]:
    """The newest points, the last first, when there is but one series to show them of; in one
    query.
    """
    if len(trend.series) != 1:
        return []
    series = trend.series[0]
    shown = range(max(len(series.indices) - POINTS_SHOWN, 0), len(series.indices))
    names = [trend.revisions.names[series.indices[at]] for at in shown]
    judged = {
        row.revision.name: row
        for row in Comparison.objects.of_all([series.id])
        .filter(revision__name__in=names)
        .select_related("revision")
    }
    means = {one.at: one.means for one in series.apart}
    lines = []
    for at, name in zip(shown, names, strict=True):
        row = judged.get(name)
        runs = means.get(at, ())
        lines.append(
            PointLine(
                series_id=series.id,
                revision=name,
                subject=trend.revisions.subjects[series.indices[at]],
                n=series.counts[at],
                centre=series.centres[at],
                percent=row.percent if row else None,
                percent_error=row.percent_error if row else None,
                verdict=RUNS_DISAGREE if runs else row.verdict if row else "",
                flag=row.flag if row else "",
                runs=runs,
                left_out=series.left_out.get(at, ""),
                foreign=series.foreign.get(at, ""),
            )
        )
    return lines[::-1]
