"""Two releases as texts: the sentence for the release notes, what recovered, what was traded, the
alerts between, and all of it as Markdown.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from webapp.alerts.queries import AlertBetween, ComparedReleases, Past
from webapp.analysis.queries import stands_by_series
from webapp.charts.cost_text import POINTS, cost_points
from webapp.charts.text import change_within, number, percent
from webapp.pages.compare.answer import (
    Cell,
    cells_of,
    change_sentence,
    groups_of,
    has_metrics,
    headline,
)
from webapp.pages.compare.report import SIMULATED, not_compared, today_after
from webapp.pages.compare.rows import lines_of
from webapp.pages.parts.claims import counts_text
from webapp.stats.compare import Verdict
from webapp.stats.markdown import inline

PROVEN = (Verdict.WORSE, Verdict.BETTER)
OTHER_TREES = (
    "The two are of different trees, and no branch point tells where these parted: an operator may "
    "add it as a release."
)
NO_ALERT = "No alert falls between the two."
NAMED = 3
"""Gains and losses that a line names."""

MODES_NAMED = 6
"""Modes of one machine that were not compared, named in Markdown."""


def answer_of(found: ComparedReleases) -> str:
    """The answer, as that of any comparison. What all rows share is named, for release notes stand
    alone: the mode, the machine.
    """
    cells = cells_of(found.table)
    groups = groups_of(found.table, cells, found.titles)
    a, b = found.titles
    modes = {group.title for group in groups}
    machines = {str(cell.row.base.hardware) for cell in cells}
    shared = [*(modes if len(modes) == 1 else ()), *(machines if len(machines) == 1 else ())]
    of_all = f" ({' on '.join(shared)})" if shared else ""
    return headline(cells, groups, f"{b} against {a}{of_all}")


def sentence_of(found: ComparedReleases) -> str:
    """The answer with how much was compared and how much recovered, for release notes."""
    total = len(found.table.rows)
    machines = len({row.base.hardware.pk for row in found.table.rows})
    parts = [answer_of(found)]
    if total:
        parts.append(f"{_count(total, 'comparison')} on {_count(machines, 'machine')}")
    if back := len(found.recovered):
        were = "was" if back == 1 else "were"
        parts.append(f"{_count(back, 'loss', 'losses')} in between {were} won back")
    return f"{'; '.join(parts)}."


def notes_of(found: ComparedReleases) -> list[str]:
    """Which revisions stand for the releases, where not their own."""
    return [one.note for one in (found.a, found.b) if one.note]


def trades_of(cells: Sequence[Cell]) -> list[str]:
    """For each machine with proven gains and proven losses what was gained there, and what lost."""
    proven: dict[str, list[Cell]] = defaultdict(list)
    for cell in cells:
        if cell.gated in PROVEN:
            proven[str(cell.row.base.hardware)].append(cell)
    with_metric = len({cell.row.base.metric for cell in cells}) > 1
    return [
        f"{machine}: gained {_named(its, Verdict.BETTER, with_metric)}; "
        f"lost {_named(its, Verdict.WORSE, with_metric)}"
        for machine, its in sorted(proven.items())
        if {cell.gated for cell in its} == set(PROVEN)
    ]


def _named(cells: Sequence[Cell], verdict: Verdict, with_metric: bool) -> str:
    its = [cell for cell in cells if cell.gated == verdict]
    its.sort(key=lambda cell: -abs(cell.judged.percent or 0.0))
    told = [
        f"{_subject(cell, with_metric)} {percent(cell.judged.percent)} %" for cell in its[:NAMED]
    ]
    more = len(its) - len(told)
    return ", ".join(told) + (f" and {more} more" if more else "")


def _subject(cell: Cell, with_metric: bool) -> str:
    return f"{cell.row.mode} {cell.row.base.metric}" if with_metric else cell.row.mode


def recovered_lines(found: ComparedReleases) -> list[tuple[str, str]]:
    """What was lost and won back between the two, and the address of its alert."""
    return [
        (f"{_changed(loss)} at {loss.then.revision}{_back(loss)}", alert.get_absolute_url())
        for alert, loss in found.recovered
    ]


def _back(loss: Past) -> str:
    by = loss.finding.recovered_by
    return f", back at {by}" if by else ", back since"


def alert_lines(found: ComparedReleases) -> list[tuple[str, str]]:
    """Each alert as its commit with the largest loss and the largest gain, and its address."""
    is_one = found.a.measured.tree_id == found.b.measured.tree_id
    return [
        (_alert_line(one, "" if is_one else f" of {one.alert.tree}"), one.alert.get_absolute_url())
        for one in found.alerts or ()
    ]


def _alert_line(one: AlertBetween, of_tree: str) -> str:
    losses, gains = one.losses, one.gains
    kind = "mixed" if losses and gains else "regression" if losses else "improvement"
    if one.alert.kind != one.alert.Kind.LEVEL:
        kind = one.alert.get_kind_display()
    where = f"{'up to' if one.alert.is_slow else 'at'} {one.changes[0].then.revision}"
    named = "; ".join(_changed(its[0]) for its in (losses, gains) if its)
    counts = [f"{len(losses)} lost" if losses else "", f"{len(gains)} gained" if gains else ""]
    series = ", ".join(filter(None, counts))
    return f"{one.alert}, {kind} {where}{of_tree}: {named} (series: {series})"


def _changed(one: Past) -> str:
    """``pf on Atom −11.4 [−12.3, −10.5] %``; of what an option costs in points."""
    series, then = one.finding.series, one.then
    named = f"{series.subject} on {series.hardware}"
    if then.change_pct is None:
        return f"{named} {one.finding.verdict}, beyond any percentage"
    if series.is_cost:
        points = cost_points(one.finding.level_before, then.change_pct, series.better)
        return f"{named} {percent(points)} {POINTS}"
    return f"{named} {change_within(then.change_pct, then.low_pct, then.high_pct)} %"


def as_markdown(found: ComparedReleases, link: str) -> str:
    """The whole comparison, without samples, with the address ``link`` of its page for good."""
    cells = cells_of(found.table)
    simulated = any(one.simulated for row in found.table.rows for one in row.points)
    left = not_compared(found.unmatched, found.titles)
    a, b = found.titles
    parts = [
        f"# {inline(b)} against {inline(a)}",
        inline(sentence_of(found)),
        "\n".join(f"- {inline(text)}" for text in _sides(found)),
        SIMULATED if simulated else "",
        _table(found, cells),
        _list("Recovered in between", [text for text, _ in recovered_lines(found)]),
        _list("Traded", trades_of(cells)),
        _list("Not compared", [one.text(MODES_NAMED) for one in left]),
        _alerts(found),
        f"<{link}>",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _sides(found: ComparedReleases) -> list[str]:
    return [
        one.note or f"{one.name} of {one.measured.tree}: {one.measured}"
        for one in (found.a, found.b)
    ]


def _table(found: ComparedReleases, cells: Sequence[Cell]) -> str:
    if not cells:
        return ""
    a, b = map(inline, found.titles)
    head = f"| hardware | mode | {a} | {b} | Δ % [95 %] | verdict |\n|---|---|--:|--:|--:|---|"
    ordered = [cell for line in lines_of(cells) for cell in line.cells]
    ordered.sort(key=lambda cell: cell.gated not in PROVEN)
    series = (row.base.series_id for row in found.table.rows)
    stands = {} if found.asof else stands_by_series(series)
    lines = [_line(cell, stands, with_metric=has_metrics(found.table)) for cell in ordered]
    counts = counts_text(found.table.claims.counts)
    return "\n".join([head, *lines]) + f"\n\n{counts}; {found.table.headline.by_chance}."


def _line(cell: Cell, stands: Mapping[int, Mapping[str, Any]], *, with_metric: bool) -> str:
    base, other, judged = cell.row.base, cell.row.points[cell.index + 1], cell.judged
    subject = _subject(cell, with_metric)
    delta = change_within(judged.percent, judged.low, judged.high)
    levels = [f"{number(one.mean)} ({inline(one.revision.name)})" for one in (base, other)]
    cells = [inline(str(base.hardware)), inline(subject), *levels]
    change = judged.percent, judged.low, judged.high
    verdict = f"{verdict_of(cell)}{today_after(change, stands, base, other)}"
    return f"| {' | '.join([*cells, delta, verdict])} |"


def verdict_of(cell: Cell) -> str:
    """``11.4 % slower``; of what differs by itself alone that it is not proven over the table."""
    text = change_sentence(cell)
    is_alone = cell.judged.verdict in PROVEN and cell.gated not in PROVEN
    return f"{text} by itself, not proven over the whole table" if is_alone else text


def _alerts(found: ComparedReleases) -> str:
    if found.alerts is None:
        return f"## Alerts between\n\n{OTHER_TREES}"
    lines = [text for text, _ in alert_lines(found)]
    return _list("Alerts between", lines) or f"## Alerts between\n\n{NO_ALERT}"


def _list(title: str, lines: Sequence[str]) -> str:
    if not lines:
        return ""
    return "\n".join([f"## {title}", "", *(f"- {inline(line)}" for line in lines)])


def _count(number_: int, noun: str, plural: str = "") -> str:
    return f"{number_:,} {noun if number_ == 1 else plural or f'{noun}s'}"
