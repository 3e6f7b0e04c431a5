"""What webhooks are told of an alert."""

from collections.abc import Sequence
from typing import Any

from webapp.outbox.links import absolute
from webapp.regressions.models import Alert, AlertEvent, Finding


def payload_of(
    kind: str, event: AlertEvent, alert: Alert, findings: Sequence[Finding]
) -> dict[str, Any]:
    """One event as JSON; needs the alert's revisions and the findings' subjects loaded.

    Percentages are new level against old, null beyond the double range; levels are in the unit.
    """
    return {
        "kind": kind,
        "at": event.at.isoformat(),
        "reason": event.reason,
        "alert": alert.pk,
        "url": absolute(alert.get_absolute_url()),
        "state": alert.state,
        "verdict": alert.verdict,
        "tree": alert.tree.name,
        "revision": alert.likeliest.name,
        "suspects": {"after": alert.after.name, "up_to": alert.revision.name},
        "findings": [_finding(row) for row in findings],
    }


def _finding(row: Finding) -> dict[str, Any]:
    series = row.series
    return {
        "hardware": series.hardware.name,
        "simulated": series.hardware.lab.simulated,
        "mode": series.mode.name,
        "metric": series.metric.name,
        "unit": series.metric.unit,
        "verdict": row.verdict,
        "state": row.state,
        "revision": row.revision.name,
        "level_before": row.level_before,
        "level": row.level,
        "change_percent": row.change_pct,
        "low_percent": row.low_pct,
        "high_percent": row.high_pct,
        "here": row.here,
        "probability": row.probability,
    }
