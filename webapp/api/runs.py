"""Upload runs; and sessions: which runs of a revision were measured together."""

from datetime import datetime
from typing import Any, Literal

from django.http import HttpRequest, HttpResponse
from ninja import Query, Router, Schema, Status
from pydantic import Field

from webapp.analysis import services
from webapp.api.prometheus import count_runs
from webapp.api.requests import Page, csv_of
from webapp.api.schemas.runs import BatchIn, RecordedOut, recorded_out
from webapp.api.schemas.types import REFUSALS, Asked, ErrorOut
from webapp.labs.models import Token
from webapp.results.models import Revision
from webapp.results.queries import Session, newest_sessions

router = Router(tags=["runs"])
sessions_router = Router(tags=["sessions"])


class Flags(Schema):
    """How an upload is to be taken."""

    register_hardware: bool = Field(
        False, alias="register", description="Add hardware that is not known."
    )
    history: bool = Field(False, description="Nobody is to be mailed about these runs.")
    replace: bool = Field(False, description="Other content takes the place of a stored run.")


@router.post(
    "",
    response={200: RecordedOut, 201: RecordedOut, 400: ErrorOut, **REFUSALS},
    summary="Store one run or a batch of up to 500, whole or not at all",
    openapi_extra={
        "requestBody": {
            "content": {
                "application/json": {
                    "schema": {
                        "anyOf": [
                            {"$ref": "#/components/schemas/BatchIn"},
                            {"$ref": "#/components/schemas/RunIn"},
                        ]
                    }
                }
            }
        }
    },
)
def upload(request: HttpRequest, batch: BatchIn, flags: Query[Flags]) -> Any:
    """Send `{"runs": […]}`, or a lone run. Sending a run twice stores it once.

    201: something new was stored. 200: everything was there already.
    """
    token: Token = request.auth  # type: ignore[attr-defined]
    runs = [run.document() for run in batch.runs]
    recorded = services.store_runs(
        agent=token.agent,
        runs=runs,
        register=flags.register_hardware,
        history=flags.history,
        replace=flags.replace,
    )
    count_runs(batch.runs, recorded)
    status = 201 if recorded.stored or recorded.replaced else 200
    return Status(status, recorded_out(batch.runs, recorded))


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


COLUMNS = tuple(SessionOut.model_fields)


class Wanted(Page):
    """Which sessions; a part left out means all."""

    tree: Asked = ""
    revision: Asked = ""
    hardware: Asked = ""


@sessions_router.get(
    "/sessions",
    operation_id="webapp_api_sessions_list_sessions",
    response={200: SessionList, 422: ErrorOut},
    summary="What was measured together, the newest run first",
)
def list_sessions(request: HttpRequest, wanted: Query[Wanted]) -> Any:
    """One page; `next` is the `before` of the page that follows, null on the last. Runs that name
    no session are in none."""
    shown, following = _page_of_sessions(wanted)
    return {"sessions": [one._asdict() for one in shown], "next": following}


@sessions_router.get(
    "/sessions.csv",
    operation_id="webapp_api_sessions_sessions_csv",
    response={200: None, 422: ErrorOut},
    summary="What was measured together, as CSV",
)
def sessions_csv(request: HttpRequest, wanted: Query[Wanted]) -> HttpResponse:
    """A row a session: the same page of them as in JSON; builds are separated by `; `."""
    shown, _ = _page_of_sessions(wanted)
    rows = (one._asdict() | {"builds": "; ".join(one.builds)} for one in shown)
    return csv_of("sessions.csv", COLUMNS, rows)


def _page_of_sessions(wanted: Wanted) -> tuple[list[Session], int | None]:
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
