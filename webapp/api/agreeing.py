"""Agreeing candidates: what several series of one commit show together."""

from typing import Any

from django.http import HttpRequest
from ninja import Query, Router, Schema

from webapp.alerts.models import Agreement
from webapp.api.schemas.agreeing import AgreeingList
from webapp.api.schemas.errors import ErrorOut
from webapp.api.schemas.types import Asked

router = Router(tags=["alerts"])
MOST = 500


class Chosen(Schema):
    """Of which tree; left out means all."""

    tree: Asked = ""


@router.get("/agreeing", response={200: AgreeingList, 422: ErrorOut}, summary="Agreeing candidates")
def list_agreeing(request: HttpRequest, chosen: Query[Chosen]) -> Any:
    """What is shown at present, the last along each tree first; nobody is mailed about it."""
    rows = Agreement.objects.shown().select_related("tree", "after", "likeliest", "last")
    if chosen.tree:
        rows = rows.filter(tree__name=chosen.tree)
    ordered = rows.order_by("tree__name", "-likeliest__position", "pk")
    return {"agreeing": [_out(row) for row in ordered[:MOST]]}


def _out(row: Agreement) -> dict[str, Any]:
    return {
        "tree": row.tree.name,
        "after": row.after.name,
        "likeliest": row.likeliest.name,
        "last": row.last.name,
        "chance": row.here,
        "verdict": row.verdict,
        "series": row.series,
        "received": row.received,
        "machines": row.machines,
        "received_machines": row.received_machines,
        "change_percent": row.change_pct,
        "false_share": row.false_share,
    }
