"""Canaries of machines."""

from datetime import datetime
from typing import Annotated, Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from ninja import Query, Router, Schema, Status
from pydantic import Field

from webapp.api.requests import OperatorSession, Page, bounded, csv_response, named, newest
from webapp.api.schemas import types
from webapp.events.models import Canary
from webapp.events.queries import WatchedCanary, watch
from webapp.events.services import CanaryNames, canary_of, create_canary
from webapp.results.models import NAME_MAX


class CanaryIn(types.Strict):
    """A fixed kernel that a machine is to measure again and again."""

    tree: types.Name
    revision: types.RevisionName
    hardware: types.HardwareName
    mode: Annotated[types.Line, Field(min_length=1, max_length=NAME_MAX)]
    metric: types.Name
    interval_days: Annotated[int, Field(strict=True, ge=1, le=365)] = 1
    boots: Annotated[int, Field(strict=True, ge=1, le=20)] = 2


class LimitsOut(Schema):
    """In the metric's unit; ``boots`` is of how many they were learnt."""

    low: float
    centre: float
    high: float
    boots: int


class CanaryOut(Schema):
    """A canary, and where it stands: `limits` is null while boots are too few. `left_at` is
    when it was seen that it left them; null: it has not, or came back."""

    number: int
    url: str
    tree: str
    revision: str
    hardware: str
    mode: str
    metric: str
    unit: str
    interval_days: int
    boots_each_time: int
    active: bool
    boots: int
    limits: LimitsOut | None
    left_at: datetime | None


class CanaryList(Schema):
    """The newest first; ``next`` is the ``before`` of the next page, null on the last."""

    canaries: list[CanaryOut]
    next: int | None


class CanaryDetail(CanaryOut):
    """With a column each for its boots, in the order of time. ``side`` is 1 above the limits that
    were in force, -1 below them, 0 within."""

    measured_at: list[datetime]
    value: list[float]
    samples: list[int]
    side: list[int]


router = Router(tags=["canaries"])
COLUMNS = ("measured_at", "value", "samples", "side")


class Wanted(Page):
    """Which canaries; without hardware those of all."""

    hardware: types.Asked = ""


@router.get(
    "/canaries", response={200: CanaryList, 422: types.ErrorOut}, summary="Canaries, newest first"
)
def list_canaries(request: HttpRequest, wanted: Query[Wanted]) -> Any:
    """One page; `next` is the `before` of the page that follows, null on the last."""
    found = Canary.objects.named()
    if wanted.hardware:
        found = found.filter(hardware__name=wanted.hardware)
    shown, following = newest(found, wanted)
    return {"canaries": [_out(one) for one in watch(shown)], "next": following}


@router.post(
    "/canaries",
    auth=OperatorSession(),
    response={200: CanaryOut, 201: CanaryOut, 400: types.ErrorOut, **types.REFUSALS},
    summary="Have a machine measure a fixed kernel again and again",
)
def add_canary(request: HttpRequest, canary: CanaryIn) -> Any:
    """For operators who are signed in. 200: an active one measures the same, and stays as it is."""
    wanted = canary_of(CanaryNames(**canary.model_dump()))
    user = request.auth  # type: ignore[attr-defined]
    row, is_new = create_canary(wanted=wanted, created_by=user)
    (watched,) = watch([row])
    return Status(201 if is_new else 200, _out(watched))


@router.get(
    "/canaries/{number}",
    response={200: CanaryDetail, 404: types.ErrorOut, 422: types.ErrorOut},
    summary="A canary with its boots",
)
def one_canary(request: HttpRequest, number: int) -> Any:
    """Its boots in the order of time, as columns of equal length."""
    watched = _watched(number)
    return {**_out(watched), **_columns(watched)}


@router.get(
    "/canaries/{number}/values.csv",
    response={200: None, 404: types.ErrorOut, 422: types.ErrorOut},
    summary="The boots of a canary, as CSV",
)
def canary_values_csv(request: HttpRequest, number: int) -> HttpResponse:
    """A row a boot, in the order of time."""
    columns = _columns(_watched(number))
    rows = zip(*(columns[name] for name in COLUMNS), strict=True)
    return csv_response(f"canary-{number}.csv", COLUMNS, rows)


def _watched(number: int) -> WatchedCanary:
    return watch([get_object_or_404(Canary.objects.named(), pk=bounded(number))])[0]


def _columns(watched: WatchedCanary) -> dict[str, list[Any]]:
    return {
        "measured_at": [boot.at for boot in watched.boots],
        "value": [boot.value for boot in watched.boots],
        "samples": [boot.samples for boot in watched.boots],
        "side": list(watched.chart.sides),
    }


def _out(watched: WatchedCanary) -> dict[str, Any]:
    canary, limits = watched.canary, watched.chart.limits
    return {
        "number": canary.pk,
        "url": canary.get_absolute_url(),
        "tree": canary.revision.tree.name,
        **named(canary, "revision", "hardware", "mode", "metric"),
        "unit": canary.metric.unit,
        "interval_days": canary.interval_days,
        "boots_each_time": canary.boots,
        "active": canary.is_active,
        "boots": len(watched.boots),
        "limits": limits,
        "left_at": watched.left_at,
    }
