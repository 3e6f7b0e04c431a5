"""`/releases/A...B/`: two releases, what recovered and what was traded between them, and alerts; as
a page, as Markdown, and as the sentence for the release notes.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from webapp.alerts.queries import AlertBetween, ComparedReleases, Past, compare_releases
from webapp.analysis.queries import PAIR_MARK, SideError, moment_of, release_pair, stands_by_series
from webapp.charts.text import POINTS, change_within, cost_points, number, percent
from webapp.pages.compare import answer, compare
from webapp.pages.compare.pickers import start
from webapp.pages.compare.report import SIMULATED, not_compared, today_after
from webapp.pages.compare.rows import lines_of
from webapp.pages.parts.components import counted
from webapp.pages.parts.links import releases_link, with_query
from webapp.pages.parts.summaries import counts_text
from webapp.stats.compare import Verdict
from webapp.stats.markdown import inline

BAD_REQUEST = 400
LONGEST = 400
"""Characters of a name."""

PROVEN = (Verdict.WORSE, Verdict.BETTER)
OTHER_TREES = (
    "The two are of different trees, and no branch point shows where these parted: an operator may "
    "add it as a release."
)
NO_ALERT = "No alert falls between the two."
NAMED = 3
"""Gains and losses that a line names."""

MODES_NAMED = 6
"""Modes of one machine that were not compared, named in Markdown."""


@require_safe
def picked(request: HttpRequest) -> HttpResponse:
    """What the form names, as an address of its own; without names the page to compare."""
    a, b = (request.GET.get(name, "").replace("\0", "").strip()[:LONGEST] for name in "ab")
    if not (a or b):
        return redirect("compare")
    if "change" in request.GET:
        return start(request, [], releases=[a, b])
    try:
        release_pair(f"{a}{PAIR_MARK}{b}")
    except SideError as error:
        return start(request, [], str(error), [a, b])
    return redirect(releases_link(a, b))


@require_safe
def page(request: HttpRequest, pair: str) -> HttpResponseBase:
    """Machines and modes with their change; 400 and the remedy where the two cannot be compared."""
    try:
        found = _found(request, pair)
    except SideError as error:
        a, _, b = pair.replace("\0", "").partition(PAIR_MARK)
        return start(request, [], str(error), [a, b])
    context = compare.context_of(request, found.table, found.asof, titles=found.titles)
    elsewhere = _elsewhere(found)
    can_keep = context["can_keep"] and elsewhere < len(found.table.rows)
    without = f", without {counted(elsewhere, 'comparison')} of other revisions"
    a, b = found.titles
    context |= _context(found, pair) | {
        "can_keep": can_keep,
        "question": f"{b} against {a}{without if elsewhere else ''}",
    }
    return compare.rendered(request, "pages/compare/releases.html", context)


def _elsewhere(found: ComparedReleases) -> int:
    """How many rows are of other revisions than their sides: a report and a block of ministat's
    have one revision a side, and hold none of them.
    """
    revisions = found.table.revisions
    return sum(tuple(one.revision for one in row.points) != revisions for row in found.table.rows)


@require_safe
def markdown(request: HttpRequest, pair: str) -> HttpResponse:
    """The same as a report."""
    kind = "text/markdown; charset=utf-8"
    try:
        found = _found(request, pair)
    except SideError as error:
        return HttpResponse(f"{error}\n", content_type=kind, status=BAD_REQUEST)
    link = request.build_absolute_uri(_for_good(found, pair))
    return HttpResponse(as_markdown(found, link), content_type=kind)


def drawing(request: HttpRequest, pair: str) -> str:
    """The same as one picture. Raises SideError as the page does."""
    found = _found(request, pair)
    here = request.build_absolute_uri(releases_link(*release_pair(pair), found.asof))
    a, b = found.titles
    return compare.picture_of(found.table, answer_of(found), [f"{b} against {a}", here])


def _found(request: HttpRequest, pair: str) -> ComparedReleases:
    text = request.GET.get("asof", "")
    asof = moment_of(text)
    if text and asof is None:
        raise SideError(f"asof={text[:40]!r} is no time: write 2026-01-31T12:00:00Z")
    return compare_releases(release_pair(pair.replace("\0", "")), asof)


def _for_good(found: ComparedReleases, pair: str) -> str:
    return releases_link(*release_pair(pair), found.asof or timezone.now())


def _context(found: ComparedReleases, pair: str) -> dict[str, object]:
    """What is beside the comparison itself."""
    a, b = release_pair(pair)
    sides = zip("AB", (found.a, found.b), strict=True)
    trees = {one.measured.tree.name for one in (found.a, found.b)}
    return {
        "common": "".join(trees) if len(trees) == 1 else "",
        "answer": answer_of(found),
        "sentence": sentence_of(found),
        "notes": notes_of(found),
        "boxes": [compare.Box(name, one.side, one.measured, one.title) for name, one in sides],
        "recovered": recovered_lines(found),
        "trades": trades_of(answer.cells_of(found.table)),
        "alerts": alert_lines(found),
        "no_alert": OTHER_TREES if found.alerts is None else NO_ALERT,
        "unmatched": not_compared(found.unmatched, found.titles),
        "for_good": _for_good(found, pair),
        "swapped": "",
        "change_link": with_query(
            reverse("picked_releases"), [("a", a), ("b", b), ("change", "1")]
        ),
        "markdown_link": releases_link(a, b, found.asof, "releases_markdown"),
        "picture_links": [
            (title, releases_link(a, b, found.asof, name))
            for title, name in (("SVG", "releases_svg"), ("PNG", "releases_png"))
        ],
        **_data_links(a, b, found.asof),
    }


def _data_links(a: str, b: str, asof: datetime | None) -> dict[str, str]:
    pairs = [("a", a), ("b", b), *([("asof", asof.isoformat())] if asof else [])]
    return {
        "data_link": with_query(reverse("api:compare_releases"), pairs),
        "csv_link": with_query(reverse("api:compare_releases_csv"), pairs),
    }


def answer_of(found: ComparedReleases) -> str:
    """The answer; what all rows share (mode, machine) is named, for release notes stand alone."""
    cells = answer.cells_of(found.table)
    groups = answer.groups_of(found.table, cells, found.titles)
    a, b = found.titles
    modes = {group.title for group in groups}
    machines = {str(cell.row.base.hardware) for cell in cells}
    shared = [*(modes if len(modes) == 1 else ()), *(machines if len(machines) == 1 else ())]
    of_all = f" ({' on '.join(shared)})" if shared else ""
    return answer.headline(cells, groups, f"{b} against {a}{of_all}")


def sentence_of(found: ComparedReleases) -> str:
    """The answer with how much was compared and how much recovered, for release notes."""
    total = len(found.table.rows)
    machines = len({row.base.hardware.pk for row in found.table.rows})
    parts = [answer_of(found)]
    if total:
        parts.append(f"{counted(total, 'comparison')} on {counted(machines, 'machine')}")
    if back := len(found.recovered):
        were = "was" if back == 1 else "were"
        parts.append(f"{counted(back, 'loss', 'losses')} in between {were} won back")
    return f"{'; '.join(parts)}."


def notes_of(found: ComparedReleases) -> list[str]:
    """Which revisions stand for the releases, where not their own, and what has no other form."""
    notes = [one.note for one in (found.a, found.b) if one.note]
    if count := _elsewhere(found):
        rows = f"{counted(count, 'comparison')} of other revisions"
        notes.append(f"A report and ministat's text have one revision a side and leave out {rows}")
    return notes


def trades_of(cells: Sequence[answer.Cell]) -> list[str]:
    """For each machine with proven gains and proven losses what was gained there, and what lost."""
    proven: dict[str, list[answer.Cell]] = defaultdict(list)
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


def _named(cells: Sequence[answer.Cell], verdict: Verdict, with_metric: bool) -> str:
    its = [cell for cell in cells if cell.gated == verdict]
    its.sort(key=lambda cell: -abs(cell.judged.percent or 0.0))
    parts = [
        f"{_subject(cell, with_metric)} {percent(cell.judged.percent)} %" for cell in its[:NAMED]
    ]
    more = len(its) - len(parts)
    return ", ".join(parts) + (f" and {more} more" if more else "")


def _subject(cell: answer.Cell, with_metric: bool) -> str:
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
    cells = answer.cells_of(found.table)
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


def _table(found: ComparedReleases, cells: Sequence[answer.Cell]) -> str:
    if not cells:
        return ""
    a, b = map(inline, found.titles)
    head = f"| hardware | mode | {a} | {b} | Δ % [95 %] | verdict |\n|---|---|--:|--:|--:|---|"
    ordered = [cell for line in lines_of(cells) for cell in line.cells]
    ordered.sort(key=lambda cell: cell.gated not in PROVEN)
    series = (row.base.series_id for row in found.table.rows)
    stands = {} if found.asof else stands_by_series(series)
    lines = [_line(cell, stands, with_metric=answer.has_metrics(found.table)) for cell in ordered]
    counts = counts_text(found.table.claims.counts)
    return "\n".join([head, *lines]) + f"\n\n{counts}; {found.table.headline.by_chance}."


def _line(cell: answer.Cell, stands: Mapping[int, Mapping[str, Any]], *, with_metric: bool) -> str:
    base, other, judged = cell.row.base, cell.row.points[cell.index + 1], cell.judged
    subject = _subject(cell, with_metric)
    delta = change_within(judged.percent, judged.low, judged.high)
    levels = [f"{number(one.mean)} ({inline(one.revision.name)})" for one in (base, other)]
    cells = [inline(str(base.hardware)), inline(subject), *levels]
    change = judged.percent, judged.low, judged.high
    verdict = f"{verdict_of(cell)}{today_after(change, stands, base, other)}"
    return f"| {' | '.join([*cells, delta, verdict])} |"


def verdict_of(cell: answer.Cell) -> str:
    """``11.4 % slower``; of what differs by itself alone that it is not proven over the table."""
    text = answer.change_sentence(cell)
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
