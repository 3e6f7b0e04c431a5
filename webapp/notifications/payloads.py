"""What webhooks are told of an alert."""

from collections.abc import Sequence
from typing import Any

from webapp.alerts.models import Alert, AlertEvent
from webapp.alerts.queries import Suspicion, left_out_of
from webapp.analysis.models import Finding
from webapp.outbox.services import absolute
from webapp.results.models import Point


def payload_of(
    kind: str,
    event: AlertEvent,
    alert: Alert,
    findings: Sequence[Finding],
    suspicion: Suspicion,
    *,
    left_out: Sequence[Point] = (),
) -> dict[str, Any]:
    """One event as JSON; needs the alert's revisions and the findings' subjects loaded.

    ``revision`` is the first one measured at the new level; ``commit`` the cause, null while no
    commit holds 80 % of the chance alone, others than the ``known_revisions`` may lie between, or
    it all rests on ``one_build`` a side; of a slow loss or an excursion none is to blame: no
    ``commits`` and no ``chance`` of any. Percentages are new level against old, null beyond the
    double range; levels are in the unit. ``left_out`` are the points beside the findings that lack
    samples of their runs: each finding tells of its own.
    """
    return {
        "kind": kind,
        "at": event.at.isoformat(),
        "reason": event.reason,
        "alert": alert.pk,
        "alert_kind": alert.kind,
        "url": absolute(alert.get_absolute_url()),
        "state": alert.state,
        "verdict": alert.verdict,
        "one_build": alert.one_build,
        "tree": alert.tree.name,
        "revision": alert.likeliest.name,
        "commit": suspicion.commit.name if suspicion.commit else None,
        "commits": 0 if suspicion.blames_none else suspicion.commits,
        "known_revisions": 0 if suspicion.blames_none else suspicion.known,
        "chance": 0.0 if suspicion.blames_none else suspicion.chance,
        "suspects": {"after": alert.after.name, "up_to": alert.revision.name},
        "findings": [_finding(row, left_out) for row in findings],
    }


def _finding(row: Finding, left_out: Sequence[Point]) -> dict[str, Any]:
    series = row.series
    return {
        "hardware": series.hardware.name,
        "simulated": series.hardware.lab.simulated,
        "mode": series.mode.name,
        "metric": series.metric.name,
        "unit": series.metric.unit,
        "verdict": row.verdict,
        "state": row.state,
        "one_build": row.one_build,
        "kind": row.kind,
        "parts": [
            {"after": after, "up_to": up_to, "change_percent": pct}
            for after, up_to, pct in row.parts
        ],
        "revision": row.revision.name,
        "level_before": row.level_before,
        "level": row.level,
        "change_percent": row.change_pct,
        "low_percent": row.low_pct,
        "high_percent": row.high_pct,
        "here": row.here,
        "probability": row.probability,
        "left_out": left_out_of(row, left_out),
    }
