"""`/commits/<tree>/`: the commits of a tree, newest first, and what each did."""

from collections.abc import Sequence

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from webapp.alerts.queries import with_agreeing
from webapp.events.models import Release
from webapp.pages.links import with_query
from webapp.pages.summaries import summarise
from webapp.results.models import Revision, Tree

ROWS = 50
RELEASES_SHOWN = 50


@require_safe
def page(request: HttpRequest, tree: str) -> HttpResponse:
    """The commits of a tree, newest first: those measured, or with `all=1` every one."""
    found = get_object_or_404(Tree, name=tree)
    untested_too = request.GET.get("all") == "1"
    start = _position(request.GET.get("before", ""))
    rows = _rows(found, untested_too=untested_too, before=start)
    context = {
        "tree": found,
        "trees": Tree.objects.all(),
        "commits": summarise(rows[:ROWS]),
        "untested_too": untested_too,
        "is_first_page": start is None,
        "releases": Release.objects.of_tree(found)[:RELEASES_SHOWN],
        "older": _older(rows, untested_too=untested_too),
    }
    return render(request, "pages/commits.html", context)


def _rows(tree: Tree, *, untested_too: bool, before: int | None) -> list[Revision]:
    """One more than a page holds, to know whether there are older ones."""
    found = with_agreeing(Revision.objects.of_tree(tree))
    rows = found.placed().select_related("tree").order_by("-position")
    if not untested_too:
        rows = rows.tested()
    if before is not None:
        rows = rows.filter(position__lt=before)
    return list(rows[: ROWS + 1])


def _older(rows: Sequence[Revision], *, untested_too: bool) -> str:
    """The address of the next page, empty on the last one."""
    if len(rows) <= ROWS:
        return ""
    pairs = [("before", str(rows[ROWS - 1].position)), *([("all", "1")] if untested_too else [])]
    return with_query("", pairs)


def _position(text: str) -> int | None:
    return int(text[:18]) if text.isascii() and text.isdigit() else None
