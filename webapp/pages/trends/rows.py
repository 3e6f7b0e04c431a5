"""The rows of tables and lists beside a trend chart: its series with what is known of each, their
changes, and the newest points of a single one. After an upload most of them are as they were.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from html import escape
from math import inf
from typing import NamedTuple

from django.template.loader import get_template
from django.utils.safestring import SafeString, mark_safe

from webapp.analysis.queries import RUNS_DISAGREE, Compared, compared_named
from webapp.charts import text
from webapp.charts.trend import Found, Trend, TrendSeries
from webapp.pages.parts.cache import Cache
from webapp.pages.parts.components import css_class, verdict_mark
from webapp.pages.parts.conclusions import Conclusion, SeriesText
from webapp.pages.parts.links import commit_link, job_new_link
from webapp.stats.metrics import least_of

POINTS_SHOWN = 20
CHANGES_SHOWN = 25

ROWS: Cache[SafeString] = Cache(most=2048, seconds=60.0)
"""A row is all that its template shows, so none is ever too old."""


class SeriesRow(NamedTuple):
    """A series in the list beside the chart; ``machine`` is empty where there is but one."""

    id: int
    slot: int
    dash: str
    mode: str
    machine: str
    simulated: bool
    newest: float | None
    level: float | None
    revisions: int
    verdict: str
    percent: float | None
    today: str | None
    detects: str
    noise: str
    centre: str
    is_hidden: bool


class ChangeRow(NamedTuple):
    """A change in the table: its series, its revision, and ``levels`` before and since: in the
    chart's unit, or what the option cost.
    """

    tree: str
    revision: str
    series: int
    mode: str
    machine: str
    simulated: bool
    percent: float | None
    low: float | None
    high: float | None
    verdict: str
    levels: str
    state: str
    probability: float
    suspects: str
    alert: tuple[int, str] | None
    why: str


class TextRow(NamedTuple):
    """What is known of the noise of a series, and how small a change it could prove."""

    mode: str
    machine: str
    simulated: bool
    single: str
    run_noise: str
    build_noise: str
    smallest: str
    is_bimodal: bool
    is_drifting: bool
    why: str


def newest_points(trend: Trend, here: str) -> SafeString:
    """The rows of the newest points, the last first, where there is but one series; in one query.
    ``here``: see `_shown` of the page.
    """
    if len(trend.series) != 1:
        return SafeString()
    (series,) = trend.series
    shown = range(max(len(series.indices) - POINTS_SHOWN, 0), len(series.indices))
    names = [trend.revisions.names[series.indices[at]] for at in shown]
    judged = {one.revision: one for one in compared_named(series.id, names)}
    means = {one.at: one.means for one in series.apart}
    rows = [
        _row(trend, series, at, _judged(judged.get(name), means.get(at, ())), here)
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


def _judged(judged: Compared | None, runs: Sequence[float]) -> str:
    """The change and the verdict; ``runs`` are means that disagree. The verdict of ministat alone
    is a word: nothing is coloured on it.
    """
    flag = judged.flag.value if judged else ""
    verdict = RUNS_DISAGREE if runs else judged.verdict.value if judged else ""
    is_marked = bool(flag or runs)
    css = f" {css_class(verdict)}" if is_marked else ""
    mark = f"{verdict_mark(verdict)} " if is_marked and verdict else ""
    means = f" runs disagree: {', '.join(map(text.number, runs))}" if runs else ""
    change = text.change(*(judged.percent, judged.percent_error) if judged else (None, None))
    word = escape(flag or verdict)
    return f'<td class="number">{change}</td><td class="nowrap{css}">{mark}{word}{means}</td>'


def series_rows(trend: Trend, order: str, *, names_machine: bool) -> SafeString:
    """The series in the order of their list; what has no figure comes last."""
    if order == "name":
        series = sorted(trend.series, key=lambda one: one.label)
    else:
        series = sorted(trend.series, key=lambda one: _figure_of(one, order))
    return _drawn(
        "pages/trends/_series_row.html", (_series_row(trend, one, names_machine) for one in series)
    )


def _figure_of(one: TrendSeries, order: str) -> float:
    """What a series is sorted by: large values and levels first, the largest loss first."""
    change = one.last_change
    found = {
        "value": None if one.newest is None else -one.newest,
        "level": None if one.level is None else -one.level,
        "change": change.percent if change else None,
        "detects": float(one.detects.split()[0].replace(",", "")) if one.detects else None,
    }
    value = found.get(order, 0.0)
    return inf if value is None else value


def _series_row(trend: Trend, one: TrendSeries, names_machine: bool) -> SeriesRow:
    change = one.last_change
    return SeriesRow(
        one.id,
        one.style.slot,
        one.style.dash,
        one.mode,
        one.machine if names_machine else "",
        one.simulated,
        one.newest,
        one.level,
        one.count,
        change.verdict if change else "",
        change.percent if change else None,
        text.today_short(one.stands) if one.stands else None,
        one.detects,
        one.noise,
        trend.centre,
        one.id in trend.hidden,
    )


def change_rows(trend: Trend) -> SafeString:
    """The changes of all series: proven ones first, then the newest."""
    found = [(one, series) for series in (*trend.series, *trend.costs) for one in series.found]
    found.sort(key=lambda pair: (not pair[0].is_confirmed, -pair[0].index, pair[1].id))
    return _drawn(
        "pages/trends/_change_row.html",
        (_change_row(trend, *pair) for pair in found[:CHANGES_SHOWN]),
    )


def _change_row(trend: Trend, found: Found, series: TrendSeries) -> ChangeRow:
    least = least_of(trend.unit)
    levels = (
        text.level_figure(level, series.better, is_cost=series.is_cost, least=least)
        for level in (found.before, found.since)
    )
    return ChangeRow(
        trend.tree,
        trend.revisions.names[series.indices[found.at]],
        series.id,
        series.mode,
        series.machine,
        series.simulated,
        found.percent,
        found.low,
        found.high,
        found.verdict,
        " → ".join(levels),
        found.state,
        found.probability,
        "after {} up to {}".format(*found.suspects),
        found.alert,
        found.why,
    )


def text_rows(trend: Trend, conclusions: Mapping[int, Conclusion]) -> SafeString:
    """What each series, and each cost of an option, can prove."""
    return _drawn(
        "pages/trends/_text_row.html",
        (_text_row(one, conclusions[one.id].text) for one in (*trend.series, *trend.costs)),
    )


def _text_row(one: TrendSeries, its: SeriesText) -> TextRow:
    return TextRow(
        one.mode,
        one.machine,
        one.simulated,
        one.single,
        its.run_noise,
        its.build_noise,
        its.smallest,
        its.is_bimodal,
        its.is_drifting,
        f"{its.why_not} {its.what_helps}",
    )


def _drawn(name: str, rows: Iterable[Hashable]) -> SafeString:
    """The ``rows``, each by the template of this name."""
    keys = [(name, row) for row in rows]

    def draw(missing: Sequence[tuple[str, Hashable]]) -> dict[tuple[str, Hashable], SafeString]:
        template = get_template(name)
        return {key: mark_safe(template.render({"row": key[1]})) for key in missing}  # noqa: S308

    made = ROWS.get_all(keys, draw)
    return mark_safe("".join(made[key] for key in keys))  # noqa: S308 (each by a template)
