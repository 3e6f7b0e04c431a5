"""What is known of a tree, made of little: tests name only what matters to them."""

from dataclasses import replace
from typing import Any

from webapp.alerts.grouping import Evidence
from webapp.alerts.plan.changes import CommitRange, KnownAlert, KnownFinding

LOSS, GAIN = -5.0, 5.0


def finding(
    number: int, after: int, last: int, *, series: int | None = None, **fields: Any
) -> KnownFinding:
    """A sure loss of 5 % by a commit after ``after`` up to ``last``, in a series of its own."""
    change = fields.get("change_pct", LOSS)
    evidence = Evidence(
        finding=number,
        after=after,
        last=last,
        at=fields.pop("at", last),
        verdict="worse" if change is None or change < 0 else "better",
        p_value=1e-9,
        is_large=fields.pop("is_large", True),
        series=number if series is None else series,
    )
    return KnownFinding(evidence=evidence, **{"change_pct": change, **fields})


def held_by(alert: KnownAlert, *findings: KnownFinding) -> list[KnownFinding]:
    return [replace(row, alert=alert.number) for row in findings]


def alert(number: int, after: int, suspect: int, **fields: Any) -> KnownAlert:
    """A new one, of a regression, that stands."""
    commits = CommitRange(suspect, after, fields.pop("likeliest", suspect))
    return KnownAlert(number, commits, **{"verdict": "regression", "state": "new", **fields})


def retired(number: int, after: int, suspect: int, **fields: Any) -> KnownAlert:
    """One that lost its findings before anybody looked at it."""
    closed = {"is_active": False, "state": "resolved", "resolution": "retracted"}
    return alert(number, after, suspect, **{**closed, **fields})
