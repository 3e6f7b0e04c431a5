"""The table of marks: each as the trend chart draws it, with what it means. Pure."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

from webapp.charts import svg
from webapp.charts.scale import Scale
from webapp.charts.trend.labels import Frame
from webapp.charts.trend.marks import INK, MARKS, PAPER, SIGN, SIGNS, Sketch, Span, Symbol
from webapp.charts.trend.series import Found
from webapp.charts.trend.svg import symbol, text_class

WIDTH, HEIGHT = 84.0, 46.0
_FRAME = Frame(
    Scale(0.0, WIDTH, 0.0, WIDTH), Scale(0.0, 1.0, HEIGHT - 8.0, 8.0), 1, is_crowded=True
)
_SPAN = Span(edge=42.0, point=42.0, until=76.0, since=12.0, colour="var(--series-1)")


class Entry(NamedTuple):
    """A mark as SVG, its name, and its meaning."""

    image: str
    name: str
    meaning: str


_FOUND = Found(
    at=0,
    index=0,
    after=0,
    last=0,
    state="confirmed",
    verdict="worse",
    percent=-10.0,
    low=None,
    high=None,
    probability=1.0,
    suspects=("", ""),
    before=0.85,
    since=0.2,
    why="",
)
_MIDDLE = replace(_FOUND, before=0.5, since=0.5)
_FINDINGS = (
    (_FOUND, "level", "Change of level", "Where a level moved; the triangle points its way."),
    (
        replace(_FOUND, state="candidate"),
        "level",
        "Candidate",
        "A change that is not proven: dashed and hollow.",
    ),
    (_FOUND, "excursion", "Excursion", "One revision far off; the next was back."),
    (_FOUND, "slow", "Slow change", "A loss or gain by and by, over all that the slope spans."),
    (
        replace(_MIDDLE, ratio=2.0),
        "noise",
        "Change of noise",
        "Revisions scatter more, or less, than before: the bars are before and after.",
    ),
    (
        replace(_MIDDLE, shares=(20.0, 60.0)),
        "modes",
        "Change of modes",
        "Runs fall into two groups: more than before into the one whose disc is full.",
    ),
)
_SIGNS = (
    ("event", "Lab event", "What happened in a lab."),
    ("epoch", "Epoch", "What was measured before is not compared with after."),
    ("note", "Note", "What a person noted of a revision."),
)
_BADGES = (
    (INK, PAPER, "Alert", "At its likeliest commit, with its number."),
    (PAPER, INK, "Closed alert", "Hollow once it is closed."),
)


@cache
def legend() -> Sequence[Entry]:
    """What is marked at a series, then what stands beside all of them."""
    found = [Entry(_drawn(*each), each[2], each[3]) for each in _FINDINGS]
    beside = [
        Entry(_image(_symbol(Symbol(WIDTH / 2, 0.5, shape, SIGN, fill, line)), name), name, meaning)
        for kind, name, meaning in _SIGNS
        for shape, fill, line in (SIGNS[kind],)
    ]
    badges = [Entry(_image(_badge(*each[:2]), each[2]), *each[2:]) for each in _BADGES]
    return [*found, *beside, *badges]


def _drawn(found: Found, kind: str, name: str, _: str) -> str:
    sketch = Sketch(_FRAME)
    MARKS[kind](sketch, found, _SPAN)
    x, y = _FRAME.x, _FRAME.y
    lines = (
        svg.path(
            f"M{x(a):.1f} {y(b):.1f}L{x(c):.1f} {y(d):.1f}",
            stroke=stroke.colour,
            stroke_width=stroke.width,
            stroke_dasharray="" if stroke.dash == "solid" else stroke.dash.replace("px", ""),
        )
        for stroke, ends in sketch.strokes.items()
        for a, b, c, d in ends
    )
    return _image("".join((*lines, *(_symbol(one) for one in sketch.symbols))), name)


def _symbol(one: Symbol) -> str:
    return symbol(one._replace(x=_FRAME.x(one.x), y=_FRAME.y(one.y), title=""), 1.4)


def _badge(fill: str, ink: str) -> str:
    box = svg.element(
        "rect", x=WIDTH / 2 - 11, y=HEIGHT / 2 - 8, width=22.0, height=16.0, fill=fill, stroke=INK
    )
    css_class = f"{text_class(ink)} middle"
    return box + svg.label(17, x=WIDTH / 2, y=HEIGHT / 2 + 4, class_=css_class, font_weight=600)


def _image(drawn: str, name: str) -> str:
    return svg.document(drawn, width=WIDTH, height=HEIGHT, described=name, class_="trend legend")
