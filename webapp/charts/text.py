"""Numbers, verdicts and costs as people read them. Pure: plain values in, text out.

A cost is kept as a ratio, with the option over without, in percent: of a rate 96.3, of a time
103.8. Read as a cost that is 3.7 % and 3.8 %; less than nothing is a gain, and has a minus.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from math import inf, isfinite
from typing import Any

import numpy as np

MINUS = "\N{MINUS SIGN}"
HYPHEN_AS_MINUS = re.compile(r"(?<![\w/.-])-(?=\d)")
PLUS_MINUS = "\N{PLUS-MINUS SIGN}"
UNKNOWN = "\N{EN DASH}"

MARKS = {
    "worse": "\N{BLACK DOWN-POINTING SMALL TRIANGLE}",
    "better": "\N{BLACK UP-POINTING SMALL TRIANGLE}",
    "equivalent": "=",
    "cannot tell": "?",
    "builds differ": "\N{NOT EQUAL TO}",
    "lab?": "!",
}
"""What stands before a verdict, so that colour never stands alone."""

SIGNIFICANT_DIGITS = 6
"""Of a figure that a script draws."""

_EXACT_POWERS = 22
"""10 to the power of 22 is the last that a double holds exactly."""

_BELOW_EDGE = 0.5 - 1e-6
"""How far from a whole number what is surely not on the edge between two may lie; what scaling adds
is below 10⁻⁹."""

AT_MOST = "\N{LESS-THAN OR EQUAL TO} "
MANIFOLD = 10
"""From so many times as much on two levels are read more easily than a percentage."""
ROUNDED = 1e-9
"""Of a level that logarithms were taken of."""

LARGE = 1e15
SMALL = 1e-4
RATE_MARK = "/s"
THOUSANDS = (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3))
TIME_UNITS = frozenset({"s", "ms", "µs", "us", "ns", "seconds"})

Ends = tuple[float | None, float | None]

NOTHING = 100.0
"""The ratio, in percent, of an option that costs nothing."""

POINTS = "points"
"""The unit of a difference of two costs: percent of the speed without the option, not of a cost."""


def number(value: float | None) -> str:
    """``value`` with thousands separators and at least four significant digits.

    None and what is not finite read as a dash: a page never shows NaN.
    """
    if value is None or not isfinite(value):
        return UNKNOWN
    size = abs(value)
    if size != 0 and (size >= LARGE or size < SMALL):
        text = f"{value:.4g}"
    elif size >= 1000 or value == int(value):
        text = f"{value:,.0f}"
    else:
        text = f"{value:.4g}"
    return with_sign(text)


def with_sign(text: str) -> str:
    """``text`` of a number with the minus sign that pages use; nought has none."""
    is_nought = not text.strip("-+0., TGMk")
    return text.lstrip("+-") if is_nought else text.replace("-", MINUS)


def rounded(value: float | None) -> float | None:
    """``value`` to `SIGNIFICANT_DIGITS`; a whole number loses its fraction; not finite is None."""
    if value is None or not isfinite(value):
        return None
    short = float(f"{value:.{SIGNIFICANT_DIGITS}g}")
    return int(short) if abs(short) < LARGE and short.is_integer() else short


def all_rounded(values: Sequence[float | None]) -> list[float | None]:
    """`rounded` of each of ``values``, a hundred times as fast: a chart has thousands.

    Powers of ten up to `_EXACT_POWERS` and whole numbers of six digits are exact doubles, so that
    their quotient is the nearest double of the decimal number, as reading its digits gives. What
    lies on the edge between two such numbers, and what is smaller or larger, is left to `rounded`.
    """
    given = np.array(values, np.float64)
    with np.errstate(all="ignore"):
        power = SIGNIFICANT_DIGITS - 1 - np.floor(np.log10(np.abs(given)))
        by = 10.0 ** np.abs(power)
        scaled = np.where(power >= 0, given * by, given / by)
        whole = np.rint(scaled)
        is_plain = (np.abs(power) <= _EXACT_POWERS) & (np.abs(scaled - whole) < _BELOW_EDGE)
        short = np.where(power >= 0, whole / by, whole * by)
    short = np.where(is_plain, short, 0.0)
    is_whole = (np.rint(short) == short) & (np.abs(short) < LARGE)
    found: list[float | None]
    if is_whole.all():
        found = short.astype(np.int64).tolist()
    else:
        found = [
            int(one) if whole else one
            for one, whole in zip(short.tolist(), is_whole.tolist(), strict=True)
        ]
    for at in np.flatnonzero(~is_plain).tolist():
        found[at] = rounded(values[at])
    return found


def thousands_of(size: float) -> tuple[str, float]:
    """The letter of the largest power of a thousand that ``size`` reaches, and that power; below a
    thousand no letter, and 1.
    """
    return next(((letter, unit) for letter, unit in THOUSANDS if size >= unit * 0.9995), ("", 1.0))


def short_number(value: float | None) -> str:
    """``value`` to three digits with the letter of its thousands: ``1.16 M``, ``981 k``."""
    if value is None or not isfinite(value):
        return UNKNOWN
    size = abs(value)
    if size and (size >= LARGE or size < SMALL):
        return number(value)
    letter, unit = thousands_of(size)
    shown = value / unit
    decimals = 2 if abs(shown) < 9.995 else 1 if abs(shown) < 99.95 else 0
    return with_sign(f"{shown:,.{decimals}f} {letter}".rstrip())


def percent(value: float | None) -> str:
    """A signed change in percent without its unit: ``+82.5``, ``−0.42``, ``0.0``."""
    if value is None or not isfinite(value):
        return UNKNOWN
    return with_sign(f"{value:+,.{_decimals(value)}f}")


def half_width(value: float | None) -> str:
    """Half the width of an interval, in percent, without sign or unit."""
    if value is None or not isfinite(value):
        return UNKNOWN
    return f"{value:,.{_decimals(value)}f}"


def one_revision(n: int, mean: float, minimum: float, maximum: float) -> str:
    """The figures of a series of one revision: ``n = 5, from 99 to 101 (2.0 % of the mean)``."""
    if n == 1:
        return f"n = 1, {number(mean)}"
    share = abs(100 * (maximum - minimum) / mean) if mean else inf
    of_mean = f" ({half_width(share)} % of the mean)" if isfinite(share) else ""
    return f"n = {n:,}, from {number(minimum)} to {number(maximum)}{of_mean}"


def change(value: float | None, error: float | None) -> str:
    """A change with its interval: ``−11.4 ± 0.9``; the interval is left out when unknown."""
    if value is None or not isfinite(value):
        return UNKNOWN
    if error is None or not isfinite(error):
        return percent(value)
    return f"{percent(value)} {PLUS_MINUS} {half_width(error)}"


def change_within(value: float | None, low: float | None, high: float | None) -> str:
    """A change with the ends of its interval: ``−11.4 [−12.3, −10.5]``; without, when unknown."""
    ends = interval(low, high)
    return f"{percent(value)} {ends}" if ends and value is not None else percent(value)


def interval(low: float | None, high: float | None) -> str:
    """The ends of an interval in percent: ``[−12.3, −10.5]``; empty when unknown."""
    if low is None or high is None or not (isfinite(low) and isfinite(high)):
        return ""
    return f"[{percent(low)}, {percent(high)}]"


def chance(probability: float) -> str:
    """A probability as whole percent that never claims certainty: ``97 %``, ``> 99 %``."""
    if probability > 0.99:
        return "> 99 %"
    return "< 1 %" if probability < 0.01 else f"{100 * probability:.0f} %"


def small_share(value: float) -> str:
    """A p- or q-value to two significant digits: ``= 0.031``, ``< 0.0001``."""
    return f"< {SMALL:.4f}" if value < SMALL else f"= {value:.2g}"


def _decimals(value: float) -> int:
    size = abs(value)
    if size >= 100:
        return 0
    return 1 if size >= 1 else 2


def direction(*, percent: float, better: str, unit: str) -> str:
    """The metric's own word for a change: slower or faster where that fits, else lower or higher.

    ``better`` is ``more`` or ``less``. Packets a second fall: slower. Seconds fall: faster. Of
    drops a second, where less is better, a fall is neither: lower.
    """
    grown = percent > 0
    if unit.endswith(RATE_MARK) and better == "more":
        return "faster" if grown else "slower"
    if unit in TIME_UNITS and better == "less":
        return "slower" if grown else "faster"
    return "higher" if grown else "lower"


def finding_sentence(
    *, percent: float | None, low: float | None, high: float | None, better: str, unit: str
) -> str:
    """``11.4 % slower [−12.3, −10.5]``; the words alone when the size is beyond all figures."""
    if percent is None:
        return "changed beyond any percentage"
    size = half_width(abs(percent))
    text = f"{size} % {direction(percent=percent, better=better, unit=unit)}"
    return f"{text} {interval(low, high)}".rstrip()


def with_minus(sentence: str) -> str:
    """A stored sentence with a minus sign before its numbers; hyphens in words stay."""
    return HYPHEN_AS_MINUS.sub(MINUS, sentence)


def better_text(better: str) -> str:
    """The direction of a series, in full; empty: several are shown, and they differ."""
    text = {"more": "more is better", "less": "less is better"}
    return text.get(better, "which way is better differs between these series")


def common(ways: Iterable[str]) -> str:
    """The direction that all of them share, empty where they differ."""
    found = set(ways)
    return found.pop() if len(found) == 1 else ""


def largest_parts(parts: Iterable[tuple[str, str, float]]) -> str:
    """``the largest parts: −3.1 % from r300100 to r301200, −2 % from r305000 to r306000`` of a slow
    loss, each ``(after, up to, percent)``; empty where it went evenly.
    """
    texts = [f"{percent(pct)} % from {after} to {up_to}" for after, up_to, pct in parts]
    if not texts:
        return ""
    return f"the largest part{'s' if len(texts) > 1 else ''}: {', '.join(texts)}"


FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How a cell begins that a spreadsheet computes instead of showing it (OWASP, CSV injection)."""


def as_cell(value: Any) -> Any:
    """A value of CSV; text that a spreadsheet would compute is marked as text."""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value


def cost(ratio: float, better: str) -> float:
    """The cost in percent of a ratio; ``better`` is ``more`` or ``less``."""
    found = ratio - NOTHING if better == "less" else NOTHING - ratio
    return found or 0.0


def cost_figure(ratio: float | None, better: str) -> str:
    """``3.7 %``; a dash where the ratio is not known."""
    return UNKNOWN if ratio is None else f"{_plain(cost(ratio, better))} %"


def level_figure(level: float | None, better: str, *, is_cost: bool, least: float = 0.0) -> str:
    """A level of a series in the metric's unit; of an option what it costs. ``≤ 1`` where it is the
    ``least`` that the detector reads for 0.
    """
    if is_cost:
        return cost_figure(level, better)
    is_least = least > 0 and level is not None and level <= least * (1 + ROUNDED)
    return f"{AT_MOST}{number(level)}" if is_least else number(level)


def end_levels(
    before: float, after: float, change_pct: float | None, least: float
) -> tuple[str, str] | None:
    """``≤ 1`` and ``29.95``: the levels (`level_figure`) before and after a change of which a
    percentage is no figure. One of them is the ``least``, which stands for 0, or the later is
    `MANIFOLD` of the earlier. None of other changes.
    """
    limit = least * (1 + ROUNDED)
    is_nothing = least > 0 and min(before, after) <= limit < max(before, after)
    if change_pct is None or not (is_nothing or change_pct >= NOTHING * (MANIFOLD - 1)):
        return None
    old, new = (level_figure(one, "", is_cost=False, least=least) for one in (before, after))
    return old, new


def levels_moved(levels: tuple[str, str], *, grown: bool, unit: str) -> str:
    """``rose from ≤ 1 to 29.95 packets`` of `end_levels`."""
    return f"{'rose' if grown else 'fell'} from {' to '.join(levels)} {unit}"


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


Stands = Mapping[str, Any]
Change = tuple[float | None, float | None, float | None]

WON_BACK = "no loss stands today"
STILL = "still so today"
"""Where a change is all that its series lost."""


def today_size(
    stands: Stands, *, better: str, unit: str, is_cost: bool = False, least: float = 0.0
) -> str:
    """``13.0 % slower [−13.3, −12.8]``; of a cost ``rose from 1.1 to 3.8 % [+2.5, +2.9]``; of what
    was nothing ``rose from ≤ 1 to 29.95 packets`` (`end_levels`).
    """
    if levels := None if is_cost else today_levels(stands, least):
        return levels_moved(levels, grown=stands["change_pct"] > 0, unit=unit)
    low, high = stands["low_pct"], stands["high_pct"]
    if is_cost and stands["change_pct"] is not None:
        before, after = stands["level_before"], stands["level"]
        ends = cost_interval(before, low, high, better)
        return f"{cost_moved(before, after, better)} {ends}".rstrip()
    return finding_sentence(
        percent=stands["change_pct"], low=low, high=high, better=better, unit=unit
    )


def today_sentence(
    stands: Stands,
    newest: float | None = None,
    *,
    better: str,
    unit: str,
    is_cost: bool = False,
    least: float = 0.0,
) -> str:
    """``today 13.0 % slower [−13.3, −12.8] than before r357934, newest value 981,204``; of a cost
    ``today 3.8 %, before r364648 1.1 %, [+2.5, +2.9] points``.
    """
    since, after = stands["since"]["label"], stands["level"]
    if is_cost and stands["change_pct"] is not None:
        before = stands["level_before"]
        ends = cost_interval(before, stands["low_pct"], stands["high_pct"], better)
        figures = cost_figure(after, better), cost_figure(before, better)
        return f"today {figures[0]}, before {since} {figures[1]}, {ends} {POINTS}"
    if levels := today_levels(stands, least):
        return f"today {levels[1]}, before {since} {levels[0]} {unit}"
    text = f"today {today_size(stands, better=better, unit=unit)}"
    if stands["change_pct"] is None:
        return f"{text} since {since}"
    text += f" than {'at' if stands['is_slow'] else 'before'} {since}"
    return text if newest is None else f"{text}, newest value {number(newest)}"


def today_beside(
    change: Change,
    stands: Stands,
    newest: float | None,
    *,
    better: str,
    unit: str,
    is_cost: bool = False,
    least: float = 0.0,
) -> str:
    """`today_sentence` beside a ``change`` in percent with its interval; where both print the same,
    ``still so today, newest value 981,204``.
    """
    if is_the_same(change, stands):
        return STILL if is_cost else f"{STILL}, newest value {number(newest)}"
    return today_sentence(stands, newest, better=better, unit=unit, is_cost=is_cost, least=least)


def today_levels(stands: Stands, least: float) -> tuple[str, str] | None:
    """`end_levels` of what has been lost today."""
    return end_levels(stands["level_before"], stands["level"], stands["change_pct"], least)


def is_the_same(change: Change, stands: Stands) -> bool:
    """Whether both print as one change."""
    now = stands["change_pct"], stands["low_pct"], stands["high_pct"]
    return change_within(*change) == change_within(*now)


def short_beside(change: Change, stands: Stands, *, is_cost: bool = False) -> str:
    """`today_short` beside a ``change``; where both print the same, ``still so today``."""
    if is_the_same(change, stands):
        return STILL
    return "" if is_cost else today_short(stands)


def begins_between(stands: Stands, first: int, last: int) -> bool:
    """Whether the loss begins after the earlier of two positions, at the latest at the later one. A
    slow loss begins where the level is still the one before.
    """
    earlier, later = sorted((first, last))
    since = stands["since"]["position"]
    return bool(earlier <= since < later if stands["is_slow"] else earlier < since <= later)


def today_short(stands: Stands) -> str:
    """``today −13.0 % [−13.3, −12.8]``; empty of a change beyond all figures."""
    if stands["change_pct"] is None:
        return ""
    ends = interval(stands["low_pct"], stands["high_pct"])
    return f"today {percent(stands['change_pct'])} % {ends}".rstrip()
