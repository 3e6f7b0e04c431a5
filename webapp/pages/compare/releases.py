"""`/releases/A...B/`: two releases, what recovered and what was traded between them, and alerts."""

from datetime import datetime

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from webapp.alerts.queries import ComparedReleases, compare_releases
from webapp.analysis.queries import PAIR_MARK, SideError, moment_of, release_pair
from webapp.pages.compare import compare
from webapp.pages.compare.answer import cells_of
from webapp.pages.compare.release_report import (
    NO_ALERT,
    OTHER_TREES,
    alert_lines,
    answer_of,
    as_markdown,
    notes_of,
    recovered_lines,
    sentence_of,
    trades_of,
)
from webapp.pages.compare.report import not_compared
from webapp.pages.compare.start import start
from webapp.pages.parts.links import releases_link, with_query

BAD_REQUEST = 400
LONGEST = 400
"""Characters of a name."""


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
    # A report has one revision a side.
    can_keep = context["can_keep"] and any(
        tuple(one.revision for one in row.points) == found.table.revisions
        for row in found.table.rows
    )
    context |= _context(found, pair) | {"can_keep": can_keep}
    return compare.rendered(request, "pages/compare/releases.html", context)


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
        "trades": trades_of(cells_of(found.table)),
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
