"""The charts of a bisect: boots above, probability beneath, on one axis of revisions; and how much
is still to learn, boot by boot. Pure.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import ceil

from webapp.charts import svg
from webapp.charts.scale import Scale, spread_labels, tick_texts, ticks, y_range
from webapp.charts.text import chance, number

WIDTH, HEIGHT = 1060.0, 420.0
LEFT, RIGHT = 76.0, 20.0
UPPER = (28.0, 250.0)
LOWER = (296.0, 390.0)
LABELS = 8
TOPS = (10, 20, 50, 100)
ALIKE = 0.9
"""Of a probability: what is above that shares one label, and leads together."""

LEAST_LABELLED = 0.05
"""Probability below which a bar has no label: its title has it."""

LEAST_LINE = 90.0
"""Pixels of a level's line from which on it is named."""

SHARE_ROOM = 64.0
"""Pixels that the label of bars takes."""

NEXT = "next boot"
NEXT_ROOM = 240.0
"""Pixels at the left that the title of the axis takes."""
RADIUS = 3.6
WEAK = "weak"
NAMES = {
    "history": "measured before",
    "run": "measured for it",
    "anchor": "anchor: an end booted again",
    "pasted": "entered by hand",
    WEAK: "set aside as weak",
}
"""Where a boot comes from, in words; the key is its CSS class."""


@dataclass(frozen=True, slots=True)
class Dot:
    """One boot: its revision and the index of that (below 0 and above the last: neighbours
    beside the ends), its value, and the 95 % interval of that. ``steady``: the value less the
    machine's own shift, where it probably moved.
    """

    name: str
    index: int
    value: float
    low: float
    high: float
    source: str
    steady: float | None = None


@dataclass(frozen=True, slots=True)
class BisectChart:
    """Revisions from the good one (index 0) to the bad one.

    ``chances`` is the probability of each revision to be the first bad one, 0 for the good one;
    ``skipped`` are indices that cannot be measured, ``unlikely`` those that began with less weight,
    and why; ``next`` those that are measured next. ``before`` and ``after`` are the levels on
    either side of the step as far as they are known, in ``unit``.
    """

    names: Sequence[str]
    dots: Sequence[Dot]
    chances: Sequence[float]
    skipped: frozenset[int]
    unit: str
    better: str
    before: float | None = None
    after: float | None = None
    unlikely: Mapping[int, str] = field(default_factory=dict)
    next: frozenset[int] = frozenset()


def draw(chart: BisectChart) -> str:
    """The SVG: each boot with its interval, the levels of the step, a bar for each commit."""
    first, last = _ends(chart)
    x = Scale(first - 0.6, last + 0.6, LEFT, WIDTH - RIGHT)
    upper = Scale(*_y_range(chart), UPPER[1], UPPER[0])
    lower = Scale(0.0, float(_top(chart)), LOWER[1], LOWER[0])
    return svg.document(
        *_next(chart, x),
        *_frame(x, upper, f"{chart.unit}, {chart.better} is better"),
        *_frame(x, lower, "probability of being the first bad one, %"),
        *_levels(chart, x, upper),
        *(part for dot in chart.dots for part in _dot(chart, dot, x, upper)),
        *_bars(chart, x, lower),
        *_shares(chart, x, lower),
        *_names(chart, x),
        width=WIDTH,
        height=HEIGHT,
        described=f"Boots of a bisect over {len(chart.names)} revisions, and their probabilities",
        class_="bisect",
    )


def _frame(x: Scale, y: Scale, title: str) -> list[str]:
    values = ticks(y.low, y.high, about=4 if y.start < LOWER[0] else 2)
    lines = "".join(f"M{x.start:.0f} {y(value):.1f}H{x.end:.0f}" for value in values)
    return [
        svg.label(title, x=4.0, y=y.end - 8, class_="axis-title"),
        svg.path(lines or "M0 0", "grid"),
        svg.path(f"M{x.start:.0f} {y.start:.1f}H{x.end:.0f}", "axis"),
        *(
            svg.label(text, x=x.start - 8, y=y(value) + 4, class_="tick end")
            for value, text in zip(values, tick_texts(values), strict=True)
        ),
    ]


def _next(chart: BisectChart, x: Scale) -> list[str]:
    """A band over each commit that is measured next."""
    parts = []
    wide = max(x.slope, 6.0)
    for index in sorted(chart.next):
        across = x(index)
        box = {"x": across - wide / 2, "y": UPPER[0] - 4, "width": wide}
        parts.append(svg.element("rect", **box, height=LOWER[1] - UPPER[0] + 4, class_="next"))
    if chart.next and (at := x(min(chart.next))) > NEXT_ROOM:
        parts.append(svg.label(NEXT, x=at, y=UPPER[0] - 9, class_="strong middle"))
    return parts


def _levels(chart: BisectChart, x: Scale, y: Scale) -> list[str]:
    """Each level, dashed from where the step may lie on; and its name where there is room."""
    open_at = [index for index, likely in enumerate(chart.chances) if likely >= LEAST_LABELLED]
    to_old = x((open_at[0] if open_at else 0) - 0.5)
    from_new = x((open_at[-1] if open_at else len(chart.names)) - 0.5)
    sides = (
        ("old level", chart.before, x.start, to_old),
        ("new level", chart.after, from_new, x.end),
    )
    parts = []
    for name, level, start, end in sides:
        if level is None:
            continue
        up = y.clamped(level)
        parts.append(svg.path(f"M{x.start:.0f} {up:.1f}H{x.end:.0f}", "was"))
        if open_at and end > start:
            parts.append(svg.path(f"M{start:.1f} {up:.1f}H{end:.1f}", "lv"))
        if open_at and end - start >= LEAST_LINE:
            parts.append(svg.label(name, x=(start + end) / 2, y=up + 14, class_="tick middle"))
    return parts


def _dot(chart: BisectChart, dot: Dot, x: Scale, y: Scale) -> list[str]:
    """One boot; those of one revision stand beside one another."""
    across = x(_beside(chart.dots, dot))
    described = f"{dot.name}: {number(dot.value)} {chart.unit}, {NAMES[dot.source]}"
    whisker = f"M{across:.1f} {y.clamped(dot.low):.1f}V{y.clamped(dot.high):.1f}"
    title = svg.element("title", svg.plain_text(described))
    return [
        svg.path(whisker, "wh"),
        _mark(dot, title, across, y.clamped(dot.value)),
        *_steady(dot, across, y),
    ]


def _mark(dot: Dot, title: str, x: float, y: float) -> str:
    """A point; a diamond for an anchor."""
    css_class = f"boot {dot.source}"
    if dot.source != "anchor":
        return svg.element("circle", title, cx=x, cy=y, r=RADIUS, class_=css_class)
    side = 1.4 * RADIUS
    diamond = f"M{x:.1f} {y - side:.1f}l{side} {side}l-{side} {side}l-{side} -{side}z"
    return svg.element("path", title, d=diamond, class_=css_class)


def _steady(dot: Dot, x: float, y: Scale) -> list[str]:
    """Where the boot would lie, had the machine not moved: the rest is the machine's walk."""
    if dot.steady is None:
        return []
    title = svg.element("title", f"{number(dot.steady)} less what the machine moved")
    line = f"M{x - RADIUS:.1f} {y.clamped(dot.steady):.1f}h{2 * RADIUS}"
    return [svg.element("path", title, d=line, class_="steady")]


def _bars(chart: BisectChart, x: Scale, y: Scale) -> list[str]:
    """The probability of each commit; hatched what cannot be measured, crossed what is unlikely."""
    parts = []
    width = max(0.8 * x.slope, 1.5)
    for index, likely in enumerate(chart.chances):
        across = x(index)
        described = f"{chart.names[index]}: {number(100 * likely)} %"
        if index in chart.skipped:
            described = f"{chart.names[index]}: cannot be measured"
            box = {"x": across - width / 2, "y": y.end, "width": width, "height": y.start - y.end}
            title = svg.element("title", svg.plain_text(described))
            parts.append(svg.element("rect", title, **box, class_="skipped"))
        if likely > 0:
            high = y.start - y.clamped(100 * likely)
            box = {"x": across - width / 2, "y": y.start - high, "width": width, "height": high}
            title = svg.element("title", svg.plain_text(described))
            parts.append(svg.element("rect", title, **box, class_="bw"))
        if index in chart.unlikely:
            cross = f"M{across - 3:.1f} {y.start - 3:.1f}l6 6m0-6l-6 6"
            reason = f"{chart.names[index]}: touches {chart.unlikely[index]}"
            title = svg.element("title", svg.plain_text(reason))
            parts.append(svg.element("path", title, d=cross, class_="unlikely"))
    return parts


def _shares(chart: BisectChart, x: Scale, y: Scale) -> list[str]:
    """``36 % each``: what neighbours of equal probability have, beside them where there is room."""
    groups: list[list[int]] = []
    for index, likely in enumerate(chart.chances):
        if likely < LEAST_LABELLED:
            continue
        last = groups[-1][-1] if groups else None
        if last == index - 1 and _are_alike(chart.chances[last], likely):
            groups[-1].append(index)
        else:
            groups.append([index])
    taken = {index for group in groups for index in group}
    return [_share(chart, group, taken, x, y) for group in groups]


def _are_alike(one: float, other: float) -> bool:
    return min(one, other) >= ALIKE * max(one, other)


def _share(chart: BisectChart, group: Sequence[int], taken: set[int], x: Scale, y: Scale) -> str:
    most = max(chart.chances[index] for index in group)
    label = chance(most) + (" each" if len(group) > 1 else "")
    half = 0.5 * x.slope
    up = max(y.clamped(100 * most) + 10, y.end + 10)
    left, right = x(group[0]) - half, x(group[-1]) + half
    if group[0] - 1 not in taken and left - SHARE_ROOM >= x.start:
        return svg.label(label, x=left - 4, y=up, class_="strong end")
    if group[-1] + 1 not in taken and right + SHARE_ROOM <= x.end:
        return svg.label(label, x=right + 4, y=up, class_="strong")
    return ""


def _names(chart: BisectChart, x: Scale) -> list[str]:
    return [
        svg.label(chart.names[at], x=x(at), y=HEIGHT - 10, class_="mono middle")
        for at in spread_labels(len(chart.names), LABELS)
    ]


def _beside(dots: Sequence[Dot], dot: Dot) -> float:
    """Where it stands: boots of one revision side by side, in the order they were measured."""
    beside = [one for one in dots if one.index == dot.index]
    order = next(index for index, one in enumerate(beside) if one is dot)
    return dot.index + 0.6 * ((order + 1) / (len(beside) + 1) - 0.5)


def _top(chart: BisectChart) -> int:
    """Where the axis of probability ends, percent: small bars are still to be distinguished."""
    highest = 100 * max(chart.chances, default=0)
    return next(top for top in TOPS if highest <= top or top == TOPS[-1])


def _y_range(chart: BisectChart) -> tuple[float, float]:
    levels = [level for level in (chart.before, chart.after) if level is not None]
    steady = [dot.steady for dot in chart.dots if dot.steady is not None]
    centres = [*levels, *(dot.value for dot in chart.dots), *steady]
    return y_range(centres, [dot.low for dot in chart.dots], [dot.high for dot in chart.dots])


def _ends(chart: BisectChart) -> tuple[int, int]:
    """The first and the last index that is drawn."""
    indices = [dot.index for dot in chart.dots]
    return min(0, *indices, 0), max(len(chart.names) - 1, *indices, 0)


BITS_WIDTH, BITS_HEIGHT = 300.0, 132.0
BITS_LEFT, BITS_RIGHT, TOP, BASE = 26.0, 290.0, 12.0, 112.0
LINES = 3
"""Lines of the grid above zero."""
LABEL = 74.0
"""Pixels that the words at the end of the line take, with their distance from it."""


def draw_missing_bits(
    steps: Sequence[tuple[int, float]], left: tuple[float, float] | None = None
) -> str:
    """The SVG of (boots, bits) in their order, at least one; 0 bits is certain.

    ``left``: within how many more boots half of such searches end, and nine in ten.
    """
    to_come = left[1] if left else 0.0
    x = Scale(0.0, max(steps[-1][0] + to_come, 1.0), BITS_LEFT, BITS_RIGHT)
    gap = max(ceil(max(bits for _, bits in steps) / LINES), 1)
    y = Scale(0.0, float(LINES * gap), BASE, TOP)
    along = [(x(float(boots)), y(bits)) for boots, bits in steps]
    last_boots, last_bits = steps[-1]
    at, up = along[-1]
    return svg.document(
        *(part for line in range(LINES + 1) for part in _line(y, line * gap)),
        *(_boots(x, boots) for boots in (steps[0][0], last_boots)),
        *(_forecast(x, y, steps[-1], left) if left else ()),
        svg.element("path", class_="lv", d="M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in along)),
        svg.element("circle", cx=at, cy=up, r=3.5, class_="at"),
        _bits_left(last_bits, along, is_going_on=left is not None),
        width=BITS_WIDTH,
        height=BITS_HEIGHT,
        described=f"{last_bits:.1f} bits left after {last_boots} boots",
        class_="bits",
    )


def _bits_left(bits: float, along: Sequence[tuple[float, float]], *, is_going_on: bool) -> str:
    """What is left, beside the end of the line: behind it where the forecast leaves room."""
    at, up = along[-1]
    text = f"{bits:.1f} bits left"
    if is_going_on and at + LABEL <= BITS_RIGHT:
        return svg.label(text, x=at + 8, y=max(up - 6, TOP), class_="tick")
    return svg.label(text, x=at - 8, y=_free(along), class_="tick end")


def _free(along: Sequence[tuple[float, float]]) -> float:
    """The baseline of the label at the end of the line: above what runs there, or below."""
    start = along[-1][0] - LABEL
    over = [up for at, up in along if at >= start]
    over += [
        up + (start - at) / (after - at) * (down - up)
        for (at, up), (after, down) in pairwise(along)
        if at < start < after
    ]
    above = min(over) - 8
    return above if above >= TOP else max(over) + 16


def _forecast(x: Scale, y: Scale, now: tuple[int, float], left: tuple[float, float]) -> list[str]:
    """The way to certainty: dashed to where half of such searches end, a band to nine in ten."""
    boots, bits = now
    begin, base = f"M{x(float(boots)):.1f} {y(bits):.1f}", f"{y(0.0):.1f}"
    half, most = (f"L{x(boots + more):.1f} {base}" for more in left)
    return [
        svg.path(f"{begin}{half}{most}Z", "next"),
        svg.path(f"{begin}{half}", "was"),
        _boots(x, round(boots + left[1])),
    ]


def _line(y: Scale, bits: int) -> list[str]:
    at = y(float(bits))
    line = svg.path(f"M{BITS_LEFT:.0f} {at:.1f}H{BITS_RIGHT:.0f}", "grid")
    return [line, svg.label(bits, x=BITS_LEFT - 6, y=at + 4, class_="tick end")]


def _boots(x: Scale, boots: int) -> str:
    return svg.label(boots, x=x(float(boots)), y=BASE + 16, class_="tick middle")
