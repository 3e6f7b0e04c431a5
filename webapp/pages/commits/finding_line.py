"""One finding of a commit: how large, how sure, where, and why.

Written by functions, as the heat map is: a commit that moved hundreds of series has as many.
"""

from html import escape

from django.utils.text import slugify

from webapp.alerts.queries import FindingAt, Gated, Suspecting, Suspicion
from webapp.analysis.models import Finding
from webapp.charts import text
from webapp.charts.cost_text import cost_sentence
from webapp.pages.parts.links import commit_link, trend_link
from webapp.pages.parts.marks import SIMULATED, css_class, verdict_mark
from webapp.results.models import Revision
from webapp.stats.changes import Gate


def finding_item(one: Gated | Suspecting, *, received: int) -> str:
    """``one`` as an item of a list, with its rank among the ``received`` series where it was gated;
    escaped HTML.
    """
    finding, gate = one.finding, one.gate if isinstance(one, Gated) else None
    return (
        f'<li class="finding {escape(slugify(finding.state))}"><p>{_answer(finding)}</p>'
        f'<p class="note">{_where(finding, one.suspicion)}{_rank(finding, gate, received)}</p>'
        f'<p class="note">{escape(text.with_minus(finding.why))}</p></li>'
    )


def _answer(finding: FindingAt) -> str:
    series = finding.series
    is_one_build = finding.state == Finding.State.ONE_BUILD
    mark = verdict_mark("builds differ" if is_one_build else finding.verdict)
    css = "" if is_one_build else f' class="{escape(css_class(finding.verdict))}"'
    tag = f" {SIMULATED}" if series.hardware.lab.simulated else ""
    by = f" by {escape(finding.recovered_by.name)}" if finding.recovered_by else ""
    sure = f" · {text.chance(finding.probability)} sure to be real"
    return (
        f'{mark}<a href="{escape(trend_link(series))}">{escape(series.subject)}</a> '
        f'<span class="muted">on</span> {escape(series.hardware.name)}{tag} '
        f"<strong{css}>{escape(_size(finding))}</strong> "
        f'<span class="state">{escape(finding.state_text)}{by}</span>'
        f"{'' if finding.was_one_build else escape(sure)}"
    )


def _where(finding: FindingAt, suspicion: Suspicion) -> str:
    metric, revision = finding.series.metric, finding.revision
    if suspicion.is_one_build:
        begun = f"{escape(finding.previous.name)} and {escape(revision.name)} were built once each."
    elif suspicion.commit:
        begun = f"Most likely {_link(revision)} ({escape(text.chance(suspicion.chance))})."
    elif suspicion.last == revision and (suspicion.commits or 0) > 1:
        chance = escape(text.chance(suspicion.chance))
        begun = f"{chance} sure it is among these {suspicion.commits:,} commits."
    elif suspicion.last == revision and suspicion.gap_text:
        chance = escape(text.chance(suspicion.chance))
        begun = f"{chance} sure it began between {_link(suspicion.after)} and {_link(revision)}"
        begun += f" ({suspicion.gap_text})."
    else:
        begun = f"Seen first at {_link(revision)} ({escape(text.chance(finding.here))})."
    return (
        f"{escape(metric.name)}: {text.number(finding.level_before)} → "
        f"{text.number(finding.level)} {escape(metric.unit)}. {begun} "
        f"Suspects (95 %): after {_link(finding.after)} up to {_link(finding.last)}."
    )


def _rank(finding: FindingAt, gate: Gate | None, received: int) -> str:
    if gate is None or finding.was_one_build:
        return ""
    does = "passes" if gate.passes else "does <strong>not</strong> pass"
    share = escape(text.small_share(gate.q_value))
    return (
        f" Rank {gate.rank} of {received} series, q {share}: {does} the gate against false "
        "discoveries."
    )


def _size(finding: FindingAt) -> str:
    series = finding.series
    if series.is_cost and finding.change_pct is not None:
        before, level = finding.level_before, finding.level
        return cost_sentence(before, level, finding.low_pct, finding.high_pct, series.better)
    return text.finding_sentence(
        percent=finding.change_pct,
        low=finding.low_pct,
        high=finding.high_pct,
        better=series.better,
        unit=series.metric.unit,
    )


def _link(revision: Revision) -> str:
    address = commit_link(revision.tree.name, revision.name)
    return f'<a class="revision" href="{escape(address)}">{escape(revision.name)}</a>'
