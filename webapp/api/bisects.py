"""Bisects with their evidence and decisions."""

from typing import Any, Literal

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Query, Router
from pydantic import Field

from webapp.api.schemas.bisects import BisectDetail, BisectList
from webapp.api.schemas.types import Asked, ErrorOut
from webapp.api.tables import ID_MAX, Page, bounded, newest
from webapp.bisects.models import Bisect
from webapp.bisects.queries import detail_document, summary_document, view_of

router = Router(tags=["bisects"])
StateIn = Literal[
    "",
    "all",
    "running",
    "queued",
    "validating",
    "searching",
    "confirming",
    "done",
    "paused",
    "starved",
    "cancelled",
]


class Wanted(Page):
    """Which bisects; a part left out means all. `state=running` is every state but the last two."""

    state: StateIn = ""
    tree: Asked = ""
    hardware: Asked = ""
    alert: int = Field(0, ge=0, le=ID_MAX, description="The number of an alert; 0: any.")


@router.get("/bisects", response={200: BisectList, 422: ErrorOut}, summary="Bisects, newest first")
def list_bisects(request: HttpRequest, wanted: Query[Wanted]) -> Any:
    """One page; `next` is the `before` of the page that follows, null on the last."""
    found = Bisect.objects.in_state(wanted.state or "all").about(
        tree=wanted.tree, hardware=wanted.hardware, alert=wanted.alert
    )
    shown, following = newest(found.with_subjects(), wanted)
    return {
        "bisects": [summary_document(row) for row in shown],
        "next": following,
    }


@router.get(
    "/bisects/{number}",
    response={200: BisectDetail, 404: ErrorOut, 422: ErrorOut},
    summary="A bisect with its evidence, decisions and acts",
)
def one_bisect(request: HttpRequest, number: int) -> Any:
    """With the boots, the decisions and the acts, each in their order."""
    found = Bisect.objects.with_subjects()
    bisect = get_object_or_404(found, pk=bounded(number))
    return detail_document(view_of(bisect))
