"""What templates need to write numbers, verdicts and times the same way everywhere."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Protocol

from django import template
from django.conf import settings
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import get_text_list

from webapp.alerts.queries import FindingAt, Gated, Scope, Suspecting
from webapp.analysis.models import Finding, FindingEvent
from webapp.analysis.queries import address_of, today_beside
from webapp.charts import text
from webapp.charts.text import cost_sentence, cost_within, level_figure, today_short
from webapp.pages.parts import links
from webapp.pages.parts.components import SIMULATED, css_class, verdict_mark, when
from webapp.pages.parts.summaries import CommitSummary
from webapp.pages.parts.summary_rows import finding_item, rows
from webapp.results.models import Hardware, Run, Series
from webapp.results.queries import NamedSeries
from webapp.results.services import as_text
from webapp.stats.metrics import least_of

register = template.Library()


class Directed(Protocol):
    """Anything with a direction: ``more``, ``less``, or empty where its series differ."""

    @property
    def better(self) -> str:
        """Which way is better."""


register.filter("number", text.number)
register.filter("percent", text.percent)
register.filter("half_width", text.half_width)
register.filter("chance", text.chance)
register.filter("small_share", text.small_share)
register.filter("with_minus", text.with_minus)


@register.simple_tag
def manage() -> str:
    """``STATE=/srv/two .venv/bin/python manage.py``, as it is typed where this instance runs."""
    return f"{settings.WHICH}{settings.COMMANDS}python manage.py"


@register.simple_tag
def labagent() -> str:
    """``.venv/bin/labagent``: the agent beside the server, which who begins has."""
    return f"{settings.COMMANDS}labagent"


@register.simple_tag
def trend_url(series: Series | NamedSeries, **more: str) -> str:
    """The address of the chart of a series; ``more`` are further parts of the query."""
    return links.trend_link(series, **more)


register.simple_tag(links.commit_link, name="commit_url")
register.simple_tag(links.job_new_link, name="job_new_url")
register.simple_tag(links.points_link, name="points_url")


@register.simple_tag
def dry_run_url(scope: Scope, percent: float | None, days: int) -> str:
    """What ``percent`` for ``scope`` (None: nothing set there) would have raised."""
    pairs = {"scope": str(scope), "percent": "" if percent is None else f"{percent:g}"}
    return links.with_query(reverse("thresholds_dry_run"), {**pairs, "days": str(days)}.items())


@register.simple_tag
def profile_url(run: Run) -> str:
    """The flame graph of all boots of a run's kernel on its machine, in its mode."""
    return links.side_link(address_of(run))


@register.simple_tag
def comparison_url(finding: Finding) -> str:
    """The compare page of the two points around a finding."""
    series = finding.series
    return links.compare_link(
        links.side_of(series, finding.previous), links.side_of(series, finding.revision)
    )


@register.filter
def change(row: object) -> str:
    """``−11.4 ± 0.9`` of anything with ``percent`` and ``percent_error``."""
    return text.change(getattr(row, "percent", None), getattr(row, "percent_error", None))


@register.filter
def interval(row: object) -> str:
    """``[−12.3, −10.5]`` of anything with ``low`` and ``high``, or a finding."""
    return text.interval(*_ends(row))


@register.filter
def change_within(row: object) -> str:
    """``−11.4 [−12.3, −10.5]`` of the same; of a cost ``+2.5 points [+2.1, +2.9]``."""
    if isinstance(row, Finding) and row.series.is_cost:
        return cost_within(row.level_before, row.change_pct, _ends(row), row.series.better)
    return text.change_within(_size(row), *_ends(row))


@register.filter
def level_of(level: float, series: Series) -> str:
    """`level_figure` of a series."""
    return level_figure(
        level, series.better, is_cost=series.is_cost, least=least_of(series.metric.unit)
    )


@register.filter
def today(finding: Finding) -> str:
    """What the series of a finding has lost today (`today_beside`)."""
    return today_beside(finding)


register.filter("today_short", today_short)


@register.simple_tag
def finding_sentence(finding: Finding | FindingAt) -> str:
    """``11.4 % slower [−12.3, −10.5]``; of a cost ``rose from 1.2 to 3.7 % …``. Needs the series'
    metric loaded.
    """
    series = finding.series
    low, high = _ends(finding)
    if series.is_cost and finding.change_pct is not None:
        return cost_sentence(finding.level_before, finding.level, low, high, series.better)
    return text.finding_sentence(
        percent=_size(finding), low=low, high=high, better=series.better, unit=series.metric.unit
    )


def _size(row: object) -> float | None:
    if isinstance(row, Finding | FindingAt | FindingEvent):
        return row.change_pct
    return getattr(row, "percent", None)


def _ends(row: object) -> tuple[float | None, float | None]:
    if isinstance(row, Finding | FindingAt | FindingEvent):
        return row.low_pct, row.high_pct
    return getattr(row, "low", None), getattr(row, "high", None)


register.simple_tag(verdict_mark)
register.filter(css_class)


@register.simple_tag
def finding_line(one: Gated | Suspecting, received: int) -> SafeString:
    """A finding of a commit as an item of a list; ``received`` series were measured there."""
    return mark_safe(finding_item(one, received=received))  # noqa: S308 (it escapes every text)


@register.filter
def better_text(of: Directed) -> str:
    """``more is better``, of a series or of what shows several."""
    return text.better_text(of.better)


@register.filter
def query_of(address: str) -> str:
    """What follows the path of an address, with its question mark."""
    _, mark, query = address.partition("?")
    return mark + query


@register.filter
def as_set(percent: float | None) -> str:
    """A smallest effect as it was set: rounded, it would not be the one in force."""
    return "" if percent is None else f"{percent:g}"


@register.filter
def whole_percent(share: float) -> str:
    """``87 %`` of a share from 0 to 1."""
    return f"{100 * share:.0f} %"


@register.filter
def listed(names: Iterable[object]) -> str:
    """``r1, r2 and r3``."""
    return get_text_list([str(name) for name in names], "and")


@register.filter
def span(length: timedelta) -> str:
    """How long something took, in its largest sensible unit: ``4.2 h``."""
    seconds = length.total_seconds()
    for unit, size in (("days", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.0f} s"


register.filter("when", when)


@register.simple_tag
def commit_rows(commits: Iterable[CommitSummary], show_tree: bool, mark_tested: bool) -> SafeString:
    """What each commit did, a row each."""
    now = datetime.now(UTC)
    return rows(commits, now, show_tree=show_tree, mark_tested=mark_tested)


@register.simple_tag
def simulated_tag(hardware: Hardware) -> str:
    """The mark that the figures beside it come from a simulation. Needs ``hardware.lab`` loaded."""
    return SIMULATED if hardware.lab.simulated else ""


@register.filter
def fact_lines(facts: object) -> list[tuple[str, str]]:
    """The names and values of facts, as JSON where a value is more than a line of text."""
    if not isinstance(facts, dict):
        return []
    return [(name, as_text(value)) for name, value in sorted(facts.items())]
