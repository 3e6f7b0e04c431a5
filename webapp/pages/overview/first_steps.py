"""The front page of an empty instance: three steps that tick themselves."""

from contextlib import suppress
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from webapp.labs.models import Agent
from webapp.labs.services import AgentMissing, agent_wheel_name
from webapp.results.models import Revision, Run, Tree

TREES_SHOWN = 3


@require_safe
def progress(request: HttpRequest) -> HttpResponse:
    """The steps, read again and again; once something has arrived, the page is loaded anew."""
    if Run.objects.exists():
        return HttpResponse(headers={"HX-Refresh": "true"})
    return render(request, "pages/_first_steps.html", first_steps(request))


def first_steps(request: HttpRequest) -> dict[str, Any]:
    """Which of the steps are done: the history of trees, and agents that may upload."""
    agents = Agent.objects.order_by("-last_seen_at", "pk")
    return {"known": _known_trees(), "agent": agents.first(), "wheel": _wheel(request)}


def _wheel(request: HttpRequest) -> str:
    """What pip installs the agent from; a folder where this instance has no wheel of it."""
    with suppress(AgentMissing):
        return request.build_absolute_uri(reverse("agent_file", args=[agent_wheel_name()]))
    return "./agents"


def _known_trees() -> list[dict[str, Any]]:
    """Trees whose history was imported, how much of it, and the newest revision."""
    found = []
    for tree in Tree.objects.filter(revisions__isnull=False).distinct()[:TREES_SHOWN]:
        placed = Revision.objects.of_tree(tree).placed()
        newest = placed.order_by("-position").first()
        found.append({"tree": tree, "revisions": placed.count(), "newest": newest})
    return found
