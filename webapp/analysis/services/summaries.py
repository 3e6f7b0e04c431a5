"""What is said about a whole series, as plain data: levels, noise, what could be proven."""

from collections.abc import Iterable
from dataclasses import asdict
from math import isfinite
from typing import Any

from webapp.stats import changes
from webapp.stats.better import Better, is_gain
from webapp.stats.changes import Loss, what_helps, why_not, why_retracted
from webapp.stats.levels import Finding


def summary_of(
    analysis: changes.Analysis, newest: changes.Analysis, slow: Iterable[Finding], better: Better
) -> dict[str, Any]:
    """JSON without NaN or infinities: a figure beyond the double range is null. ``newest`` is the
    last epoch's ``analysis``, ``slow`` are the slow losses and gains: of both follows what stands.
    """
    stands = changes.net_loss(newest.segments, _losses(newest, slow, better), better)
    summary = {
        "net_loss": stands and asdict(stands),
        "count": analysis.count,
        "segments": [asdict(segment) for segment in analysis.segments],
        "noise": analysis.noise and asdict(analysis.noise),
        "smallest": analysis.smallest and asdict(analysis.smallest),
        "newest": analysis.newest and asdict(analysis.newest),
        "is_bimodal": analysis.is_bimodal,
        "is_drifting": analysis.is_drifting,
        "left_out": [at.label for at in analysis.left_out],
        "why_not": why_not(analysis),
        "what_helps": what_helps(analysis),
        "why_retracted": [why_retracted(one) for one in analysis.retracted],
    }
    return {name: _finite(value) for name, value in summary.items()}


def _losses(analysis: changes.Analysis, slow: Iterable[Finding], better: Better) -> list[Loss]:
    """The proven losses of an epoch, in order along the tree."""
    begin = analysis.segments[0].first.position if analysis.segments else 0
    found = [
        *(
            Loss(one.previous, one.revision)
            for one in analysis.changes
            if one.verdict == "worse" and one.state == "confirmed"
        ),
        *(
            Loss(one.first, one.first, is_slow=True)
            for one in slow
            if one.first.position >= begin and not is_gain(one.pct, better)
        ),
    ]
    return sorted(found, key=lambda one: one.before.position)


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, dict):
        return {name: _finite(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    return value
