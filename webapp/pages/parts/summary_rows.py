"""Rows of summaries, which are what each commit did, and the changes of a commit: each finding in a
row (how large, how sure, where, why) and drawn, its series around it and its neighbours along the
tree.

Rows are written here and not in a template, because a list of commits has fifty and more, and a
commit that moved hundreds of series has as many; every text is escaped.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from html import escape

from django.utils.safestring import SafeString, mark_safe
from django.utils.text import slugify

from webapp.alerts import queries
from webapp.analysis.models import Finding
from webapp.charts import around, text
from webapp.charts.around import Around
from webapp.charts.text import cost_sentence, level_figure, percent
from webapp.charts.trend import Level
from webapp.pages.parts.cache import Cache, fingerprint
from webapp.pages.parts.components import SIMULATED, css_class, verdict_mark, when
from webapp.pages.parts.links import commit_link, trend_link
from webapp.pages.parts.summaries import CommitSummary, Largest
from webapp.results.models import Revision
from webapp.results.queries import Neighbour, Neighbours
from webapp.stats.false_discovery import Gate
from webapp.stats.metrics import least_of

CHARTS_SHOWN = 6

IMAGES: Cache[str] = Cache(most=128, seconds=600.0)
"""Charts by all that they are drawn from."""


def rows(
    commits: Iterable[CommitSummary], now: datetime, *, show_tree: bool, mark_tested: bool
) -> SafeString:
    """A row for each commit: with its tree where lists hold several, and with a tag where those
    that nobody tested stand among the others.
    """
    found = (_row(one, now, show_tree=show_tree, mark_tested=mark_tested) for one in commits)
    return mark_safe("".join(found))  # noqa: S308 (each part is escaped where it is made)


def _row(one: CommitSummary, now: datetime, *, show_tree: bool, mark_tested: bool) -> str:
    revision = one.revision
    is_tested = mark_tested and getattr(revision, "is_tested", False)
    tested = ' <span class="tag">tested</span>' if is_tested else ""
    tree = escape(revision.tree.name)
    of_tree = f'<td class="spare nowrap">{tree}</td>' if show_tree else ""
    return (
        f'<tr><th class="revision">{_link(revision)}{tested}</th>{of_tree}'
        f'<td class="spare nowrap">{when(revision.committed_at, now)}</td>'
        f"{_subject(one)}{_verdict(one)}{_of_largest(one.largest)}"
        f'<td class="number tally">{_tally(one)}</td></tr>'
    )


def _subject(one: CommitSummary) -> str:
    revision = one.revision
    if one.suspicion and not one.is_cause:
        return f'<td class="subject muted">{_since(one.suspicion, revision)}</td>'
    if not revision.subject:
        return '<td class="subject spare"></td>'
    subject, author = escape(revision.subject), escape(revision.author_name)
    return f'<td class="subject" title="{subject}, {author}">{subject}</td>'


def _since(one: queries.Suspicion, revision: Revision) -> str:
    """Among which commits the change began, as `pages/parts/since.html` writes it."""
    tree = revision.tree.name
    after, last = (_named(tree, name) for name in (one.after.name, one.last.name))
    if one.commit:
        return _named(tree, one.commit.name)
    if one.is_excursion:
        return f"one revision alone, {last}"
    begun = "a commit"
    if one.is_slow:
        begun = "no single commit,"
    elif one.commits and one.commits > 1:
        begun = f"one of {one.commits:,} commits"
    known = f" ({one.gap_text})" if one.gap_text else ""
    return f"{begun} after {after} up to {last}{known}"


def _verdict(one: CommitSummary) -> str:
    basis = ""
    if one.largest and one.largest.basis != Finding.State.ONE_BUILD:
        basis = f' <span class="muted">{escape(one.largest.basis)}</span>'
    return f'<td class="nowrap {one.css_class}">{one.marks}&nbsp;{escape(one.text)}{basis}</td>'


def _of_largest(one: Largest | None) -> str:
    if one is None:
        return '<td class="number spare"></td><td class="where spare"></td>'
    series, hardware = one.series, one.series.hardware
    simulated = f" {SIMULATED}" if hardware.lab.simulated else ""
    unit = f" {text.POINTS}" if series.is_cost else ""
    return (
        f'<td class="number {css_class(one.seen_as)}">'
        f'{text.change(one.size, one.error)}{unit}</td><td class="where">'
        f'<a href="{escape(trend_link(series))}">{escape(series.subject)}</a> '
        f'<span class="muted">{escape(str(hardware))}</span>{simulated}</td>'
    )


def _tally(one: CommitSummary) -> str:
    tally = one.tally
    parts = (
        (tally.regressed, f'<span class="worse">▾{tally.regressed}</span>'),
        (tally.improved, f'<span class="better">▴{tally.improved}</span>'),
        (tally.compared, f'<span class="muted">of {tally.compared}</span>'),
    )
    return " ".join(shown for count, shown in parts if count)


def _link(revision: Revision) -> str:
    address = escape(commit_link(revision.tree.name, revision.name))
    return f'<a href="{address}">{escape(revision.name)}</a>'


def _named(tree: str, name: str) -> str:
    return f'<a class="revision" href="{escape(commit_link(tree, name))}">{escape(name)}</a>'


def finding_item(one: queries.Gated | queries.Suspecting, *, received: int) -> str:
    """``one`` as an item of a list, with its rank among the ``received`` series; escaped HTML."""
    finding, gate = one.finding, one.gate if isinstance(one, queries.Gated) else None
    return (
        f'<li class="finding {escape(slugify(finding.state))}"><p>{_answer(finding)}</p>'
        f'<p class="note">{_where(finding, one.suspicion)}{_rank(finding, gate, received)}</p>'
        f'<p class="note">{escape(text.with_minus(finding.why))}</p></li>'
    )


def _answer(finding: queries.FindingAt) -> str:
    series = finding.series
    is_one_build = finding.state == Finding.State.ONE_BUILD
    mark = verdict_mark("builds differ" if is_one_build else finding.verdict)
    css = "" if is_one_build else f' class="{escape(css_class(finding.verdict))}"'
    tag = f" {SIMULATED}" if series.hardware.lab.simulated else ""
    by = f" by {escape(finding.recovered_by.name)}" if finding.recovered_by else ""
    sure = f" · {text.chance(finding.probability)} sure to be real"
    return (
        f'{mark}<a href="{escape(trend_link(series))}">{escape(series.subject)}</a> '
        f'<span class="muted">on</span> {escape(str(series.hardware))}{tag} '
        f"<strong{css}>{escape(_size(finding))}</strong> "
        f'<span class="state">{escape(finding.state_text)}{by}</span>'
        f"{'' if finding.was_one_build else escape(sure)}"
    )


def _where(finding: queries.FindingAt, suspicion: queries.Suspicion) -> str:
    metric, revision = finding.series.metric, finding.revision
    if suspicion.is_one_build:
        begun = f"{escape(finding.previous.name)} and {escape(revision.name)} were built once each."
    elif suspicion.commit:
        begun = f"Most likely {_link_to(revision)} ({escape(text.chance(suspicion.chance))})."
    elif suspicion.last == revision and (suspicion.commits or 0) > 1:
        chance = escape(text.chance(suspicion.chance))
        begun = f"{chance} sure that one of these {suspicion.commits:,} commits began the change."
    elif suspicion.last == revision and suspicion.gap_text:
        chance = escape(text.chance(suspicion.chance))
        begun = f"{chance} sure of {_link_to(suspicion.after)} to {_link_to(revision)}"
        begun += f" ({suspicion.gap_text})."
    else:
        begun = f"Seen first at {_link_to(revision)} ({escape(text.chance(finding.here))})."
    before, level = (_level(finding, part) for part in ("level_before", "level"))
    unit = "" if finding.series.is_cost else f" {escape(metric.unit)}"
    return (
        f"{escape(metric.name)}: {before} → {level}{unit}. {begun} "
        f"Suspects (95 %): after {_link_to(finding.after)} up to {_link_to(finding.last)}."
    )


def _level(finding: queries.FindingAt, part: str) -> str:
    series = finding.series
    level, unit = getattr(finding, part), series.metric.unit
    shown = level_figure(level, series.better, is_cost=series.is_cost, least=least_of(unit))
    return f'<span data-figure="level:{finding.pk}:{part}">{escape(shown)}</span>'


def _rank(finding: queries.FindingAt, gate: Gate | None, received: int) -> str:
    if gate is None or finding.was_one_build:
        return ""
    does = "passes" if gate.passes else "does <strong>not</strong> pass"
    share = escape(text.small_share(gate.q_value))
    return (
        f" Rank {gate.rank} of {received} series, q {share}: {does} the gate against false "
        "discoveries."
    )


def _size(finding: queries.FindingAt) -> str:
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


def _link_to(revision: Revision) -> str:
    address = commit_link(revision.tree.name, revision.name)
    return f'<a class="revision" href="{escape(address)}">{escape(revision.name)}</a>'


@dataclass(frozen=True, slots=True)
class ChangeDrawn:
    """A finding with its chart."""

    finding: queries.FindingAt
    image: str
    href: str

    @property
    def size(self) -> str:
        """The change in percent, without its unit."""
        return percent(self.finding.change_pct)


@dataclass(frozen=True, slots=True)
class Step:
    """A tested revision near the commit, and the untested ones before it; None: the first."""

    revision: Neighbour | None
    untested: int | None

    @property
    def is_here(self) -> bool:
        """Whether it is the commit itself."""
        return self.revision is None


def drawn(begun: Sequence[queries.Gated], commit: Revision) -> list[ChangeDrawn]:
    """The changes that begin at ``commit``, at most `CHARTS_SHOWN`, in their order. One query."""
    rows = [one.finding for one in begun[:CHARTS_SHOWN] if one.finding.state in Finding.PROVEN]
    points = queries.points_around(
        [row.series.pk for row in rows], commit.position, most=around.SHOWN
    )
    return [
        ChangeDrawn(row, _image(row, points[row.series.pk]), trend_link(row.series))
        for row in rows
        if row.series.pk in points
    ]


def _image(row: queries.FindingAt, points: queries.PointsAround) -> str:
    drawn = (
        row.series.subject,
        row.state,
        row.verdict,
        row.change_pct,
        row.level_before,
        row.level,
    )
    ends = (row.revision.name, row.revision.position, row.after.position, row.last.position)
    return IMAGES.get(fingerprint([drawn, ends, tuple(points)]), lambda: _drawn(row, points))


def _drawn(row: queries.FindingAt, points: queries.PointsAround) -> str:
    positions = points.positions
    chart = Around(
        names=points.names,
        values=points.means,
        lows=points.lows,
        highs=points.highs,
        at=bisect_left(positions, row.revision.position),
        after=max(bisect_right(positions, row.after.position) - 1, 0),
        last=min(bisect_left(positions, row.last.position), len(positions) - 1),
        before=row.level_before,
        since=row.level,
        verdict=row.verdict,
        levels=_levels(points),
    )
    size = f"{percent(row.change_pct)} %"
    return around.draw(chart, described=f"{row.series.subject}: {size} at {row.revision}")


def _levels(points: queries.PointsAround) -> list[Level]:
    found = (
        Level.within(
            points.positions,
            (one["first"]["position"], one["last"]["position"]),
            (one["level"], one["end_level"]),
        )
        for one in points.segments
        if one["level"] is not None and one["end_level"] is not None
    )
    return [one for one in found if one is not None]


def steps(near: Neighbours, commit: Revision) -> list[Step]:
    """The tested revisions around ``commit`` in their order, itself among them."""

    def step(one: Neighbour | None) -> Step:
        count = near.steps.get(one.position if one else commit.position)
        return Step(one, None if count is None else count - 1)

    return [step(one) for one in (*near.tested_before, None, *near.tested_after)]


def strip(found: Sequence[Step], commit: Revision) -> SafeString:
    """The steps as a row of links, the number of untested revisions between."""
    parts = []
    for one in found:
        if one.untested is not None:
            count = f"{one.untested:,}" if one.untested else ""
            parts.append(f'<li class="gap" title="{one.untested:,} untested">{count}</li>')
        if one.revision is None:
            parts.append(f'<li class="here"><b class="rev">{escape(commit.name)}</b></li>')
        else:
            link = commit_link(commit.tree.name, one.revision.name)
            parts.append(
                f'<li class="step"><a href="{escape(link)}" title="{escape(one.revision.subject)}">'
                f'<span class="rev">{escape(one.revision.name)}</span></a></li>'
            )
    return mark_safe("".join(parts))  # noqa: S308
