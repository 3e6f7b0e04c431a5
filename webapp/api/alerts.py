"""Alerts with their findings and events."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Query, Router
from pydantic import BaseModel

from webapp.alerts import queries
from webapp.alerts.models import Alert
from webapp.analysis.models import Finding
from webapp.analysis.queries import stands_of
from webapp.api.compare import net_loss_out
from webapp.api.requests import Page, bounded, named, newest, same
from webapp.api.schemas.comparisons import LeftOutOut, NetLossOut
from webapp.api.schemas.series import FindingOut
from webapp.api.schemas.types import Asked, ErrorOut
from webapp.api.series import finding_out
from webapp.results.models import Point, Series


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
    """The joint evidence of all ``series`` on ``machines`` on the place: the commits later than
    ``after`` up to ``last`` hold it with 95 % if it is one, ``likeliest`` with ``chance``. The
    clearest series alone gives ``alone_after`` and ``alone_last``."""

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


router = Router(tags=["alerts"])
StateIn = Literal[
    "",
    "all",
    "open",
    "new",
    "acknowledged",
    "investigating",
    "reopened",
    "recovered",
    "snoozed",
    "resolved",
]


class Wanted(Page):
    """Which alerts; a part left out means all. `state=open` is every state that waits."""

    state: StateIn = ""
    tree: Asked = ""
    hardware: Asked = ""
    mode: Asked = ""


@router.get("/alerts", response={200: AlertList, 422: ErrorOut}, summary="Alerts, newest first")
def list_alerts(request: HttpRequest, wanted: Query[Wanted]) -> Any:
    """One page; `next` is the `before` of the page that follows, null on the last."""
    found = Alert.objects.in_state(wanted.state or "all").about(
        tree=wanted.tree, hardware=wanted.hardware, mode=wanted.mode
    )
    shown, following = newest(found.with_revisions(), wanted)
    suspicions = queries.suspicions_of(shown)
    return {
        "alerts": [alert_out(row, suspicions[row.pk]) for row in shown],
        "next": following,
    }


@router.get(
    "/alerts/{number}",
    response={200: AlertDetail, 404: ErrorOut, 422: ErrorOut},
    summary="An alert with its findings and events",
)
def one_alert(request: HttpRequest, number: int) -> Any:
    """Asked for one that was joined to another, the answer is the other, with its own number."""
    alert = get_object_or_404(Alert.objects.with_revisions().numbered(bounded(number)))
    findings = list(
        queries.findings_of([alert]).with_revisions().with_subjects().with_builds().with_today()
    )
    around = queries.beside(alert, findings)
    left_out = queries.left_out_beside([*findings, *around.candidates])
    hint = queries.lab_hint(alert, findings)
    return {
        **alert_out(alert, queries.suspicion_of(alert)),
        "lab": hint.sentences if hint else [],
        "together": _together_out(queries.sharper_interval(findings)),
        "findings": [_finding_out(row, left_out) for row in findings],
        "candidates": [_finding_out(row, left_out) for row in around.candidates],
        "unmoved": [_unmoved_out(row) for row in around.unmoved],
        "events": [
            {
                **same(event, "at", "kind", "reason"),
                "actor": event.actor.get_username() if event.actor else None,
            }
            for event in alert.events.select_related("actor")
        ],
    }


def alert_out(alert: Alert, suspicion: queries.Suspicion) -> dict[str, Any]:
    """An alert as the API shows it. Needs its revisions loaded."""
    return {
        "number": alert.pk,
        "url": alert.get_absolute_url(),
        **named(alert, "tree", "revision", "after", "likeliest", "resolution_revision"),
        **same(alert, "kind", "verdict", "state", "snoozed_until", "history", "one_build"),
        **same(alert, "opened_at", "updated_at", "version"),
        "commit": suspicion.commit.name if suspicion.commit else None,
        "commits": 0 if suspicion.blames_none else suspicion.commits,
        "known_revisions": 0 if suspicion.blames_none else suspicion.known,
        "chance": 0.0 if suspicion.blames_none else suspicion.chance,
        "resolution": alert.resolution or None,
        "duplicate_of": alert.duplicate_of_id,
        "snoozed_until_revision": alert.snoozed_until_revision or None,
        "standing": alert.is_active,
    }


def _together_out(interval: queries.SharperInterval | None) -> dict[str, Any] | None:
    if interval is None:
        return None
    return {
        **same(interval, "after", "likeliest", "last", "series", "machines"),
        "chance": interval.here,
        "alone_after": interval.alone.after.name,
        "alone_last": interval.alone.last.name,
    }


def _finding_out(finding: Finding, left_out: Sequence[Point]) -> dict[str, Any]:
    return {
        **finding_out(finding),
        **_series_out(finding.series),
        "series": finding.series_id,
        "net_loss": net_loss_out(stands_of(finding)),
        "left_out": queries.left_out_of(finding, left_out),
    }


def _unmoved_out(row: queries.Unmoved) -> dict[str, Any]:
    judged = row.judged
    return {
        **_series_out(row.series),
        "verdict": judged.verdict,
        "change_percent": judged.percent,
        "low_percent": judged.low,
        "high_percent": judged.high,
        "smallest_visible": judged.visible,
    }


def _series_out(series: Series) -> dict[str, str | None]:
    return named(series, "hardware", "mode", "metric") | {"unit": series.metric.unit}
