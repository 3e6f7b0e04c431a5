"""Runs with samples that may not measure what they should."""

from typing import Any, Literal
from uuid import UUID

from django.http import HttpRequest
from ninja import Query, Router

from webapp.api.auth import AgentToken
from webapp.api.numbered import Page, newest
from webapp.api.runs import REFUSALS
from webapp.api.schemas.errors import ErrorOut
from webapp.api.schemas.types import Asked
from webapp.api.schemas.validity import MarkedList, SamplesIn, SamplesOut, marked_out
from webapp.labs.models import Lab, Token
from webapp.results.models import Measurement, Run, SampleDecision
from webapp.results.services import Forbidden, Problem, decide_samples

router = Router(tags=["runs"])


class Wanted(Page):
    """Which runs; a part left out means all."""

    state: Literal["left_out", "counted", ""] = ""
    tree: Asked = ""
    revision: Asked = ""
    hardware: Asked = ""
    metric: Asked = ""


@router.get(
    "/marked",
    response={200: MarkedList, 422: ErrorOut},
    summary="Runs with samples that may not measure what they should",
)
def list_marked(request: HttpRequest, wanted: Query[Wanted]) -> Any:
    """With all their samples, those that take no part in statistics included."""
    found = Measurement.objects.marked().with_subjects()
    if wanted.state:
        found = found.filter(left_out__isnull=wanted.state == "counted")
    filters = {
        "run__revision__tree__name": wanted.tree,
        "run__revision__name": wanted.revision,
        "run__hardware__name": wanted.hardware,
        "series__metric__name": wanted.metric,
    }
    found = found.filter(**{name: text for name, text in filters.items() if text})
    rows, following = newest(found, wanted)
    decided = SampleDecision.objects.of_all(rows)
    return {"marked": [marked_out(row, decided.get(row.pk)) for row in rows], "next": following}


@router.post(
    "/marked",
    auth=AgentToken(),
    response={200: SamplesOut, 400: ErrorOut, **REFUSALS},
    summary="Decide whether the marked samples of runs count",
)
def choose_samples(request: HttpRequest, decision: SamplesIn) -> Any:
    """For runs on hardware of the token's lab. All are decided, or none."""
    token: Token = request.auth  # type: ignore[attr-defined]
    _refuse_others(decision.runs, token.agent.lab)
    count = decide_samples(
        runs=decision.runs,
        choice=decision.choice,
        metric=decision.metric,
        by=None,
        rule=f"agent {token.agent}",
    )
    return {"decided": count}


def _refuse_others(runs: list[UUID], lab: Lab) -> None:
    """Raises Forbidden for runs of another lab."""
    labs = dict(Run.objects.current().filter(uuid__in=runs).values_list("uuid", "hardware__lab"))
    foreign = [
        Problem(f"runs[{i}]", f"run {uuid} is of another lab than this token")
        for i, uuid in enumerate(runs)
        if labs.get(uuid, lab.pk) != lab.pk
    ]
    if foreign:
        raise Forbidden(foreign)
