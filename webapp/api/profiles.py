"""Profiles of runs: send one, list them; what functions cost over the revisions of a tree."""

from math import isfinite
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest
from django.urls import reverse
from ninja import Query, Router, Schema, Status
from pydantic import Field

from webapp.analysis.queries import (
    AskedFunctions,
    FunctionHistory,
    function_history,
    stored_profiles,
)
from webapp.api.auth import AgentToken
from webapp.api.runs import REFUSALS
from webapp.api.schemas.profiles import FunctionsOut, ProfileIn, ProfileList, ProfileStored
from webapp.api.schemas.types import Asked, ErrorOut
from webapp.labs.models import Token
from webapp.outbox.services import absolute
from webapp.results import services
from webapp.results.models import Profile, Run
from webapp.stats.changes import Change
from webapp.stats.profiles.function_series import FunctionSeries

router = Router(tags=["profiles"])
functions_router = Router(tags=["profiles"])


class Costs(Schema):
    """Of which functions, and where."""

    tree: Asked
    hardware: Asked
    mode: Asked
    variant: Asked = ""
    fn: list[Asked] = Field(
        [], description="`name@module`, or `name`. Without any: those that changed."
    )
    calls: bool = Field(False, description="With all that a function calls.")


@router.post(
    "/{uuid}/profiles",
    auth=AgentToken(),
    response={200: ProfileStored, 201: ProfileStored, 400: ErrorOut, 404: ErrorOut, **REFUSALS},
    summary="Store a profile of a run",
)
def upload_profile(request: HttpRequest, uuid: UUID, profile: ProfileIn) -> Any:
    """201: it was stored. 200: this call tree of this event is there already. Idempotent."""
    token: Token = request.auth  # type: ignore[attr-defined]
    stored, is_new = services.store_profile(
        agent=token.agent, uuid=uuid, document=profile.document()
    )
    status = "stored" if is_new else "known"
    return Status(201 if is_new else 200, {"status": status, "profile": profile_out(stored, uuid)})


@router.get(
    "/{uuid}/profiles",
    response={200: ProfileList, 404: ErrorOut, 422: ErrorOut},
    summary="The profiles of a run",
)
def list_profiles(request: HttpRequest, uuid: UUID) -> Any:
    """In the order of their iterations, without their call trees."""
    run = Run.objects.current().filter(uuid=uuid).first()
    if run is None:
        raise Http404(f"no run {uuid} is stored")
    found = Profile.objects.filter(run=run).without_calls()
    return {"profiles": [profile_out(one, uuid) for one in found]}


def profile_out(profile: Profile, run: UUID) -> dict[str, Any]:
    """A profile of run ``run`` without its call tree."""
    same = ("name", "format", "event", "iteration", "boot", "samples", "announced")
    more = ("unsymbolized", "pps", "cores", "event_rate", "warnings", "received_at")
    return {
        "id": profile.pk,
        "run": run,
        "truncated": profile.is_truncated,
        "url": absolute(profile.get_absolute_url()),
        "folded": absolute(reverse("profile_folded", args=[profile.pk])),
        **{name: getattr(profile, name) for name in (*same, *more)},
    }


@functions_router.get(
    "/profiles/functions",
    response={200: FunctionsOut, 422: ErrorOut},
    summary="What functions cost per packet over the revisions of a tree",
)
def list_functions(request: HttpRequest, costs: Query[Costs]) -> Any:
    """Columns along the tree, an entry each revision of which a cost can be claimed."""
    functions = tuple(dict.fromkeys(costs.fn))
    asked = AskedFunctions(
        costs.tree, costs.hardware, costs.mode, costs.variant, functions, costs.calls
    )
    return functions_out(function_history(asked, stored_profiles(asked)))


def functions_out(history: FunctionHistory) -> dict[str, Any]:
    """The series of functions as the API shows them."""
    asked, costs = history.asked, history.costs
    return {
        **{name: getattr(asked, name) for name in ("tree", "hardware", "mode", "variant")},
        "with_calls": asked.with_calls,
        "unit": history.unit,
        "revision": costs.labels,
        "position": costs.positions,
        "left_out": [{"revision": one.name, "why": one.why} for one in costs.left_out],
        "functions": [_function_out(one) for one in history.series],
    }


def _function_out(one: FunctionSeries) -> dict[str, Any]:
    ends = [each or (None, None) for each in one.intervals]
    return {
        "name": one.function.name,
        "module": one.function.module,
        "boots": [len(each.samples) for each in one.points],
        "mean": one.means,
        "mean_low": [low for low, _ in ends],
        "mean_high": [high for _, high in ends],
        "changes": [_change_out(each) for each in one.changes],
    }


def _change_out(one: Change) -> dict[str, Any]:
    revisions = ("revision", "previous", "after", "first", "last")
    figures = ("state", "here", "probability")
    percent = (one.change_pct, one.low_pct, one.high_pct)
    change, low, high = (each if isfinite(each) else None for each in percent)
    return {
        **{name: getattr(one, name).label for name in revisions},
        **{name: getattr(one, name) for name in figures},
        "verdict": "dearer" if one.verdict == "worse" else "cheaper",
        "change_percent": change,
        "low_percent": low,
        "high_percent": high,
        "level_before": one.before,
        "level": one.level,
    }
