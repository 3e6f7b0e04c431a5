"""Which way is better: the one place where a change becomes a gain or a loss."""

from typing import Literal

Better = Literal["more", "less"]


def is_gain(change: float, better: Better) -> bool:
    """Whether a change, in any unit or in percent, is for the better. No change is none."""
    return change > 0 if better == "more" else change < 0
