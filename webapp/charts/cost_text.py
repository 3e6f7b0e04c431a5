"""What an option costs, as people read it. Pure: ratios in percent in, text out.

A cost is kept as a ratio, with the option over without, in percent: of a rate 96.3, of a time
103.8. Read as a cost that is 3.7 % and 3.8 %; less than nothing is a gain, and has a minus.
"""

from webapp.charts.text import UNKNOWN, interval, number, percent

Ends = tuple[float | None, float | None]

NOTHING = 100.0
"""The ratio, in percent, of an option that costs nothing."""

POINTS = "points"
"""The unit of a difference of two costs: percent of the speed without the option, not of a cost."""


def cost(ratio: float, better: str) -> float:
    """The cost in percent of a ratio; ``better`` is ``more`` or ``less``."""
    found = ratio - NOTHING if better == "less" else NOTHING - ratio
    return found or 0.0


def cost_figure(ratio: float | None, better: str) -> str:
    """``3.7 %``; a dash where the ratio is not known."""
    return UNKNOWN if ratio is None else f"{_plain(cost(ratio, better))} %"


def level_figure(level: float | None, better: str, *, is_cost: bool) -> str:
    """A level of a series in the metric's unit; of an option what it costs."""
    return cost_figure(level, better) if is_cost else number(level)


def cost_moved(before: float, after: float, better: str) -> str:
    """``rose from 1.2 to 3.7 %``; ``fell …`` where it costs less now."""
    old, new = cost(before, better), cost(after, better)
    return f"{'rose' if new > old else 'fell'} from {_plain(old)} to {_plain(new)} %"


def cost_points(before: float, change_pct: float | None, better: str) -> float | None:
    """The points by which the cost grew where its ratio, ``before``, changed by ``change_pct``."""
    if change_pct is None:
        return None
    return (before if better == "less" else -before) * change_pct / NOTHING


def cost_interval(before: float, low: float | None, high: float | None, better: str) -> str:
    """``[+2.1, +2.9]``, points: what the interval ``low`` to ``high`` of the change of the ratio,
    percent, is as one of the cost; empty where it is not known.
    """
    ends = [cost_points(before, end, better) for end in (low, high)]
    known = sorted(end for end in ends if end is not None)
    return interval(*known) if len(known) == len(ends) else ""


def cost_within(before: float, change: float | None, ends: Ends, better: str) -> str:
    """``+2.5 points [+2.1, +2.9]`` of a ratio that changed by ``change`` percent of ``before``."""
    points = percent(cost_points(before, change, better))
    return f"{points} {POINTS} {cost_interval(before, *ends, better)}".rstrip()


def cost_sentence(
    before: float, after: float, low: float | None, high: float | None, better: str
) -> str:
    """``rose from 1.2 to 3.7 %, by 2.5 points [+2.1, +2.9]``, with `cost_interval`."""
    grown = cost(after, better) - cost(before, better)
    text = f"{cost_moved(before, after, better)}, by {percent(abs(grown)).lstrip('+')} {POINTS}"
    return f"{text} {cost_interval(before, low, high, better)}".rstrip()


def _plain(value: float) -> str:
    return percent(value).lstrip("+") if value else "0"
