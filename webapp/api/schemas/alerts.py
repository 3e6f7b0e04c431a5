"""Alerts."""

from datetime import datetime

from pydantic import (
    BaseModel,
)

from webapp.api.schemas.comparisons import LeftOutOut
from webapp.api.schemas.series import FindingOut, NetLossOut


class AlertOut(BaseModel):
    """All findings that point at one commit. The suspects are those after ``after`` up to
    ``revision``; ``likeliest`` is the one that most findings name, the first measured at the new
    level. ``commit`` is the cause: null while no commit holds 80 % of the chance alone. Until then
    ``commits`` share ``chance``; null where others than the ``known_revisions`` may lie between:
    ``chance`` is then that it began between the two revisions measured. With ``one_build`` it all
    rests on one build a side, and no commit is named. Of the kind ``slow`` the loss went on from
    ``after`` to ``revision``, of ``excursion`` a machine was off at ``revision`` alone: none is to
    blame, ``commits`` and ``chance`` are 0."""

    number: int
    kind: str
    url: str
    tree: str
    revision: str
    after: str
    likeliest: str
    commit: str | None
    commits: int | None
    known_revisions: int
    chance: float
    verdict: str
    state: str
    resolution: str | None
    resolution_revision: str | None
    duplicate_of: int | None
    snoozed_until: datetime | None
    snoozed_until_revision: str | None
    history: bool
    one_build: bool
    standing: bool
    opened_at: datetime
    updated_at: datetime
    version: int


class AlertList(BaseModel):
    """Newest first; ``next`` is the ``before`` of the next page, null on the last."""

    alerts: list[AlertOut]
    next: int | None


class LeftOutAtOut(LeftOutOut):
    """The samples of one revision that do not count."""

    revision: str


class AlertFindingOut(FindingOut):
    """A finding with the series it is in, what that has lost today (``net_loss``; null: nothing, or
    a candidate), and the revisions beside it that lack samples."""

    series: int
    net_loss: NetLossOut | None
    hardware: str
    mode: str
    metric: str
    unit: str
    left_out: list[LeftOutAtOut]


class AlertEventOut(BaseModel):
    """What happened to an alert; ``actor`` is null where the system did it."""

    at: datetime
    kind: str
    actor: str | None
    reason: str


class UnmovedOut(BaseModel):
    """A series measured at the likeliest commit that holds no finding there, and its verdict."""

    hardware: str
    mode: str
    metric: str
    unit: str
    verdict: str
    change_percent: float | None
    low_percent: float | None
    high_percent: float | None
    smallest_visible: float | None


class TogetherOut(BaseModel):
    """What all ``series`` on ``machines`` say together of the place: the commits later than
    ``after`` up to ``last`` hold it with 95 % if it is one, ``likeliest`` with ``chance``. The
    clearest series alone says ``alone_after`` and ``alone_last``."""

    after: str
    likeliest: str
    last: str
    chance: float
    series: int
    machines: int
    alone_after: str
    alone_last: str


class AlertDetail(AlertOut):
    """``candidates`` suspect the same commits and are not confirmed yet; ``together`` is null where
    several series together are no sharper than one alone. ``lab`` is what speaks for a change of
    the machine, or against, a sentence each."""

    lab: list[str]
    together: TogetherOut | None
    findings: list[AlertFindingOut]
    candidates: list[AlertFindingOut]
    unmoved: list[UnmovedOut]
    events: list[AlertEventOut]
