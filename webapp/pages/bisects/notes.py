"""What boots say of the step, in words: by their intervals, and the two levels as believed now."""

from collections.abc import Sequence

from webapp.charts.bisect import WEAK, BisectChart, Dot

OLD, NEW, BETWEEN = "old level", "new level", "between the levels"
SET_ASIDE = "set aside as weak"


def note_of(dots: Sequence[Dot], chart: BisectChart) -> str:
    """``new level: the step is at or before it``, of one boot; of several each revision's level,
    the revisions in order. Empty while no levels are known.
    """
    if chart.before is None or chart.after is None or not dots:
        return ""
    if len(dots) == 1:
        return _of_one(dots[0], chart)
    named = dict.fromkeys(
        f"{dot.name}: {level_of(dot, chart.before, chart.after)}"
        for dot in sorted(dots, key=lambda dot: dot.index)
    )
    return "; ".join(named)


def level_of(dot: Dot, before: float, after: float) -> str:
    """On which level a boot lies: the one that its 95 % interval holds, less what the machine
    moved; where it holds both or none, what is nearer.
    """
    if dot.source == WEAK:
        return SET_ASIDE
    shift = 0.0 if dot.steady is None else dot.steady - dot.value
    value, low, high = dot.value + shift, dot.low + shift, dot.high + shift
    is_old, is_new = low <= before <= high, low <= after <= high
    if is_old != is_new:
        return OLD if is_old else NEW
    is_nearer_old = abs(value - before) <= abs(value - after)
    if not is_old and not min(before, after) < value < max(before, after):
        return "beyond the old level" if is_nearer_old else "beyond the new level"
    return f"{BETWEEN}, nearer the {'old' if is_nearer_old else 'new'} one"


def _of_one(dot: Dot, chart: BisectChart) -> str:
    assert chart.before is not None
    assert chart.after is not None
    level = level_of(dot, chart.before, chart.after)
    if dot.index <= 0:
        return f"{level}, at the good end"
    if dot.index >= len(chart.names) - 1:
        return f"{level}, at the bad end"
    if level == OLD:
        return f"{OLD}: the step is after it"
    return f"{NEW}: the step is at or before it" if level == NEW else level
