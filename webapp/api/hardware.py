"""Hardware, and who one is."""

from typing import Any

from django.http import HttpRequest
from django.utils import timezone
from ninja import Router, Status

from webapp.api.schemas.errors import ErrorOut
from webapp.api.schemas.hardware import HardwareIn, HardwareList, HardwareOut, WhoOut
from webapp.labs.models import Token
from webapp.results.models import Hardware
from webapp.results.services import register_hardware

router = Router(tags=["hardware"])


def _out(hardware: Hardware) -> dict[str, Any]:
    return {
        "name": hardware.name,
        "lab": hardware.lab.name,
        "description": hardware.description,
        "facts": hardware.facts,
    }


@router.get("/hardware", response=HardwareList, auth=None, summary="All hardware")
def list_hardware(request: HttpRequest) -> Any:
    """All hardware that labs registered, with the lab that owns it."""
    return {"hardware": [_out(row) for row in Hardware.objects.select_related("lab")]}


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
