"""Events of labs."""

from datetime import datetime
from typing import Annotated, Any, Literal

from django.http import HttpRequest, HttpResponse
from ninja import Query, Router, Schema, Status
from pydantic import Field

from webapp.accounts.models import User
from webapp.api.requests import AgentToken, OperatorSession, Page, csv_of, named, newest, same
from webapp.api.schemas import types
from webapp.events.models import TEXT_MAX, LabEvent
from webapp.events.services import EventFields, EventNames, event_fields, record_event
from webapp.labs.models import Lab
from webapp.results.services import Forbidden, Problem

KindIn = Literal["hardware", "firmware", "network", "software", "power", "other", "note"]


class EventIn(types.Strict):
    """What happened: to hardware, a whole lab, or everything measured of a tree. Either
    `happened_at` or `first` (and `last`) of `tree`."""

    kind: KindIn
    text: Annotated[types.Text, Field(min_length=1, max_length=TEXT_MAX)]
    hardware: types.HardwareName | None = None
    lab: Annotated[types.Line, Field(min_length=1, max_length=100)] | None = None
    tree: types.Name | None = None
    happened_at: types.Moment | None = None
    first: types.RevisionName | None = None
    last: types.RevisionName | None = None
    begins_epoch: Annotated[bool, Field(strict=True)] = False
    external_id: Annotated[types.Line, Field(max_length=100)] = ""

    def names(self) -> EventNames:
        """What the service takes."""
        return EventNames(
            kind=self.kind,
            text=self.text,
            hardware=self.hardware or "",
            lab=self.lab or "",
            tree=self.tree or "",
            happened_at=self.happened_at,
            first=self.first or "",
            last=self.last or "",
            begins_epoch=self.begins_epoch,
        )


class EventOut(Schema):
    """An event; ``withdrawn_at`` is null while it counts."""

    number: int
    url: str
    kind: str
    text: str
    hardware: str | None
    lab: str | None
    tree: str | None
    happened_at: datetime | None
    first: str | None
    last: str | None
    begins_epoch: bool
    source: str
    external_id: str
    author: str
    created_at: datetime
    edited_at: datetime | None
    withdrawn_at: datetime | None
    withdrawn_reason: str


class EventList(Schema):
    """The last recorded first; ``next`` is the ``before`` of the next page, null on the last."""

    events: list[EventOut]
    next: int | None


router = Router(tags=["events"])
COLUMNS = tuple(EventOut.model_fields)


class Wanted(Page):
    """Which events; a part left out means all."""

    tree: types.Asked = ""
    hardware: types.Asked = ""
    withdrawn: bool = Field(False, description="With those that somebody withdrew.")


@router.get(
    "/events",
    response={200: EventList, 422: types.ErrorOut},
    summary="Events of the labs, the last recorded first",
)
def list_events(request: HttpRequest, wanted: Query[Wanted]) -> Any:
    """One page; `next` is the `before` of the page that follows, null on the last."""
    shown, following = _page(wanted)
    return {"events": [event_out(row) for row in shown], "next": following}


@router.get(
    "/events.csv", response={200: None, 422: types.ErrorOut}, summary="Events of the labs, as CSV"
)
def events_csv(request: HttpRequest, wanted: Query[Wanted]) -> HttpResponse:
    """A row an event: the same page of them as in JSON. A text that a spreadsheet would take for a
    formula has `'` before it."""
    shown, _ = _page(wanted)
    return csv_of("events.csv", COLUMNS, map(event_out, shown))


@router.post(
    "/events",
    auth=[AgentToken(), OperatorSession()],
    response={200: EventOut, 201: EventOut, 400: types.ErrorOut, **types.REFUSALS},
    summary="Record an event",
)
def add_event(request: HttpRequest, event: EventIn) -> Any:
    """With an agent's token, of the agent's lab and its hardware; an operator who is signed in
    records any. 200: the agent sent this `external_id` before; the answer is what is stored.
    """
    fields = event_fields(event.names())
    who = request.auth  # type: ignore[attr-defined]
    if not isinstance(who, User):
        _check_lab(fields, who.agent.lab)
    row, is_new = record_event(
        fields=fields,
        source=LabEvent.Source.API,
        external_id=event.external_id,
        agent=None if isinstance(who, User) else who.agent,
        created_by=who if isinstance(who, User) else None,
    )
    stored = LabEvent.objects.named().get(pk=row.pk)
    return Status(201 if is_new else 200, event_out(stored))


def _check_lab(fields: EventFields, lab: Lab) -> None:
    if fields.hardware is not None and fields.hardware.lab_id != lab.pk:
        message = f"{fields.hardware.name} belongs to another lab than this token"
        raise Forbidden([Problem("hardware", message)])
    if fields.hardware is None and (fields.lab is None or fields.lab.pk != lab.pk):
        message = f"name hardware of {lab}, or that lab: this token speaks for no other"
        raise Forbidden([Problem("lab", message)])


def _page(wanted: Wanted) -> tuple[list[LabEvent], int | None]:
    found = LabEvent.objects.about(tree=wanted.tree, hardware=wanted.hardware)
    return newest((found if wanted.withdrawn else found.in_force()).named(), wanted)


def event_out(event: LabEvent) -> dict[str, Any]:
    """An event as the API shows it. Needs what it names loaded."""
    return {
        "number": event.pk,
        "url": event.get_absolute_url(),
        "author": event.author,
        **named(event, "hardware", "lab", "tree", "first", "last"),
        **same(event, "kind", "text", "happened_at", "begins_epoch", "source", "external_id"),
        **same(event, "created_at", "edited_at", "withdrawn_at", "withdrawn_reason"),
    }
