"""Profiles of runs: send one, list them."""

from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest
from django.urls import reverse
from ninja import Router, Status

from webapp.api.auth import AgentToken
from webapp.api.runs import REFUSALS
from webapp.api.schemas.errors import ErrorOut
from webapp.api.schemas.profiles import ProfileIn, ProfileList, ProfileStored
from webapp.labs.models import Token
from webapp.outbox.services import absolute
from webapp.results import services
from webapp.results.models import Profile, Run

router = Router(tags=["profiles"])


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
    more = ("unsymbolized", "pps", "cores", "warnings", "received_at")
    return {
        "id": profile.pk,
        "run": run,
        "truncated": profile.is_truncated,
        "url": absolute(profile.get_absolute_url()),
        "folded": absolute(reverse("profile_folded", args=[profile.pk])),
        **{name: getattr(profile, name) for name in (*same, *more)},
    }
