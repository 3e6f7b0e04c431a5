"""`/bisects/`: every search for one commit, the running ones first to be chosen."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from webapp.bisects.models import Bisect, BisectDecision
from webapp.bisects.queries import NOT_YET, with_what_is_left
from webapp.pages.parts.links import read_number, with_query
from webapp.results.models import Tree


@dataclass(frozen=True, slots=True)
class BisectLine:
    """A bisect with what it last said."""

    bisect: Bisect
    sentence: str


ROWS = 50
STATES = [("all", "all"), ("running", "running"), *Bisect.State.choices]
TEXT_MAX = 300


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """Bisects by state and tree, newest first."""
    state, tree = _filters(request)
    before = read_number(request.GET.get("before", ""))
    found = Bisect.objects.in_state(state).about(tree=tree)
    if before:
        found = found.filter(pk__lt=before)
    rows = list(found.with_subjects().order_by("-pk")[: ROWS + 1])
    context = {
        "state": state,
        "tree": tree,
        "states": STATES,
        "trees": Tree.objects.all(),
        "lines": lines_of(rows[:ROWS]),
        "older": _older(state, tree, rows[ROWS - 1].pk) if len(rows) > ROWS else "",
        "any": bool(rows) or Bisect.objects.exists(),
    }
    return render(request, "pages/bisects/bisects.html", context)


def _filters(request: HttpRequest) -> tuple[str, str]:
    state = request.GET.get("state", "all")
    tree = request.GET.get("tree", "")[:TEXT_MAX].replace("\0", "")
    return (state if state in dict(STATES) else "all"), tree


def _older(state: str, tree: str, before: int) -> str:
    pairs = [("state", state), ("tree", tree), ("before", str(before))]
    return with_query(reverse("bisects"), [(key, value) for key, value in pairs if value])


def lines_of(bisects: Sequence[Bisect]) -> list[BisectLine]:
    """The lines of ``bisects`` in their order, in one query."""
    if not bisects:
        return []
    rows = BisectDecision.objects.filter(bisect__in=bisects)
    latest = rows.order_by("bisect_id", "-number").distinct("bisect_id")
    sentences = {row.bisect_id: with_what_is_left(row.figures) for row in latest}
    return [BisectLine(one, sentences.get(one.pk, NOT_YET)) for one in bisects]
