"""Medians side by side, with whiskers from the least to the largest sample. Pure.

Bars begin at zero: they show how much is left, as the intervals beside them show how sure that is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from textwrap import TextWrapper, wrap

from webapp.charts import svg
from webapp.charts.scale import Scale, ticks
from webapp.charts.text import short_number

WIDTH, HEIGHT = 720.0, 380.0
LEFT, RIGHT, FOOT = 64.0, 8.0, 26.0
LEGEND_ROW = 17.0
TITLE, UNIT = 22.0, 20.0
"""Heights of the lines above and below the legend."""

GAP = 0.25
"""Of the width of a group, between it and the next."""
CAP = 4.0
"""Half the width of the ends of a whisker."""
HEADROOM = 1.05
CHARACTER = 6.4
"""Width of a letter of 11 px, about: a line of a label has as many as its group has room for."""
LABEL_ROW, LABEL_ROWS = 13.0, 4
LONGEST_TITLE = 108
KILO = 1000.0
OPACITIES = ("0.75", "0.3")
NOTE_ROW = 15.0
SECOND_RIGHT = 64.0
"""Room for the labels of the second axis."""

IMIX_BITS = 8 * (14 + (7 * 40 + 4 * 576 + 1500) / 12)
"""Bits of an Ethernet frame without checksum on average over simple IMIX: of 12 IP packets 7 of 40
bytes, 4 of 576 and one of 1500, each with a header of 14."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One set: its median, its least and its largest sample."""

    median: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Group:
    """What stands side by side: the sets of one cell, in the order of the sides."""

    label: str
    bars: Sequence[Bar]


@dataclass(frozen=True, slots=True)
class Texts:
    """What stands around the bars: ``title``, ``platform`` below it, ``unit`` at the axis and
    ``note`` at the foot; empty ones take no room."""

    title: str
    unit: str
    platform: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class _Frame:
    """The vertical scale, and the ends of the horizontal one."""

    y: Scale
    foot: float
    right: float


def draw(
    groups: Sequence[Group], *, sides: Sequence[str], texts: Texts, is_of_packets: bool = False
) -> str:
    """The SVG: a group of bars a cell, one colour a side, a second axis in bit/s of packets/s."""
    title, platform, note = map(_wrapped, (texts.title, texts.platform, texts.note))
    head = TITLE + NOTE_ROW * (len(title) + len(platform) - 1)
    top = head + LEGEND_ROW * len(sides) + UNIT
    right = WIDTH - (SECOND_RIGHT if is_of_packets else RIGHT)
    labels = _labels([group.label for group in groups], (right - LEFT) / max(len(groups), 1))
    below = FOOT + LABEL_ROW * (max(map(len, labels), default=1) - 1)
    foot = HEIGHT - below - NOTE_ROW * len(note)
    values = [end for group in groups for bar in group.bars for end in (bar.low, bar.high)]
    finite = [value for value in values if isfinite(value)]
    low, high = min([0.0, *finite]), max([0.0, *finite]) or 1.0
    y = Scale(low * HEADROOM, high * HEADROOM, foot, top)
    frame = _Frame(y, foot, right)
    return svg.document(
        *_lines(title, 14.0, "label"),
        *_lines(platform, 14.0 + NOTE_ROW * len(title)),
        *_legend(sides, head),
        *_axis(frame, texts.unit, top),
        *(_second_axis(frame, top) if is_of_packets else []),
        *(
            one
            for index, (group, label) in enumerate(zip(groups, labels, strict=True))
            for one in _group(group, label, index, len(groups), frame)
        ),
        *_lines(note, foot + below + 7),
        width=WIDTH,
        height=HEIGHT,
        described=texts.title,
        class_="medians",
    )


def _wrapped(text: str) -> list[str]:
    return wrap(text, LONGEST_TITLE, max_lines=2, placeholder=" …")


def _lines(texts: Sequence[str], y: float, class_: str = "") -> list[str]:
    return [
        svg.label(text, x=LEFT, y=y + NOTE_ROW * row, class_=class_)
        for row, text in enumerate(texts)
    ]


def _legend(sides: Sequence[str], head: float) -> list[str]:
    parts = []
    for index, side in enumerate(sides):
        at = head + LEGEND_ROW * index
        box = svg.element(
            "rect",
            x=LEFT,
            y=at,
            width=12.0,
            height=10.0,
            fill="currentColor",
            fill_opacity=_opacity(index),
            class_=_colour(index),
        )
        parts += [box, svg.label(svg.cut(side, LONGEST_TITLE), x=LEFT + 18, y=at + 9)]
    return parts


def _axis(frame: _Frame, unit: str, top: float) -> list[str]:
    y, parts = frame.y, [svg.label(unit, x=2.0, y=top - 5)]
    for value in ticks(y.low, y.high):
        at = y(value)
        parts += [
            svg.element("line", x1=LEFT, x2=frame.right, y1=at, y2=at, class_="grid"),
            svg.label(short_number(value) if value else "0", x=LEFT - 6, y=at + 4, class_="end"),
        ]
    return parts


def _second_axis(frame: _Frame, top: float) -> list[str]:
    """What the same packets are in bits, were they of IMIX."""
    y = frame.y
    text = "the same as Ethernet throughput of simple IMIX"
    parts = [svg.label(text, x=WIDTH - 2, y=top - 5, class_="end")]
    for value in ticks(y.low * IMIX_BITS, y.high * IMIX_BITS):
        at = y(value / IMIX_BITS)
        shown = f"{short_number(value)}{'' if abs(value) >= KILO else ' '}b/s" if value else "0"
        parts += [
            svg.element("line", x1=frame.right, x2=frame.right + 4, y1=at, y2=at, class_="grid"),
            svg.label(shown, x=frame.right + 7, y=at + 4),
        ]
    return parts


def _labels(texts: Sequence[str], room: float) -> list[list[str]]:
    """The lines of each label, a word longer than a line cut. Where a label is longer than a line,
    all are without the words that they begin and end with alike.
    """
    longest = max(int(room / CHARACTER), 2)
    words = [text.split() for text in texts]
    if all(len(text) <= longest for text in texts):
        return [[text] for text in texts]
    for end in (0, -1):
        while len({one[end] for one in words if one}) == 1 < min(map(len, words)) and words[1:]:
            for one in words:
                del one[end]
    lines = TextWrapper(longest, break_on_hyphens=False, max_lines=LABEL_ROWS, placeholder="…")
    return [lines.wrap(" ".join(svg.cut(word, longest) for word in one)) for one in words]


def _group(group: Group, label: Sequence[str], index: int, count: int, frame: _Frame) -> list[str]:
    room = (frame.right - LEFT) / count
    start = LEFT + room * (index + GAP / 2)
    wide = room * (1 - GAP) / max(len(group.bars), 1)
    x, y = LEFT + room * (index + 0.5), frame.foot + 18
    parts = [
        svg.label(text, x=x, y=y + LABEL_ROW * row, class_="middle")
        for row, text in enumerate(label)
    ]
    for order, bar in enumerate(group.bars):
        parts += _bar(bar, start + wide * order, wide, frame.y, order)
    return parts


def _bar(bar: Bar, x: float, wide: float, y: Scale, order: int) -> list[str]:
    ends = y(0.0), y(bar.median)
    middle, cap = x + wide / 2, min(CAP, wide / 3)
    top, foot = y(bar.high), y(bar.low)
    whisker = (
        f"M{middle:.1f} {top:.1f}V{foot:.1f}"
        f"M{middle - cap:.1f} {top:.1f}h{2 * cap:.1f}M{middle - cap:.1f} {foot:.1f}h{2 * cap:.1f}"
    )
    return [
        svg.element(
            "rect",
            x=x,
            y=min(ends),
            width=wide * 0.94,
            height=max(abs(ends[1] - ends[0]), 0.5),
            fill="currentColor",
            fill_opacity=_opacity(order),
            class_=_colour(order),
        ),
        svg.path(whisker, "median-range"),
    ]


def _colour(index: int) -> str:
    return f"series-{index % svg.PALETTE_SIZE}"


def _opacity(index: int) -> str:
    """Where colours are used a second time, they are paler."""
    return OPACITIES[index // svg.PALETTE_SIZE % len(OPACITIES)]
