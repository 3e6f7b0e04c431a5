"""What a series has lost today, in words: the same beside every alert, on pages, in mails and in
answers. Pure: what a summary holds in (`webapp.stats.changes.NetLoss` as data), text out.
"""

from collections.abc import Mapping
from typing import Any

from webapp.charts.text import (
    POINTS,
    change_within,
    cost_figure,
    cost_interval,
    cost_moved,
    finding_sentence,
    interval,
    number,
    percent,
)

Stands = Mapping[str, Any]
Change = tuple[float | None, float | None, float | None]

WON_BACK = "no loss stands today"
STILL = "still so today"
"""Where a change is all that its series lost."""


def today_size(stands: Stands, *, better: str, unit: str, is_cost: bool = False) -> str:
    """``13.0 % slower [−13.3, −12.8]``; of a cost ``rose from 1.1 to 3.8 % [+2.5, +2.9]``."""
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
) -> str:
    """`today_sentence` beside a ``change`` in percent with its interval; where both print the same,
    ``still so today, newest value 981,204``.
    """
    if is_the_same(change, stands):
        return STILL if is_cost else f"{STILL}, newest value {number(newest)}"
    return today_sentence(stands, newest, better=better, unit=unit, is_cost=is_cost)


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
