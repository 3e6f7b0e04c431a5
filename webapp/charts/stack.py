"""Several drawings of one page under one another, as one picture with a headline. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from webapp.charts import svg

MARGIN = 12.0
TITLE = 30.0
"""The height of the headline."""

LINE = 20.0
"""The height of the words above a drawing."""

LONGEST, LETTER = 110, 6.4
"""Characters of a title, and the width of one in pixels."""

_SIZE = re.compile(r'^<svg([^>]*?) width="([\d.]+)" height="([\d.]+)"')


@dataclass(frozen=True, slots=True)
class Part:
    """A drawing, an SVG with a width and a height, and the words above it."""

    title: str
    image: str


def stacked(
    headline: str, parts: Sequence[Part], *, foot: Sequence[str] = (), least: float = 480.0
) -> str:
    """The parts from top to bottom, at least ``least`` wide, and lines below them."""
    top = MARGIN + TITLE
    children = [svg.label(_cut(headline), x=MARGIN, y=MARGIN + 14, class_="ink strong headline")]
    width = least
    for part in parts:
        size = _SIZE.match(part.image)
        if size is None:
            raise ValueError("not an SVG with a width and a height")
        children.append(svg.label(_cut(part.title), x=MARGIN, y=top + 12, class_="ink"))
        inner = part.image.replace("<svg", f'<svg x="{MARGIN:.0f}" y="{top + LINE:.1f}"', 1)
        children.append(inner)
        width = max(width, float(size[2]) + 2 * MARGIN)
        top += LINE + float(size[3]) + MARGIN
    width = max([width, *(2 * MARGIN + LETTER * len(line) for line in foot)])
    for line in foot:
        children.append(svg.label(line, x=MARGIN, y=top + 4))
        top += LINE
    return svg.document(*children, width=width, height=top, described=headline)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
