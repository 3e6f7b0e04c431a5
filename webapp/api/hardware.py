"""Hardware, and who one is."""

from datetime import datetime
from typing import Annotated, Any

from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from ninja import Router, Schema, Status
from pydantic import Field

from webapp.api.requests import csv_of
from webapp.api.schemas.types import ErrorOut, Facts, HardwareName, Strict, Text
from webapp.labs.models import Token
from webapp.results.models import Hardware, HardwareFact
from webapp.results.services import register_hardware


class HardwareIn(Strict):
    """A machine to be registered by the lab of the token."""

    name: HardwareName
    description: Annotated[Text, Field(max_length=2000)] = ""
    facts: Facts = {}


class HardwareOut(Schema):
    """A machine, and the lab that owns it."""

    name: str
    lab: str
    display_name: str = Field(description="What people call it.")
    cpu: str
    nic: str
    description: str
    facts: dict[str, Any]


class HardwareList(Schema):
    """All hardware by name."""

    hardware: list[HardwareOut]


class FactOut(Schema):
    """One value of a fact, from the first run that states it to the last."""

    name: str
    value: str
    source: str = Field(description="measured, or typed by a person")
    first_seen: datetime
    last_seen: datetime
    is_newest: bool = Field(description="Whether it is the newest value of its fact.")


class FactsOut(Schema):
    """Facts of a machine by name, the newest value of each first."""

    hardware: str
    facts: list[FactOut]


class WhoOut(Schema):
    """Who asks, and the server's time."""

    agent: str
    lab: str
    time: datetime


router = Router(tags=["hardware"])
COLUMNS = ("name", "lab", "display_name", "cpu", "nic", "description")
FACT_COLUMNS = tuple(FactOut.model_fields)


def _all() -> QuerySet[Hardware]:
    return Hardware.objects.select_related("lab")


def _facts_of(name: str) -> tuple[Hardware, list[dict[str, Any]]]:
    """A machine, by its present or a former name, and its facts."""
    machine = Hardware.objects.filter(Q(name=name) | Q(aliases__name=name)).first()
    if machine is None:
        raise Http404(f"there is no hardware {name!r}")
    rows = HardwareFact.objects.filter(hardware=machine)
    found: list[dict[str, Any]] = []
    for row in rows.order_by("name", "source", "-first_seen", "-value"):
        is_first = not found or (found[-1]["name"], found[-1]["source"]) != (row.name, row.source)
        same = {column: getattr(row, column) for column in FACT_COLUMNS if column != "is_newest"}
        found.append(same | {"is_newest": is_first})
    return machine, found


def _out(hardware: Hardware) -> dict[str, Any]:
    return {
        "name": hardware.name,
        "lab": hardware.lab.name,
        "display_name": str(hardware),
        "cpu": hardware.shown_cpu,
        "nic": hardware.shown_nic,
        "description": hardware.description,
        "facts": hardware.facts,
    }


@router.get("/hardware", response=HardwareList, auth=None, summary="All hardware")
def list_hardware(request: HttpRequest) -> Any:
    """All hardware that labs registered, with the lab that owns it."""
    return {"hardware": [_out(row) for row in _all()]}


@router.get("/hardware.csv", response={200: None}, auth=None, summary="All hardware, as CSV")
def hardware_csv(request: HttpRequest) -> HttpResponse:
    """A row a machine, without its facts."""
    return csv_of("hardware.csv", COLUMNS, map(_out, _all()))


@router.get(
    "/hardware/{path:name}/facts",
    response={200: FactsOut, 404: ErrorOut},
    auth=None,
    summary="What is known of a machine, and since when",
)
def hardware_facts(request: HttpRequest, name: str) -> Any:
    """Every value that its runs stated, with the first run and the last that did."""
    machine, facts = _facts_of(name)
    return {"hardware": machine.name, "facts": facts}


@router.get(
    "/hardware/{path:name}/facts.csv",
    response={200: None, 404: ErrorOut},
    auth=None,
    summary="What is known of a machine, as CSV",
)
def hardware_facts_csv(request: HttpRequest, name: str) -> HttpResponse:
    """A row a value. A text that a spreadsheet would take for a formula has `'` before it."""
    _, facts = _facts_of(name)
    return csv_of("facts.csv", FACT_COLUMNS, facts)


@router.post(
    "/hardware",
    response={
        200: HardwareOut,
        201: HardwareOut,
        400: ErrorOut,
        401: ErrorOut,
        403: ErrorOut,
        413: ErrorOut,
        422: ErrorOut,
        429: ErrorOut,
    },
    summary="Register hardware for the token's lab",
)
def add_hardware(request: HttpRequest, hardware: HardwareIn) -> Any:
    """201: it is new. 200: it was registered already and is left as it was."""
    token: Token = request.auth  # type: ignore[attr-defined]
    row, created = register_hardware(
        lab=token.agent.lab,
        name=hardware.name,
        description=hardware.description,
        facts=hardware.facts,
    )
    return Status(201 if created else 200, _out(row))


@router.get(
    "/whoami",
    response={200: WhoOut, 401: ErrorOut, 429: ErrorOut},
    summary="The agent of a token, and the time here",
)
def whoami(request: HttpRequest) -> Any:
    """The agent and the lab of the token, and the server's time: to compare clocks by."""
    token: Token = request.auth  # type: ignore[attr-defined]
    return {"agent": token.agent.name, "lab": token.agent.lab.name, "time": timezone.now()}
