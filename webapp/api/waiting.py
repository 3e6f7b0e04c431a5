"""Runs that wait for a decision: which commit they measured, and whether samples count that may not
measure what they should.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from ninja import Query, Router
from pydantic import BaseModel, Field

from webapp.api.requests import AgentToken, Page, csv_of, named, newest, same
from webapp.api.schemas.runs import MOST_RUNS
from webapp.api.schemas.types import REFUSALS, Asked, ErrorOut, Name, RevisionName, Strict
from webapp.labs.models import Lab, Token
from webapp.results.models import Measurement, Run, SampleDecision, WaitingRun, why_counted
from webapp.results.services import (
    Forbidden,
    Problem,
    Unprocessable,
    decide_samples,
    decide_waiting,
)


class CandidateOut(BaseModel):
    """A commit that a run may be of, and what names it (``kernel``, ``image``, ``label``)."""

    revision: str
    source: str
    text: str


class WaitingOut(BaseModel):
    """A run whose kernel and names state two commits. ``chosen`` is null while it waits, and where
    it was decided (``decided_at``) to leave it out; ``rule`` is what decided, where nobody did."""

    number: int
    uuid: UUID
    tree: str
    hardware: str
    mode: str
    label: str
    candidates: list[CandidateOut]
    evidence: dict[str, str]
    since: datetime
    decided_at: datetime | None
    chosen: str | None
    rule: str


class WaitingList(BaseModel):
    """The newest runs first; ``next`` is the ``before`` of the page that follows."""

    waiting: list[WaitingOut]
    next: int | None


class DecisionIn(Strict):
    """What to do with waiting runs: file them as ``kernel`` or ``label`` has it (an image's name is
    part of the label's side), at one of their candidates by its name, or leave them out: ``none``.
    """

    runs: Annotated[list[UUID], Field(min_length=1, max_length=MOST_RUNS)]
    choice: RevisionName


class DecidedOut(BaseModel):
    """How many were decided; those that were decided before are left alone."""

    decided: int


router = Router(tags=["runs"])
COLUMNS = tuple(WaitingOut.model_fields)


class Wanted(Page):
    """Which runs; a part left out means all."""

    state: Literal["waiting", "decided", ""] = "waiting"
    tree: Asked = ""
    hardware: Asked = ""
    label: Asked = ""


@router.get(
    "/waiting",
    response={200: WaitingList, 422: ErrorOut},
    summary="Runs that wait until somebody decides which commit they measured",
)
def list_waiting(request: HttpRequest, wanted: Query[Wanted]) -> Any:
    """Such a run is stored and takes no part in anything until then."""
    rows, following = _page(wanted)
    return {"waiting": [waiting_out(row) for row in rows], "next": following}


@router.get("/waiting.csv", response={200: None, 422: ErrorOut}, summary="Runs that wait, as CSV")
def waiting_csv(request: HttpRequest, wanted: Query[Wanted]) -> HttpResponse:
    """A row a run: the same page of them as in JSON."""
    shown, _ = _page(wanted)
    rows = ({name: _cell(one) for name, one in waiting_out(row).items()} for row in shown)
    return csv_of("waiting.csv", COLUMNS, rows)


def _cell(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, dict | list) else value


def _page(wanted: Wanted) -> tuple[Sequence[WaitingRun], int | None]:
    found = WaitingRun.objects.with_subjects().select_related("chosen")
    if wanted.state:
        found = found.filter(decided_at__isnull=wanted.state == "waiting")
    filters = {
        "run__revision__tree__name": wanted.tree,
        "run__hardware__name": wanted.hardware,
        "label": wanted.label,
    }
    found = found.filter(**{name: text for name, text in filters.items() if text})
    return newest(found, wanted)


@router.post(
    "/waiting",
    auth=AgentToken(),
    response={200: DecidedOut, 400: ErrorOut, **REFUSALS},
    summary="Decide which commit waiting runs measured",
)
def choose_commit(request: HttpRequest, decision: DecisionIn) -> Any:
    """For runs on hardware of the token's lab. All are decided, or none."""
    token: Token = request.auth  # type: ignore[attr-defined]
    _refuse_others(decision.runs, token.agent.lab)
    agent = f"agent {token.agent}"
    count = decide_waiting(runs=decision.runs, choice=decision.choice, by=None, rule=agent)
    return {"decided": count}


def _refuse_others(runs: list[UUID], lab: Lab) -> None:
    """Raises Unprocessable for runs that never waited, Forbidden for those of another lab."""
    rows = WaitingRun.objects.filter(run__uuid__in=runs).values_list(
        "run__uuid", "run__hardware__lab"
    )
    labs = dict(rows)
    unknown = [
        Problem(f"runs[{i}]", f"run {uuid} does not wait, and never did")
        for i, uuid in enumerate(runs)
        if uuid not in labs
    ]
    if unknown:
        raise Unprocessable(unknown)
    _refuse_foreign(runs, labs, lab)


def _refuse_foreign(runs: list[UUID], labs: Mapping[UUID, int], lab: Lab) -> None:
    """Raises Forbidden for runs that ``labs`` has with another lab (by id)."""
    foreign = [
        Problem(f"runs[{i}]", f"run {uuid} is of another lab than this token")
        for i, uuid in enumerate(runs)
        if labs.get(uuid, lab.pk) != lab.pk
    ]
    if foreign:
        raise Forbidden(foreign)


def waiting_out(row: WaitingRun) -> dict[str, Any]:
    """One run in the API's terms; its subjects are loaded."""
    run = row.run
    return {
        "number": run.pk,
        "uuid": run.uuid,
        "tree": run.revision.tree.name,
        **named(run, "hardware", "mode"),
        **named(row, "chosen"),
        **same(row, "label", "candidates", "since", "decided_at", "rule"),
        "evidence": {name: text for name, text in (run.evidence or {}).items() if text},
    }


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


class WantedMarks(Page):
    """Which runs; a part left out means all."""

    state: Literal["left_out", "counted", ""] = ""
    tree: Asked = ""
    revision: Asked = ""
    hardware: Asked = ""
    metric: Asked = ""


@router.get(
    "/marked",
    operation_id="webapp_api_validity_list_marked",
    response={200: MarkedList, 422: ErrorOut},
    summary="Runs with samples that may not measure what they should",
)
def list_marked(request: HttpRequest, wanted: Query[WantedMarks]) -> Any:
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
    operation_id="webapp_api_validity_choose_samples",
    auth=AgentToken(),
    response={200: SamplesOut, 400: ErrorOut, **REFUSALS},
    summary="Decide whether the marked samples of runs count",
)
def choose_samples(request: HttpRequest, decision: SamplesIn) -> Any:
    """For runs on hardware of the token's lab. All are decided, or none."""
    token: Token = request.auth  # type: ignore[attr-defined]
    stored = Run.objects.current().filter(uuid__in=decision.runs)
    labs = dict(stored.values_list("uuid", "hardware__lab"))
    _refuse_foreign(decision.runs, labs, token.agent.lab)
    count = decide_samples(
        runs=decision.runs,
        choice=decision.choice,
        metric=decision.metric,
        by=None,
        rule=f"agent {token.agent}",
    )
    return {"decided": count}


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
