"""What an option costs, revision by revision: a mode with it over the mode without it. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isfinite, sqrt

from webapp.charts.trend.trend import TrendSeries

WHOLE = 100.0
"""Percent: the option costs nothing."""

FEWEST = 2
"""Revisions that both modes have, at the least: of one the comparison page says more."""

MOST = 4
"""Lanes of costs: with more the levels themselves would be out of sight."""

Ends = tuple[float | None, float | None]


def cost(
    with_it: TrendSeries, without: TrendSeries, *, name: str, id_: int, has_intervals: bool
) -> TrendSeries | None:
    """The ratio in percent at each revision that both have, with a 95 % interval where both have
    one and whiskers are such (``has_intervals``); None where fewer than `FEWEST` revisions do.

    The interval is that of a ratio of independent means, by the delta method: the root of the sum
    of the squares of both relative half widths.
    """
    at = {index: number for number, index in enumerate(without.indices)}
    pairs = [
        (number, at[index])
        for number, index in enumerate(with_it.indices)
        if index in at and _is_usable(without.centres[at[index]])
    ]
    if len(pairs) < FEWEST:
        return None
    ratios = [WHOLE * with_it.centres[one] / without.centres[other] for one, other in pairs]
    halves = [
        _half(ratio, _width(with_it, one), _width(without, other)) if has_intervals else None
        for ratio, (one, other) in zip(ratios, pairs, strict=True)
    ]
    return replace(
        with_it,
        id=id_,
        mode=name,
        indices=[with_it.indices[one] for one, _ in pairs],
        counts=[with_it.counts[one] for one, _ in pairs],
        centres=ratios,
        lows=[None if half is None else r - half for r, half in zip(ratios, halves, strict=True)],
        highs=[None if half is None else r + half for r, half in zip(ratios, halves, strict=True)],
        levels=(),
        found=(),
        marks=(),
        apart=(),
        left_out={},
        detects="",
        noise="",
        is_cost=True,
    )


def _is_usable(value: float) -> bool:
    return isfinite(value) and value != 0


def _width(series: TrendSeries, at: int) -> float | None:
    """Half the interval, as a share of the value."""
    low, high, centre = series.lows[at], series.highs[at], series.centres[at]
    return None if low is None or high is None or not centre else (high - low) / 2 / abs(centre)


def _half(ratio: float, one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else abs(ratio) * sqrt(one * one + other * other)


def costs(
    series: Sequence[TrendSeries],
    base_of: Mapping[str, tuple[str, str]],
    *,
    has_intervals: bool = True,
) -> list[TrendSeries]:
    """The costs of the options among ``series``. ``base_of`` gives for a mode the mode without its
    last option, and that option.
    """
    by_name = {(one.hardware, one.mode): one for one in series}
    found: list[TrendSeries] = []
    for one in series:
        base, option = base_of.get(one.mode, ("", ""))
        without = by_name.get((one.hardware, base))
        if without is None:
            continue
        title = f"{base}: with +{option} / without"
        ratio = cost(one, without, name=title, id_=-1 - len(found), has_intervals=has_intervals)
        if ratio is not None:
            found.append(ratio)
    return found[:MOST]
