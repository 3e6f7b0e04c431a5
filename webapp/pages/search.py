"""`/search/`: anything by what one remembers of its name."""

from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from webapp.search import Asked, find

SHOWN, SUGGESTED = 30, 5
"""Hits of each kind, on the page and under the box."""


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """All hits; the first one at once where the box asks for it (``go``), or where it is alone."""
    asked = Asked.of(request.GET.get("q", ""))
    found = find(asked, SHOWN)
    if found.first and ("go" in request.GET or found.count == 1):
        return redirect(found.first.address)
    return render(request, "pages/search/search.html", {"search_text": asked.text, "found": found})


@require_safe
def suggestions(request: HttpRequest) -> HttpResponse:
    """The list under the search box while one types."""
    asked = Asked.of(request.GET.get("q", ""))
    query = urlencode({"q": asked.text})
    context = {"search_text": asked.text, "query": query, "found": find(asked, SUGGESTED)}
    return render(request, "pages/search/_suggestions.html", context)
