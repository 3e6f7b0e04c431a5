"""Flame graphs and differences as SVG: for a page, and as pictures of their own. Pure.

The root is at the top: a page is read and scrolled from there, and on a phone the outermost frames
and what was zoomed into stay in sight. On a page frames lie in percent of its width, so that the
drawing fits a phone and a desk with letters of one size; `static/js/flame.js` zooms by changing the
same attributes.

Frames are coloured by their module, or by how much dearer they became. Orange-red and blue mean
worse and better on every page, so modules have other hues; each is a wash that text stands on. The
text of a changed frame has the sign of its change: colour is never alone.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple
from zlib import crc32

from webapp.charts import svg
from webapp.charts.flame.layout import WIDTH, Flame, Frame, Kind
from webapp.charts.text import half_width, number, percent

CHARACTER = 6.4
"""Pixels of a letter of 11 px, about."""

ELLIPSIS = "…"
NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
BREAKS = re.compile(r"[\t\n\r\u2028\u2029]")

ROW = 24.0
"""Pixels of a row on a page: what a finger hits."""

PICTURE_ROW = 18.0
GAP = 1.0
REST_HEIGHT = 4.0
MARGIN, TITLE, LINE = 12.0, 30.0, 16.0
LEAST_LABELLED = 1 / 64
"""Of the width of a page: from which on a frame has its name without a script."""

THIN = 1 / 480
"""Of the width: up to which a frame has no edge, which would hide it."""

LONGEST = 100
"""Letters of a name in a frame; its tooltip has all."""

MOST_ENTRIES = 12
HATCH = "flame-hatch"

KERNEL = frozenset({"kernel", "kernel.full", "kernel.debug", "vmlinux", "[kernel.kallsyms]"})
HUES = 5
"""Hues of modules other than the kernel."""

STEPS = (0.5, 2.0, 8.0)
"""Percent of A's packet (points) from which on a change has the next darker colour: the same on
every page, so that two differences can be compared by eye. Below half a point none is claimed."""

NO_SYMBOL = "no-symbol"
"""The class of what is hatched."""

UNNAMED = re.compile(r"(0x)?[0-9a-fA-F]{6,16}|\[?(unknown|unresolved)\]?|\?+")
"""What stands for a function without a symbol."""


class Entry(NamedTuple):
    """A colour of the legend as SVG, and what it means."""

    image: str
    text: str


def flame_svg(flame: Flame, *, described: str) -> str:
    """The drawing for a page, as wide as its box; ``described`` is its text for screen readers."""
    return svg.element(
        "svg",
        svg.element("title", svg.plain_text(clean(described))),
        _hatching(),
        *_drawn(flame, _on_page),
        width="100%",
        height=flame.rows * ROW,
        role="img",
        class_="flame",
        data_all=_exact(flame.all),
        data_root=flame.root,
        xmlns="http://www.w3.org/2000/svg",
    )


def flame_picture(flame: Flame, *, title: str, lines: Sequence[str] = ()) -> str:
    """The drawing as a picture of its own, with a headline, lines below it and its legend;
    `webapp.charts.svg` gives it rules and a theme.
    """
    room = WIDTH - 2 * MARGIN
    entries = legend(flame)
    head = MARGIN + TITLE + LINE * len(lines)
    rows = _legend_rows(entries, room)
    top = head + LINE * (1 + max((row for row, _ in rows), default=0)) + GAP
    drawn = svg.element(
        "g", *_drawn(flame, _in_picture(room)), transform=f"translate({MARGIN:.0f} {top:.0f})"
    )
    return svg.document(
        _hatching(),
        svg.label(cut(clean(title), room * 0.75), x=MARGIN, y=26.0, class_="ink strong headline"),
        *(
            svg.label(cut(clean(line), room), x=MARGIN, y=MARGIN + TITLE + LINE * at)
            for at, line in enumerate(lines)
        ),
        *(
            part
            for entry, (row, x) in zip(entries, rows, strict=True)
            for part in _legend_entry(entry, MARGIN + x, head + LINE * row)
        ),
        drawn,
        width=WIDTH,
        height=top + flame.rows * PICTURE_ROW + MARGIN,
        described=clean(title),
        class_="flame",
    )


def legend(flame: Flame) -> list[Entry]:
    """What the colours mean: the modules in ``flame``, or the steps of a change in points."""
    if flame.is_difference:
        steps = range(-len(STEPS), len(STEPS) + 1)
        return [Entry(_swatch(step_class(step)), _step_text(step)) for step in steps]
    named = [frame for frame in flame.frames if frame.key]
    hue = hues(frame.module for frame in named)
    found = [
        Entry(_swatch(hue[module]), clean(module_name(module)) or "no module")
        for module in sorted(hue, key=lambda one: (hue[one] != "hue-kernel", one))
    ]
    if any(not has_symbol(frame.name) for frame in named):
        found.append(Entry(_swatch(NO_SYMBOL), "no symbol"))
    return found[:MOST_ENTRIES]


def _step_text(step: int) -> str:
    """``2 to 8 points dearer`` of a step."""
    if step == 0:
        return f"less than {STEPS[0]:g} points"
    way = "dearer" if step > 0 else "cheaper"
    least = STEPS[abs(step) - 1]
    if abs(step) == len(STEPS):
        return f"{least:g} points {way} or more"
    return f"{least:g} to {STEPS[abs(step)]:g} points {way}"


def _swatch(css_class: str) -> str:
    return svg.element(
        "svg",
        svg.element("g", _box(css_class, width=12.0, height=12.0), class_=css_class),
        width="12",
        height="12",
        aria_hidden="true",
        class_="flame",
    )


def _legend_rows(entries: Sequence[Entry], room: float) -> list[tuple[int, float]]:
    """Row and x of each entry, from the left as far as there is room."""
    found, row, x = [], 0, 0.0
    for entry in entries:
        wide = 18.0 + CHARACTER * len(entry.text) + 14.0
        if x and x + wide > room:
            row, x = row + 1, 0.0
        found.append((row, x))
        x += wide
    return found


def _legend_entry(entry: Entry, x: float, y: float) -> list[str]:
    swatch = entry.image.replace("<svg", f'<svg x="{x:.1f}" y="{y - 10:.1f}"', 1)
    return [swatch, svg.label(entry.text, x=x + 18, y=y)]


def _hatching() -> str:
    """The pattern of functions without a symbol; drawings of one page share it."""
    ground = svg.element("rect", width=6.0, height=6.0, class_="hatch-ground")
    line = svg.path("M-1 7L7 -1M-1 1L1 -1M5 7L7 5", "hatch-line")
    units = {"width": 6.0, "height": 6.0, "patternUnits": "userSpaceOnUse"}
    return svg.element("defs", svg.element("pattern", ground, line, id=HATCH, **units))


Draws = Callable[[Frame, float, str], list[str]]


def _drawn(flame: Flame, draws: Draws) -> list[str]:
    """Each rectangle as a group with its tooltip; what a script needs stands in attributes."""
    return [
        svg.element(
            "g",
            svg.element("title", svg.plain_text(title_of(frame, flame))),
            *draws(frame, flame.width or 1.0, css_class),
            class_=f"{css_class} thin" if frame.width < THIN * flame.width else css_class,
            data_key=frame.key,
            data_x=_exact(frame.x),
            data_w=_exact(frame.width),
            data_total=_exact(frame.total),
            data_depth=frame.depth,
            data_name=clean(frame.name),
            data_change=change_of(frame),
        )
        for frame, css_class in zip(flame.frames, classes_of(flame), strict=True)
    ]


def _on_page(frame: Frame, whole: float, css_class: str) -> list[str]:
    """A frame in percent of the width. The name is a drawing in it, which cuts what reaches out."""
    x, width = f"{100 * frame.x / whole:.4f}%", f"{100 * frame.width / whole:.4f}%"
    y = frame.depth * ROW
    box = _box(css_class, x=x, y=y, width=width, height=_height(frame, ROW))
    if frame.kind is Kind.REST or frame.width < LEAST_LABELLED * whole:
        return [box]
    label = f"{change_of(frame)} {clean(frame.name)}".strip()
    name = svg.label(label[:LONGEST], x=4.0, y=16.0)
    return [box, svg.element("svg", name, x=x, y=y, width=width, height=ROW - GAP)]


def _in_picture(room: float) -> Draws:
    """Draws frames of a picture ``room`` pixels wide, names cut to what fits."""

    def draws(frame: Frame, whole: float, css_class: str) -> list[str]:
        x, width = frame.x / whole * room, frame.width / whole * room
        y = frame.depth * PICTURE_ROW
        height = _height(frame, PICTURE_ROW)
        box = _box(css_class, x=f"{x:.2f}", y=y, width=f"{width:.2f}", height=height)
        name = cut_label(change_of(frame), clean(frame.name), width - 6)
        return [box, svg.label(name, x=x + 3, y=y + 13)] if name else [box]

    return draws


def _box(css_class: str, **attributes: object) -> str:
    fill = f"url(#{HATCH})" if NO_SYMBOL in css_class else None
    return svg.element("rect", **attributes, fill=fill)


def _height(frame: Frame, row: float) -> float:
    return REST_HEIGHT if frame.kind is Kind.REST else row - GAP


def _exact(value: float) -> str:
    return f"{value:.9g}"


def clean(name: str) -> str:
    """A name in one line, without characters that XML has none for."""
    return NOT_IN_XML.sub("\ufffd", BREAKS.sub(" ", name))


def cut(text: str, pixels: float) -> str:
    """As much of ``text`` as ``pixels`` hold, marked where cut; empty below three letters."""
    most = int(pixels / CHARACTER)
    if len(text) <= most:
        return text
    return f"{text[: most - 1].rstrip()}{ELLIPSIS}" if most >= 3 else ""


def cut_label(change: str, name: str, pixels: float) -> str:
    """The change and the name in ``pixels``: of a number that does not fit the sign alone stays,
    for a part of it is another number.
    """
    if not change:
        return cut(name, pixels)
    wide = CHARACTER * len(change)
    if wide > pixels:
        return change[0] if pixels >= CHARACTER else ""
    return f"{change} {cut(name, pixels - wide - CHARACTER)}".rstrip()


def change_of(frame: Frame) -> str:
    """The change in points as it stands in a frame; empty where it has no colour."""
    change = frame.change
    if change is None or step_of(change) == 0 or frame.kind is Kind.REST:
        return ""
    return percent(change)


def title_of(frame: Frame, flame: Flame) -> str:
    """The tooltip: the name and the module in its first line, then the figures."""
    if frame.kind is Kind.REST:
        return f"Narrower frames together\n{_size(frame.width, frame, flame)}"
    module = clean(module_name(frame.module))
    name = f"{clean(frame.name)} ({module})" if module else clean(frame.name)
    return "\n".join([name, _size(frame.total, frame, flame), *_own(frame, flame)])


def _size(size: float, frame: Frame, flame: Flame) -> str:
    """Samples with their share; of a difference both costs and the change."""
    if flame.is_difference:
        return _change(frame) if frame.kind is not Kind.REST else f"{half_width(size)} % on side B"
    share = f"{number(size)} samples, {half_width(frame.percent)} % of all"
    if flame.drawn == flame.all:
        return share
    return f"{share}, {half_width(frame.percent_drawn)} % of those drawn"


def _change(frame: Frame) -> str:
    change = frame.change or 0.0
    if not frame.before:
        return f"new: {half_width(frame.total)} %, {percent(change)} points"
    return f"{half_width(frame.before)} → {half_width(frame.total)} %: {percent(change)} points"


def _own(frame: Frame, flame: Flame) -> list[str]:
    """What the function took itself; in a reversed graph only outermost frames ran."""
    if flame.is_reversed or not frame.key:
        return []
    if flame.is_difference:
        return [f"itself {half_width(frame.own)} % on side B"]
    share = 100 * frame.own / flame.all if flame.all else 0.0
    return [f"itself {number(frame.own)} samples, {half_width(share)} %"]


def has_symbol(name: str) -> bool:
    """Whether the name is a function's, and not an address or a word for an unknown one."""
    return UNNAMED.fullmatch(name) is None


def module_name(module: str) -> str:
    """A module without its directory: ``/boot/kernel/pf.ko`` is ``pf.ko``."""
    return module.rsplit("/", 1)[-1]


def hues(modules: Iterable[str]) -> dict[str, str]:
    """The class of each module: by its name, so that it stays from graph to graph, and another one
    where an earlier name has the same and one is free.
    """
    found: dict[str, str] = {}
    taken: set[int] = set()
    for module in sorted(set(modules)):
        name = module_name(module)
        if not name or name in KERNEL:
            found[module] = "hue-kernel" if name else "hue-none"
            continue
        wanted = crc32(name.encode(errors="surrogatepass")) % HUES
        slots = [(wanted + step) % HUES for step in range(HUES)]
        slot = next((one for one in slots if one not in taken), wanted)
        taken.add(slot)
        found[module] = f"hue-{slot}"
    return found


def step_of(change: float) -> int:
    """The step of a change in points: 0 for none that counts, to 3; negative for cheaper."""
    size = sum(abs(change) >= step for step in STEPS)
    return size if change > 0 else -size


def step_class(step: int) -> str:
    """The class of a step of `step_of`."""
    if step == 0:
        return "same"
    return f"dearer-{step}" if step > 0 else f"cheaper-{-step}"


def classes_of(flame: Flame) -> list[str]:
    """The classes of each rectangle of ``flame``, in their order."""
    hue = hues(frame.module for frame in flame.frames)
    return [_classes(frame, hue) for frame in flame.frames]


def _classes(frame: Frame, hue: dict[str, str]) -> str:
    if frame.kind is Kind.REST:
        return "rest"
    if frame.change is not None:
        colour = step_class(step_of(frame.change))
    elif frame.key and not has_symbol(frame.name):
        colour = NO_SYMBOL
    else:
        colour = hue[frame.module] if frame.key else "hue-none"
    above = " above" if frame.kind is Kind.ABOVE else ""
    return f"frame {colour}{above}"
