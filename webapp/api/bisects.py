"""Bisects with their evidence and decisions."""

from typing import Any, Literal

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Query, Router, Schema
from pydantic import Field

from webapp.api.bisect_schemas import BisectDetail, BisectList
from webapp.api.schemas import Asked, ErrorOut
from webapp.api.series import ID_MAX
from webapp.bisects.document import detail_document, summary_document
from webapp.bisects.models import Bisect
from webapp.bisects.standing import standing_of

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


class Wanted(Schema):
    """Which bisects; a part left out means all. `state=running` is every state but the last two."""

    state: StateIn = ""
    tree: Asked = ""
    hardware: Asked = ""
    alert: int = Field(0, ge=0, le=ID_MAX, description="The number of an alert; 0: any.")
    before: int = Field(ID_MAX, ge=0, le=ID_MAX, description="Only numbers smaller than this.")
    limit: int = Field(100, ge=1, le=1000)


@router.get("/bisects", response={200: BisectList, 422: ErrorOut}, summary="Bisects, newest first")
def list_bisects(request: HttpRequest, wanted: Query[Wanted]) -> Any:
    found = Bisect.objects.in_state(wanted.state or "all").about(
        tree=wanted.tree, hardware=wanted.hardware, alert=wanted.alert
    )
    ordered = found.filter(pk__lt=wanted.before).with_subjects().order_by("-pk")
    rows = list(ordered[: wanted.limit + 1])
    shown = rows[: wanted.limit]
    return {
        "bisects": [summary_document(row) for row in shown],
        "next": shown[-1].pk if len(rows) > wanted.limit else None,
    }


@router.get(
    "/bisects/{number}",
    response={200: BisectDetail, 404: ErrorOut, 422: ErrorOut},
    summary="A bisect with its evidence, decisions and acts",
)
def one_bisect(request: HttpRequest, number: int) -> Any:
    found = Bisect.objects.with_subjects()
    bisect = get_object_or_404(found, pk=max(-1, min(number, ID_MAX)))
    return detail_document(standing_of(bisect))
