"""SVG: its pieces, pictures that stand alone, outside a page and its style sheet, and what all
charts share: colours of series, styles of lines, margins, the colour of a cell. Pure. Every text is
escaped here and nowhere else.

Colours are names of CSS custom properties, not values: the page's theme (light or dark) fills them
in, so one figure serves both. The same mode has the same colour on every page because it follows
from the mode's id alone: ids count up, so modes made one after the other differ; when the palette
is used up, the dash distinguishes them.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from math import isfinite

PALETTE_SIZE = 6
"""Okabe and Ito's set without the two colours that mean worse and better here."""

DASHES = ("solid", "dash", "dot", "dashdot")
SVG_DASHES = {"solid": "", "dash": "6 3", "dot": "1.5 2.5", "dashdot": "6 2.5 1.5 2.5"}

STEPS_PERCENT = (2.0, 5.0, 15.0)
"""A proven change below 2 % is pale; 2, 5 and 15 % deepen the colour."""


@dataclass(frozen=True, slots=True)
class Margins:
    """Pixels around the plotting area of a chart made on the server."""

    left: int = 76
    right: int = 28
    top: int = 26
    bottom: int = 44


MARGINS = Margins()


@dataclass(frozen=True, slots=True)
class SeriesStyle:
    """How one series is drawn: its colour follows its mode, its dash mode and machine."""

    slot: int
    dash: str

    @property
    def css_class(self) -> str:
        """The CSS class that gives an SVG its colour."""
        return f"series-{self.slot}"

    @property
    def svg_dash(self) -> str:
        """The dashes as SVG writes them."""
        return SVG_DASHES[self.dash]


def style_of(*, mode_id: int, machine: int = 0) -> SeriesStyle:
    """The style of the series of a mode; ``machine`` counts those of one chart, from 0."""
    turn, slot = divmod(mode_id, PALETTE_SIZE)
    return SeriesStyle(slot=slot, dash=DASHES[(turn + machine) % len(DASHES)])


def cell_class(verdict: str, percent: float | None) -> str:
    """The CSS class of a cell: ``worse-2``, ``better-0``, ``equivalent``, ``cannot-tell``,
    ``builds-differ``, ``lab``.

    The number is how many of `STEPS_PERCENT` the size reaches; 0 where it is not known.
    """
    if verdict not in {"worse", "better"}:
        return verdict.rstrip("?").replace(" ", "-")
    size = 0.0 if percent is None or not isfinite(percent) else abs(percent)
    return f"{verdict}-{sum(size >= step for step in STEPS_PERCENT)}"


def element(name: str, *children: str, **attributes: object) -> str:
    """One element. ``class_`` and ``stroke_width`` write class and stroke-width.

    Attributes that are None or empty are left out. Children are SVG already: put text through
    `plain_text` first.
    """
    written = "".join(
        [
            f' {_named(key)}="{_text(value)}"'
            for key, value in attributes.items()
            if value is not None and value != ""
        ]
    )
    return f"<{name}{written}>{''.join(children)}</{name}>" if children else f"<{name}{written}/>"


def plain_text(text: object) -> str:
    """Text content, escaped."""
    return escape(str(text))


def label(text: object, *, x: float, y: float, **attributes: object) -> str:
    """A ``text`` element at (x, y), in pixels of the picture."""
    return element("text", plain_text(text), x=x, y=y, **attributes)


def path(d: str, class_: str = "", **attributes: object) -> str:
    """A ``path`` element; nothing where there is nothing to draw."""
    return element("path", d=d, class_=class_, **attributes) if d else ""


def document(
    *children: str,
    width: float,
    height: float,
    described: str,
    class_: str = "",
    has_links: bool = False,
) -> str:
    """A whole image of ``width`` × ``height`` user units that scales with its box.

    Readers of the screen go into one that ``has_links``; others are one thing to them.
    """
    return element(
        "svg",
        element("title", plain_text(described)),
        *children,
        viewBox=f"0 0 {_text(width)} {_text(height)}",
        width=width,
        height=height,
        role="group" if has_links else "img",
        class_=class_,
        xmlns="http://www.w3.org/2000/svg",
    )


def points(pairs: Iterable[tuple[float, float]]) -> str:
    """The ``points`` of a polyline, to a tenth of a user unit."""
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in pairs)


@cache
def _named(key: str) -> str:
    return key.strip("_").replace("_", "-")


def _text(value: object) -> str:
    """As an attribute has it."""
    if isinstance(value, float):
        return f"{value:.1f}".removesuffix(".0")
    return escape(str(value))


MARGIN = 12.0
TITLE = 30.0
"""The height of the headline."""

LINE = 20.0
"""The height of the words above a drawing."""

LONGEST, LETTER = 110, 6.4
"""Characters of a title, and the width of one in pixels."""


@dataclass(frozen=True, slots=True)
class Part:
    """A drawing, an SVG with a width and a height, and the words above it."""

    title: str
    image: str


LIGHT, DARK = "light", "dark"
THEMES = (LIGHT, DARK)
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_BLOCK = re.compile(r"([^{}]+)\{([^{}]*)\}")
_PROPERTY = re.compile(r"(--[\w-]+):\s*([^;]+);")
_OF_BOTH_THEMES = re.compile(r"light-dark\(((?:[^(),]|\([^)]*\))+),\s*((?:[^(),]|\([^)]*\))+)\)")
_ATTRIBUTE = re.compile(r'="var\((--[\w-]+)\)"')
_VARIABLE = re.compile(r"var\((--[\w-]+)\)")
_SIZE = re.compile(r'^<svg([^>]*?) width="([\d.]+)" height="([\d.]+)"')
_START = re.compile(r"^<svg[^>]*>")


@dataclass(frozen=True, slots=True)
class Sheet:
    """The rules of charts, as they stand in the site's CSS, and the colours of each theme."""

    rules: str
    colours: Mapping[str, Mapping[str, str]]

    @classmethod
    def of(cls, *, theme_css: str, charts_css: str) -> "Sheet":
        """From the text of ``theme.css``, and of ``charts.css`` with ``small-charts.css``."""
        properties = dict(_PROPERTY.findall(_COMMENT.sub("", theme_css)))
        colours = {
            theme: {
                name: _OF_BOTH_THEMES.sub(rf"\{which}", text) for name, text in properties.items()
            }
            for which, theme in enumerate(THEMES, start=1)
        }
        return cls(_COMMENT.sub("", charts_css), colours)

    def style(self, theme: str, **fonts: str) -> str:
        """The rules with the colours of ``theme`` filled in; ``fonts`` (``sans``, ``mono``) stand
        in for the site's. One rule is written a line, as small renderers of SVG read it.
        """
        known = {**self.colours[theme], **{f"--{name}": value for name, value in fonts.items()}}
        filled = _VARIABLE.sub(lambda found: known.get(found[1], "none"), self.rules)
        filled = filled.replace("currentcolor", "currentColor")
        lines = (
            f"{selector.strip()}{{{' '.join(body.split())}}}"
            for selectors, body in _BLOCK.findall(filled)
            for selector in selectors.split(",")
            if not selector.strip().startswith("@")
        )
        return "\n".join(lines)


def standalone(
    image: str, sheet: Sheet, *, theme: str, width: int | None = None, **fonts: str
) -> str:
    """``image`` (SVG of this room) with the rules and the ground of ``theme``.

    ``width`` in pixels scales it; without it it keeps its own. Raises ValueError for what is not
    an SVG of this room.
    """
    sized = _SIZE.match(image)
    if not sized:
        raise ValueError("not an SVG with a width and a height")
    own, height = float(sized[2]), float(sized[3])
    if width:
        scaled = f'<svg{sized[1]} width="{width}" height="{height * width / own:.0f}"'
        image = scaled + image[sized.end() :]
    start = _START.match(image)
    if not start:
        raise ValueError("not an SVG with a width and a height")
    ground = element("rect", width="100%", height="100%", fill=sheet.colours[theme]["--paper"])
    style = f"<style>{sheet.style(theme, **fonts)}</style>"
    # A text holds no quote: those of names are escaped.
    body = _ATTRIBUTE.sub(
        lambda found: f'="{sheet.colours[theme][found[1]]}"', image[start.end() :]
    )
    return start[0] + style + ground + body


def badge(name: str, value: str, *, worse: bool) -> str:
    """Two words in a row, as READMEs show them: ``name`` and ``value``, coloured when worse."""
    left, right = _room(name), _room(value)
    return document(
        element("rect", width=left, height=20.0, class_="badge-label"),
        element(
            "rect", x=left, width=right, height=20.0, class_="badge-worse" if worse else "badge"
        ),
        label(name, x=left / 2, y=14.0, class_="on-badge middle"),
        label(value, x=left + right / 2, y=14.0, class_="on-badge middle"),
        width=left + right,
        height=20.0,
        described=f"{name}: {value}",
    )


def _room(text: str) -> float:
    """Pixels for a text of 11 px: wide letters take seven."""
    return 7.0 * len(text) + 12.0


def stacked(
    headline: str, parts: Sequence[Part], *, foot: Sequence[str] = (), least: float = 480.0
) -> str:
    """The parts from top to bottom, at least ``least`` wide, and lines below them."""
    top = MARGIN + TITLE
    children = [label(cut(headline), x=MARGIN, y=MARGIN + 14, class_="ink strong headline")]
    width = least
    for part in parts:
        size = _SIZE.match(part.image)
        if size is None:
            raise ValueError("not an SVG with a width and a height")
        children.append(label(cut(part.title), x=MARGIN, y=top + 12, class_="ink"))
        inner = part.image.replace("<svg", f'<svg x="{MARGIN:.0f}" y="{top + LINE:.1f}"', 1)
        children.append(inner)
        width = max(width, float(size[2]) + 2 * MARGIN)
        top += LINE + float(size[3]) + MARGIN
    width = max([width, *(2 * MARGIN + LETTER * len(line) for line in foot)])
    for line in foot:
        children.append(label(line, x=MARGIN, y=top + 4))
        top += LINE
    return document(*children, width=width, height=top, described=headline)


def cut(text: str, longest: int = LONGEST) -> str:
    """``text``, of a longer one the start with ``…``."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
