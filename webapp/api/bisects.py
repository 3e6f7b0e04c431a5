"""Bisects with their evidence and decisions, and the bodies of these answers."""

from datetime import datetime
from typing import Any, Literal

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Query, Router
from pydantic import BaseModel, Field

from webapp.api.requests import ID_MAX, Page, bounded, newest
from webapp.api.schemas.types import Asked, ErrorOut
from webapp.bisects.models import Bisect
from webapp.bisects.queries import detail_document, summary_document, view_of

router = Router(tags=["bisects"])
StateIn = Literal[
    "",
    "all",
    "running",
    "queued",
    "validating",
    "searching",
    "confirming",
    "done",
    "paused",
    "starved",
    "cancelled",
]


class BisectOut(BaseModel):
    """The search for the first bad commit after ``good`` up to ``bad``."""

    number: int
    url: str
    tree: str
    hardware: str
    mode: str
    metric: str
    good: str
    bad: str
    alert: int | None
    effect_percent: float
    manual: bool
    state: str
    outcome: str | None
    culprit: str | None
    probability: float | None
    created_by: str | None
    created_at: datetime
    updated_at: datetime
    ended_at: datetime | None
    version: int


class BisectList(BaseModel):
    """Newest first; ``next`` is the ``before`` of the next page, null on the last."""

    bisects: list[BisectOut]
    next: int | None


class ChanceOut(BaseModel):
    """The probability of a commit to be the first bad one."""

    revision: str
    probability: float


class SuspectOut(ChanceOut):
    """With ``after``, commits that are not known may lie after that revision, and share it."""

    after: str | None


class WeighedOut(BaseModel):
    """A candidate that began with less weight, or more: ``why`` names what it touches."""

    revision: str
    why: str


class BudgetOut(BaseModel):
    """What the bisect may spend at most; null: no limit."""

    boots: int
    machine_hours: float | None
    deadline: datetime | None


class CompanionOut(BaseModel):
    """A series that the same boots measure. ``commits_move_it`` is false for a canary."""

    name: str
    scatter_percent: float
    commits_move_it: bool


class BesideOut(BaseModel):
    """What a boot measured of a companion: its number in the list of them, and the median."""

    companion: int
    value: float


class SubjectOut(BaseModel):
    """A machine and mode of a bisect over several. ``moved``: the probability that the commit moves
    it; ``leads``: the rules of the search go by its boots; null before the first decision.
    """

    number: int
    hardware: str
    mode: str
    metric: str
    alerted: bool
    expected_percent: float
    leads: bool
    moved: float | None
    effect_percent: float | None
    effect_low_percent: float | None
    effect_high_percent: float | None
    boots: int
    noise: dict[str, Any]
    machine: dict[str, Any] | None
    sentence: str


class BisectBootOut(BaseModel):
    """The values of one boot, in the metric's unit. ``run`` is null where a person entered them.
    ``subject``: the number of the machine and mode, 0 where there is one.
    """

    number: int
    subject: int
    revision: str
    build: str
    values: list[float]
    beside: list[BesideOut]
    source: str
    purpose: str
    run: str | None
    at: datetime


class DecisionOut(BaseModel):
    """One step; ``chances`` leaves out those below 0.05 %. ``boots``: the last it rests on."""

    number: int
    at: datetime
    state: str
    action: str
    words: str
    boots: int
    chances: list[ChanceOut]


class ActOut(BaseModel):
    """What somebody did; ``actor`` is null where Driftline did it."""

    number: int
    at: datetime
    actor: str | None
    kind: str
    revision: str | None
    reason: str


class OutsideOut(BaseModel):
    """A step that lies outside the range, and between which measured revisions it came."""

    side: str
    after: str
    up_to: str


class BisectDetail(BisectOut):
    """``noise``: standard deviations in log percent, null degrees of freedom meaning known.
    ``machine``: what the machine itself did, null before the first decision. ``subjects``: the
    machines and modes that look for the commit together; empty where it is one. ``forecast``: boots
    and hours as given at the start, null of one that has none; ``left``: those still to come at the
    last decision, null once it ended. Both have a part for one commit and for several.
    """

    sentence: str
    remarks: list[str]
    revisions: list[str]
    suspects: list[SuspectOut]
    unlikely: list[WeighedOut]
    likelier: list[WeighedOut]
    machine: dict[str, Any] | None
    first_of_several: bool
    other_change_up_to_percent: float | None
    outside: OutsideOut | None
    skipped: list[str]
    budget: BudgetOut
    forecast: dict[str, Any] | None
    left: dict[str, Any] | None
    noise: dict[str, Any]
    companions: list[CompanionOut]
    subjects: list[SubjectOut]
    boots: list[BisectBootOut]
    decisions: list[DecisionOut]
    acts: list[ActOut]


class Wanted(Page):
    """Which bisects; a part left out means all. `state=running` is every state but the last two."""

    state: StateIn = ""
    tree: Asked = ""
    hardware: Asked = ""
    alert: int = Field(0, ge=0, le=ID_MAX, description="The number of an alert; 0: any.")


@router.get("/bisects", response={200: BisectList, 422: ErrorOut}, summary="Bisects, newest first")
def list_bisects(request: HttpRequest, wanted: Query[Wanted]) -> Any:
    """One page; `next` is the `before` of the page that follows, null on the last."""
    found = Bisect.objects.in_state(wanted.state or "all").about(
        tree=wanted.tree, hardware=wanted.hardware, alert=wanted.alert
    )
    shown, following = newest(found.with_subjects(), wanted)
    return {
        "bisects": [summary_document(row) for row in shown],
        "next": following,
    }


@router.get(
    "/bisects/{number}",
    response={200: BisectDetail, 404: ErrorOut, 422: ErrorOut},
    summary="A bisect with its evidence, decisions and acts",
)
def one_bisect(request: HttpRequest, number: int) -> Any:
    """With the boots, the decisions and the acts, each in their order."""
    found = Bisect.objects.with_subjects()
    bisect = get_object_or_404(found, pk=bounded(number))
    return detail_document(view_of(bisect))
