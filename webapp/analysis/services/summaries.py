"""What is said about a whole series, as plain data: levels, noise, what could be proven."""

from dataclasses import asdict
from math import isfinite
from typing import Any

from webapp.stats import changes
from webapp.stats.changes import what_helps, why_not, why_retracted


def summary_of(analysis: changes.Analysis) -> dict[str, Any]:
    """JSON without NaN or infinities: a figure beyond the double range is null."""
    summary = {
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


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, dict):
        return {name: _finite(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    return value
