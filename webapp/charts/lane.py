"""One series of a machine as a lane: all lanes of a panel share one axis of revisions. Pure.

A lane is as wide as the window. Points and levels are drawn in a picture that stretches sideways
while its strokes keep their width; what must not be stretched (triangles, words) hangs at shares
of the width. So one drawing serves every screen.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import chain
from statistics import median

import numpy as np
from numpy.typing import NDArray

from webapp.charts.scale import Scale, tick_texts, ticks
from webapp.charts.svg import cut
from webapp.charts.text import percent
from webapp.charts.trend.series import Level

Array = NDArray[np.float64]

HEIGHT = 112.0
TOP, BASE = 12.0, 100.0
UNITS = 1000.0
"""Width of the stretched picture, in user units."""

INSET = 0.012
"""Share of the width that stays free at either end."""

LEAST = 0.06
"""The scale reaches at least this share of the level to either side: noise is no drama."""

PADDING = 0.05
WHISKER_SHARE = 0.3
"""Whiskers widen the scale by at most this share of what the means span; longer ones are cut."""

LABEL_ROOM = 0.09
"""Share of the width between two labels of changes, at the least."""

LONGEST_NAME = 14
"""Characters of a revision below the lanes, of which a phone has room for two or three."""

TURN = 0.8
"""From this share of the width on, a label stands to the left of its riser."""

TIP = 5.0
CLEAR = 22.0
"""A shorter riser leaves no room for a label between the lines of both levels."""
ABOVE, BELOW = -5.0, 12.0
"""From the line of a level to the foot of a label that stands clear of it."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change from ``before`` to ``after`` (levels) at the index ``at`` of the axis, which began
    between the indices ``since`` and ``until``. ``verdict`` is ``worse`` or ``better``; hollow
    unless it ``is_proven``.
    """

    at: float
    before: float
    after: float
    percent: float | None
    verdict: str
    since: float
    until: float
    is_proven: bool
    text: str


@dataclass(frozen=True, slots=True)
class Mark:
    """A dated thing at an index of the axis, with its words."""

    at: float
    text: str


@dataclass(frozen=True, slots=True)
class Lane:
    """One series: each revision's index on the axis, mean, smallest and largest sample."""

    indices: Sequence[int]
    means: Sequence[float]
    lows: Sequence[float]
    highs: Sequence[float]
    levels: Sequence[Level] = ()
    changes: Sequence[Change] = ()
    marks: Sequence[Mark] = ()


def draw(lane: Lane, *, length: int, described: str) -> str:
    """The SVG of a lane on an axis of ``length`` revisions; ``described`` is its text."""
    y = Scale(*_range(lane), BASE, TOP)
    parts = (_grid(y), _marks(lane, length), _whiskers(lane, length, y), _points(lane, length, y))
    above = (_levels(lane, length, y), _risers(lane, length, y))
    stretched = "".join(chain.from_iterable((*parts, *above)))
    return (
        f'<svg class="lane-plot" height="{HEIGHT:.0f}" role="img" aria-label="{escape(described)}">'
        f'<svg class="fixed-strokes" viewBox="0 0 {UNITS:.0f} {HEIGHT:.0f}" width="100%" '
        f'height="{HEIGHT:.0f}" preserveAspectRatio="none">{stretched}</svg>'
        f"{''.join(_tips(lane, length, y))}</svg>"
    )


def axis(lane: Lane) -> str:
    """The SVG of the lane's vertical axis: it stands to the left and keeps its width."""
    y = Scale(*_range(lane), BASE, TOP)
    values = _ticks(y)
    labels = "".join(
        f'<text x="100%" text-anchor="end" y="{y(value) + 4:.1f}">{text}</text>'
        for value, text in zip(values, tick_texts(values), strict=True)
    )
    return f'<svg class="lane-axis" height="{HEIGHT:.0f}" aria-hidden="true">{labels}</svg>'


def revisions(names: Sequence[tuple[int, str]], *, length: int) -> str:
    """The SVG of the horizontal axis: the names of the revisions at some indices."""
    parts = []
    for index, name in names:
        share = _share(index, length)
        anchor = "start" if share < 0.06 else "end" if share > 0.94 else "middle"
        parts.append(
            f'<text class="mono" x="{100 * share:.1f}%" y="13" text-anchor="{anchor}">'
            f"{escape(cut(name, LONGEST_NAME))}</text>"
        )
    return f'<svg class="lane-plot" height="18" aria-hidden="true">{"".join(parts)}</svg>'


def _share(index: float, length: int) -> float:
    """Where an index lies, as a share of the width."""
    return INSET + (1 - 2 * INSET) * index / max(length - 1, 1)


def _x(index: float, length: int) -> float:
    return UNITS * _share(index, length)


def _range(lane: Lane) -> tuple[float, float]:
    """What the vertical axis reaches: all means and levels, and at least `LEAST` of the level."""
    ends = [end for one in lane.levels for end in (one.start, one.end)]
    values = [*lane.means, *ends]
    level = median(lane.means)
    least = abs(level) * LEAST or 1.0
    low, high = min(*values, level - least), max(*values, level + least)
    reach = (high - low) * WHISKER_SHARE
    low = max(min(low, *lane.lows), low - reach)
    high = min(max(high, *lane.highs), high + reach)
    pad = (high - low) * PADDING
    return low - pad, high + pad


def _ticks(y: Scale) -> list[float]:
    return ticks(y.low, y.high, about=3)


def _grid(y: Scale) -> list[str]:
    lines = "".join(f"M0 {y(value):.1f}H{UNITS:.0f}" for value in _ticks(y))
    return [
        f'<path class="grid" d="{lines}"/>' if lines else "",
        f'<path class="axis" d="M0 {BASE}H{UNITS:.0f}"/>',
    ]


def _marks(lane: Lane, length: int) -> list[str]:
    lines = "".join(f"M{_x(one.at, length):.1f} {TOP}V{BASE}" for one in lane.marks)
    return [f'<path class="marker-line" d="{lines}"/>'] if lines else []


def _whiskers(lane: Lane, length: int, y: Scale) -> list[str]:
    lows, highs = np.asarray(lane.lows, float), np.asarray(lane.highs, float)
    across = _columns(lane, length)
    bottoms = np.maximum(_height(np.maximum(lows, y.low), y), TOP)
    tips = np.maximum(_height(highs, y), TOP)
    return [f'<path class="wh" d="{_written("M%.1f %.1fV%.1f", across, bottoms, tips)}"/>']


def _points(lane: Lane, length: int, y: Scale) -> list[str]:
    means = _height(np.asarray(lane.means, float), y)
    dots = _written("M%.1f %.1fh0", _columns(lane, length), means)
    width = "4.4" if len(lane.means) <= 80 else "3.2"
    return [f'<path class="pt" stroke-width="{width}" d="{dots}"/>']


def _columns(lane: Lane, length: int) -> Array:
    """Where the points stand, in user units: `_x` of all of them."""
    step = (1 - 2 * INSET) * UNITS / max(length - 1, 1)
    return INSET * UNITS + step * np.asarray(lane.indices, float)


def _height(values: Array, y: Scale) -> Array:
    """Where values lie on the scale, in user units: ``y`` of all of them."""
    return BASE + (values - y.low) * ((y.end - y.start) / (y.high - y.low))


def _written(form: str, *columns: Array) -> str:
    """``form`` once for each row of ``columns``: one formatting for thousands of numbers."""
    return form * len(columns[0]) % tuple(np.column_stack(columns).ravel().tolist())


def _levels(lane: Lane, length: int, y: Scale) -> list[str]:
    lines = "".join(
        f"M{_x(one.first, length):.1f} {y.clamped(one.start):.1f}"
        f"L{_x(one.last, length):.1f} {y.clamped(one.end):.1f}"
        for one in lane.levels
    )
    return [f'<path class="lv" d="{lines}"/>'] if lines else []


def _risers(lane: Lane, length: int, y: Scale) -> list[str]:
    drawn = []
    for one in lane.changes:
        x = _x(one.at, length)
        candidate = "" if one.is_proven else " candidate"
        drawn.append(
            f'<path class="riser {escape(one.verdict)}{candidate}" '
            f'd="M{x:.1f} {y.clamped(one.before):.1f}V{y.clamped(one.after):.1f}"/>'
            f'<path class="began" d="M{_x(one.since, length):.1f} {BASE}'
            f'H{_x(one.until, length):.1f}"/>'
        )
    return drawn


def _tips(lane: Lane, length: int, y: Scale) -> list[str]:
    """What keeps its shape: triangles, sizes and the words of marks."""
    drawn = [_mark_text(one, length) for one in lane.marks]
    last = -1.0
    for one in sorted(lane.changes, key=lambda one: (not one.is_proven, one.at)):
        share = _share(one.at, length)
        is_free = abs(share - last) >= LABEL_ROOM and one.is_proven
        drawn.append(_tip(one, share, y, labelled=is_free))
        last = share if is_free else last
    return drawn


def _tip(one: Change, share: float, y: Scale, *, labelled: bool) -> str:
    up = one.after > one.before
    end = y.clamped(one.after)
    size = min(1.6 * TIP, max(abs(end - y.clamped(one.before)), 4.0))
    back = end + size if up else end - size
    candidate = "" if one.is_proven else " candidate"
    verdict = escape(one.verdict)
    triangle = (
        f'<path class="tri {verdict}{candidate}" d="M{-TIP} {back:.1f}h{2 * TIP}L0 {end:.1f}z">'
        f"<title>{escape(one.text)}</title></path>"
    )
    left = share > TURN
    foot = _foot(one, y, left=left)
    text = (
        f'<text class="{verdict} strong halo" x="{-8 if left else 8}" y="{foot:.1f}"'
        f"{' text-anchor=' + chr(34) + 'end' + chr(34) if left else ''}>{percent(one.percent)}"
        "\N{NARROW NO-BREAK SPACE}%</text>"
        if labelled and one.percent is not None
        else ""
    )
    return f'<svg class="at" x="{100 * share:.2f}%">{triangle}{text}</svg>'


def _foot(one: Change, y: Scale, *, left: bool) -> float:
    """Where the label of a change stands: at the middle of its riser, or beside a short one on the
    side of the level's line where nothing is drawn.
    """
    before, after = y.clamped(one.before), y.clamped(one.after)
    if abs(after - before) >= CLEAR:
        return y.clamped((one.before + one.after) / 2) + 4
    is_above = (after > before) != left
    return (before if left else after) + (ABOVE if is_above else BELOW)


def _mark_text(one: Mark, length: int) -> str:
    share = _share(one.at, length)
    side = 'x="-5" text-anchor="end"' if share > 0.6 else 'x="5"'
    return (
        f'<svg class="at" x="{100 * share:.2f}%"><text {side} y="9">{escape(one.text)}</text></svg>'
    )
