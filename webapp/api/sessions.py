"""Sessions: which runs of a revision were measured together."""

from datetime import datetime
from typing import Any, Literal

from django.http import HttpRequest, HttpResponse
from ninja import Query, Router, Schema
from pydantic import Field

from webapp.api.requests import Page, csv_of
from webapp.api.schemas.types import Asked, ErrorOut
from webapp.results.models import Revision
from webapp.results.queries import Session, newest_sessions


class SessionOut(Schema):
    """Runs of one revision on one machine that name one session."""

    number: int = Field(description="Grows with its newest run; what `before` goes by.")
    name: str
    tree: str
    revision: str
    hardware: str
    source: Literal["explicit", "directory"] = Field(
        description="explicit: the uploader named it; directory: its runs lay in one directory."
    )
    builds: list[str]
    runs: int
    withdrawn: int = Field(description="Runs that do not count, those that wait included.")
    first: datetime = Field(description="When its first run was measured, else received.")
    last: datetime


class SessionList(Schema):
    """A page of sessions, and where the next begins."""

    sessions: list[SessionOut]
    next: int | None


router = Router(tags=["sessions"])
COLUMNS = tuple(SessionOut.model_fields)


class Wanted(Page):
    """Which sessions; a part left out means all."""

    tree: Asked = ""
    revision: Asked = ""
    hardware: Asked = ""


@router.get(
    "/sessions",
    response={200: SessionList, 422: ErrorOut},
    summary="What was measured together, the newest run first",
)
def list_sessions(request: HttpRequest, wanted: Query[Wanted]) -> Any:
    """One page; `next` is the `before` of the page that follows, null on the last. Runs that name
    no session are in none."""
    shown, following = _page(wanted)
    return {"sessions": [one._asdict() for one in shown], "next": following}


@router.get(
    "/sessions.csv",
    response={200: None, 422: ErrorOut},
    summary="What was measured together, as CSV",
)
def sessions_csv(request: HttpRequest, wanted: Query[Wanted]) -> HttpResponse:
    """A row a session: the same page of them as in JSON; builds are separated by `; `."""
    shown, _ = _page(wanted)
    rows = (one._asdict() | {"builds": "; ".join(one.builds)} for one in shown)
    return csv_of("sessions.csv", COLUMNS, rows)


def _page(wanted: Wanted) -> tuple[list[Session], int | None]:
    revisions = None
    if wanted.revision:
        named = Revision.objects.named_anywhere(wanted.revision)
        if wanted.tree:
            named = named.filter(tree__name=wanted.tree)
        revisions = [one.pk for one in named]
    rows = newest_sessions(
        tree=wanted.tree,
        hardware=wanted.hardware,
        revisions=revisions,
        before=wanted.before,
        most=wanted.limit + 1,
    )
    shown = rows[: wanted.limit]
    return shown, shown[-1].number if len(rows) > wanted.limit else None
