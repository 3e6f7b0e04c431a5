"""Findings that are no change of level as data for JSON (`python -m webapp.stats.changes`)."""

from collections.abc import Callable, Sequence
from typing import Any

from webapp.stats.changes.points import Point
from webapp.stats.detector import detect
from webapp.stats.levels import Finding, Findings, ModeChange, NoiseChange

NEAR = 10
"""Positions by which the beginning of a change of noise or modes may lie elsewhere when it is
first told."""

One = Finding | NoiseChange | ModeChange


def as_lists(
    findings: Findings, points: Sequence[Point], *, least_pct: float, online: bool
) -> dict[str, list[dict[str, Any]]]:
    """Return excursions, slow losses and gains, changes of noise and of modes.

    Those smaller than `least_pct` are left out; a change of noise has no size in percent. With
    `online` each says the revision at which it was first told when the series is read in order.
    """
    lists = {
        kind: [(one, describe(one)) for one in getattr(findings, kind) if size(one) >= least_pct]
        for kind, (describe, size) in KINDS.items()
    }
    return {
        kind: [
            {**shown, "detected_at": _first_notified(points, kind, one)} if online else shown
            for one, shown in found
        ]
        for kind, found in lists.items()
    }


def _first_notified(points: Sequence[Point], kind: str, one: One) -> str:
    """The revision at which a finding was told first."""
    for stop in range(_index(points, one) + 1, len(points)):
        if any(_is_same(one, other) for other in getattr(detect(points[:stop]).others, kind)):
            return points[stop - 1].label
    return points[-1].label


def _index(points: Sequence[Point], one: One) -> int:
    return next(i for i, point in enumerate(points) if point.position == one.first.position)


def _is_same(one: One, other: One) -> bool:
    if isinstance(one, Finding) and isinstance(other, Finding):
        is_slow = one.last.position - one.first.position > NEAR
        return (one.pct > 0) == (other.pct > 0) and (is_slow or one.first == other.first)
    return abs(one.first.position - other.first.position) <= NEAR


def _rounded(value: float) -> float:
    return float(f"{value:.6g}")


def _size(finding: Finding) -> dict[str, Any]:
    return {
        "change_pct": _rounded(finding.pct),
        "ci_pct": [_rounded(finding.low_pct), _rounded(finding.high_pct)],
    }


def _excursion(one: Finding) -> dict[str, Any]:
    return {"revision": one.first.label, **_size(one), "recovered_by": one.last.label}


def _slow(one: Finding) -> dict[str, Any]:
    return {"window": [one.first.label, one.last.label], **_size(one)}


def _noise(one: NoiseChange) -> dict[str, Any]:
    return {"revision": one.first.label, "ratio": _rounded(one.ratio)}


def _modes(one: ModeChange) -> dict[str, Any]:
    return {
        "revision": one.first.label,
        "share_before": _rounded(one.share_before),
        "share_after": _rounded(one.share_after),
        "gap_pct": _rounded(one.gap_pct),
    }


KINDS: dict[str, tuple[Callable[[Any], dict[str, Any]], Callable[[Any], float]]] = {
    "excursions": (_excursion, lambda one: abs(one.pct)),
    "slow": (_slow, lambda one: abs(one.pct)),
    "noise_changes": (_noise, lambda _: float("inf")),
    "modes": (_modes, lambda one: abs(one.gap_pct)),
}
"""By the key in `Findings` and in the document: how one is shown, and its size in percent."""
