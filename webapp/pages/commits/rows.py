"""Rows of summaries: what each commit did. A list has fifty of them or more, so they are written
here and not in a template; every text is escaped.
"""

from collections.abc import Iterable
from datetime import datetime
from html import escape

from django.utils.safestring import SafeString, mark_safe

from webapp.alerts.queries import Suspicion
from webapp.analysis.models import Finding
from webapp.charts import text
from webapp.pages.parts.ages import when
from webapp.pages.parts.links import commit_link, trend_link
from webapp.pages.parts.marks import SIMULATED, css_class
from webapp.pages.parts.summaries import CommitSummary, Largest
from webapp.results.models import Revision


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


def _since(one: Suspicion, revision: Revision) -> str:
    """Among which commits the change began, as `pages/_since.html` says it."""
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
    return (
        f'<td class="number {css_class(one.seen_as)}">'
        f'{text.change(one.percent, one.percent_error)}</td><td class="where">'
        f'<a href="{escape(trend_link(series))}">{escape(series.subject)}</a> '
        f'<span class="muted">{escape(hardware.name)}</span>{simulated}</td>'
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
