"""Runs with samples that may not measure what they should, and the decision about them."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, Field

from webapp.api.schemas.runs import MOST_RUNS
from webapp.api.schemas.types import Name, Strict
from webapp.results.models import Measurement, SampleDecision, why_counted


class MarkOut(BaseModel):
    """What may be wrong with the sample of this index. ``why_counted`` says why the mark alone
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


def marked_out(row: Measurement, decision: SampleDecision | None) -> dict[str, Any]:
    """One measurement as the API tells it; its subjects are loaded."""
    run, series, marks = row.run, row.series, row.marks
    return {
        "number": row.pk,
        "uuid": run.uuid,
        "tree": run.revision.tree.name,
        "revision": run.revision.name,
        "hardware": run.hardware.name,
        "mode": run.mode.name,
        "metric": series.metric.name,
        "unit": series.metric.unit,
        "samples": row.samples,
        "boots": row.boots,
        "left_out": row.left_out or [],
        "marks": [
            {
                "sample": mark.sample,
                "kind": mark.kind,
                "text": mark.text,
                "why_counted": why_counted(mark, marks, len(row.samples)),
            }
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
