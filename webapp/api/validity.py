"""Runs with samples that may not measure what they should."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from django.http import HttpRequest
from ninja import Query, Router
from pydantic import BaseModel, Field

from webapp.api.requests import AgentToken, Page, named, newest, same
from webapp.api.schemas.runs import MOST_RUNS
from webapp.api.schemas.types import REFUSALS, Asked, ErrorOut, Name, Strict
from webapp.labs.models import Lab, Token
from webapp.results.models import Measurement, Run, SampleDecision, why_counted
from webapp.results.services import Forbidden, Problem, decide_samples


class MarkOut(BaseModel):
    """What may be wrong with the sample of this index. ``why_counted`` is why the mark alone
    leaves its sample in; empty: it does not."""

    sample: int
    kind: str
    text: str
    why_counted: str


class SampleDecisionOut(BaseModel):
    """What was decided about the marked samples, and by whom."""

    number: int
    choice: str
    by: str
    at: datetime


class MarkedOut(BaseModel):
    """A run with marks in one metric, its samples whole; those at the indices ``left_out`` take no
    part in any statistics. ``decision`` is null where nobody decided."""

    number: int
    uuid: UUID
    tree: str
    revision: str
    hardware: str
    mode: str
    metric: str
    unit: str
    samples: list[float]
    boots: list[int] | None
    left_out: list[int]
    marks: list[MarkOut]
    decision: SampleDecisionOut | None


class MarkedList(BaseModel):
    """The newest runs first; ``next`` is the ``before`` of the page that follows."""

    marked: list[MarkedOut]
    next: int | None


class SamplesIn(Strict):
    """What is to become of the marked samples of these runs, in one metric or in all: ``count``,
    ``leave_out``, or ``by_mark``, which takes decisions back."""

    runs: Annotated[list[UUID], Field(min_length=1, max_length=MOST_RUNS)]
    choice: Literal["count", "leave_out", "by_mark"]
    metric: Name | Literal[""] = ""


class SamplesOut(BaseModel):
    """How many measurements (a run in one metric) the decision is about."""

    decided: int


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


def marked_out(row: Measurement, decision: SampleDecision | None) -> dict[str, Any]:
    """One measurement in the API's terms; its subjects are loaded."""
    run, series, marks = row.run, row.series, row.marks
    return {
        "number": row.pk,
        "uuid": run.uuid,
        "tree": run.revision.tree.name,
        **named(run, "revision", "hardware", "mode"),
        "metric": series.metric.name,
        "unit": series.metric.unit,
        **same(row, "samples", "boots"),
        "left_out": row.left_out or [],
        "marks": [
            same(mark, "sample", "kind", "text")
            | {"why_counted": why_counted(mark, marks, len(row.samples))}
            for mark in marks
        ],
        "decision": decision
        and {
            "number": decision.pk,
            "choice": decision.choice,
            "by": decision.who,
            "at": decision.decided_at,
        },
    }
