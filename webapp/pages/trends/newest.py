"""The newest points of a series, as a table: for ministat's figures, to be checked by hand."""

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from django.db import connection
from django.utils.safestring import SafeString, mark_safe

from webapp.analysis.queries import RUNS_DISAGREE
from webapp.charts import text
from webapp.charts.trend import Trend
from webapp.charts.trend.series import TrendSeries
from webapp.pages.parts.components import css_class, verdict_mark
from webapp.pages.parts.links import commit_link, job_new_link

POINTS_SHOWN = 20


class Judged(NamedTuple):
    """As much of a comparison as a row shows, of a point against the one before it."""

    percent: float | None
    percent_error: float | None
    verdict: str
    flag: str


NOT_COMPARED = Judged(None, None, "", "")
JUDGED = f"""
SELECT revision.name, {", ".join(Judged._fields)}
  FROM analysis_comparison AS comparison
  JOIN results_revision AS revision ON revision.id = comparison.revision_id
 WHERE comparison.series_id = %s AND revision.name = ANY(%s)
"""  # noqa: S608 (names of columns; no value of a request is in this text)


def newest_points(trend: Trend, here: str) -> SafeString:
    """The rows of the newest points, the last first, where there is but one series; in one query.
    ``here``: see `_shown` of the page.
    """
    if len(trend.series) != 1:
        return SafeString()
    (series,) = trend.series
    shown = range(max(len(series.indices) - POINTS_SHOWN, 0), len(series.indices))
    names = [trend.revisions.names[series.indices[at]] for at in shown]
    with connection.cursor() as cursor:
        cursor.execute(JUDGED, [series.id, names])
        judged = {row[0]: Judged(*row[1:]) for row in cursor.fetchall()}
    means = {one.at: one.means for one in series.apart}
    rows = [
        _row(trend, series, at, _judged(judged.get(name, NOT_COMPARED), means.get(at, ())), here)
        for at, name in zip(shown, names, strict=True)
    ]
    return mark_safe("".join(reversed(rows)))  # noqa: S308 (escaped below)


def _row(trend: Trend, series: TrendSeries, at: int, judged: str, here: str) -> str:
    """``at`` is the index of the point in the series; ``judged`` two cells about it."""
    index = series.indices[at]
    name = trend.revisions.names[index]
    ask = ""
    if here:
        link = escape(job_new_link(series.id, name, here))
        ask = f'<td class="nowrap"><a href="{link}">Measure more</a></td>'
    notes = (its.get(at, "") for its in (series.left_out, series.foreign))
    noted = "".join(f' <span class="note">{escape(one)}</span>' for one in notes if one)
    return (
        f'<tr><th class="revision"><a href="{escape(commit_link(trend.tree, name))}">'
        f"{escape(name)}</a></th>{judged}"
        f'<td class="number">{text.number(series.centres[at])}</td>'
        f'<td class="number">{series.counts[at]}{noted}</td>{ask}'
        f'<td class="spare subject">{escape(trend.revisions.subjects[index])}</td></tr>'
    )


def _judged(judged: Judged, runs: Sequence[float]) -> str:
    """The change and the verdict; ``runs`` are means that disagree. The verdict of ministat alone
    is a word: nothing is coloured on it.
    """
    verdict = RUNS_DISAGREE if runs else judged.verdict
    is_marked = bool(judged.flag or runs)
    css = f" {css_class(verdict)}" if is_marked else ""
    mark = f"{verdict_mark(verdict)} " if is_marked and verdict else ""
    means = f" runs disagree: {', '.join(map(text.number, runs))}" if runs else ""
    change = text.change(judged.percent, judged.percent_error)
    word = escape(judged.flag or verdict)
    return f'<td class="number">{change}</td><td class="nowrap{css}">{mark}{word}{means}</td>'
