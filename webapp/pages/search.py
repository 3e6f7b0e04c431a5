"""`/search/`: a revision, hardware or mode by what one remembers of its name."""

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from webapp.pages.links import with_query
from webapp.results.models import Hardware, Mode, Revision

LONGEST = 200
SHOWN = 30
SUGGESTED = 8


@dataclass(frozen=True, slots=True)
class Hit:
    """One thing that was found, and its page."""

    kind: str
    label: str
    detail: str
    address: str


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """The only hit at once, else all of them."""
    wanted = _wanted(request)
    hits = find(wanted, SHOWN)
    if len(hits) == 1:
        return redirect(hits[0].address)
    return render(request, "pages/search.html", {"search_text": wanted, "hits": hits})


@require_safe
def suggestions(request: HttpRequest) -> HttpResponse:
    """A list under the search box while one types."""
    hits = find(_wanted(request), SUGGESTED)
    return render(request, "pages/_suggestions.html", {"hits": hits})


def find(wanted: str, limit: int) -> list[Hit]:
    """What ``wanted`` names: revisions exactly, hardware and modes by a part of the name.

    A whole name of hardware or a mode wins over the names that merely hold it.
    """
    if not wanted:
        return []
    revisions = [_revision(row) for row in Revision.objects.named_anywhere(wanted)[:limit]]
    hardware = [_hardware(row) for row in Hardware.objects.matching(wanted)[:limit]]
    modes = [_mode(row) for row in Mode.objects.matching(wanted)[:limit]]
    named = [*hardware, *modes]
    exact = [hit for hit in named if hit.label == wanted]
    return [*revisions, *(exact or named)][:limit]


def _wanted(request: HttpRequest) -> str:
    return request.GET.get("q", "").replace("\0", "").strip()[:LONGEST]


def _revision(row: Revision) -> Hit:
    detail = " ".join(filter(None, [row.tree.name, row.subject]))
    return Hit("commit", row.name, detail, row.get_absolute_url())


def _hardware(row: Hardware) -> Hit:
    return Hit("hardware", row.name, "", row.get_absolute_url())


def _mode(row: Mode) -> Hit:
    return Hit("mode", row.name, "", with_query(reverse("trends"), [("mode", row.name)]))
