"""Runs that wait for the decision which commit they measured."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from pydantic import BaseModel, Field

from webapp.api.schemas.runs import MOST_RUNS
from webapp.api.schemas.types import RevisionName, Strict
from webapp.results.models import WaitingRun


class CandidateOut(BaseModel):
    """A commit that a run may be of, and what says so (``kernel``, ``image``, ``label``)."""

    revision: str
    source: str
    text: str


class WaitingOut(BaseModel):
    """A run whose kernel and names say two commits. ``chosen`` is null while it waits, and where it
    was decided (``decided_at``) to leave it out; ``rule`` is what decided, where nobody did."""

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
    """What to do with waiting runs: file them as ``kernel`` or ``label`` says (an image's name is
    part of the label's side), at one of their candidates by its name, or leave them out: ``none``.
    """

    runs: Annotated[list[UUID], Field(min_length=1, max_length=MOST_RUNS)]
    choice: RevisionName


class DecidedOut(BaseModel):
    """How many were decided; those that were decided before are left alone."""

    decided: int


def waiting_out(row: WaitingRun) -> dict[str, Any]:
    """One run as the API tells it; its subjects are loaded."""
    run = row.run
    return {
        "number": run.pk,
        "uuid": run.uuid,
        "tree": run.revision.tree.name,
        "hardware": run.hardware.name,
        "mode": run.mode.name,
        "label": row.label,
        "candidates": row.candidates,
        "evidence": {name: text for name, text in (run.evidence or {}).items() if text},
        "since": row.since,
        "decided_at": row.decided_at,
        "chosen": row.chosen.name if row.chosen else None,
        "rule": row.rule,
    }
