"""The table of marks: each as the trend chart draws it, with what it means. Pure."""

from dataclasses import dataclass, replace
from typing import NamedTuple

from webapp.charts import svg
from webapp.charts.scale import Scale
from webapp.charts.trend.around_svg import SQUARE, alert_box, diamond, note
from webapp.charts.trend.levels import Found
from webapp.charts.trend.marks import MARKS, Span

WIDTH, HEIGHT = 84.0, 46.0
_SPAN = Span(edge=42.0, point=42.0, until=76.0, since=12.0)


class Entry(NamedTuple):
    """A mark as SVG, its name, and what it says."""

    image: str
    name: str
    meaning: str


@dataclass(frozen=True, slots=True)
class _Room:
    """No axis and no words: a mark alone."""

    x: Scale
    y: Scale
    is_crowded: bool = True


_ROOM = _Room(Scale(0.0, 1.0, 4.0, WIDTH - 4.0), Scale(0.0, 1.0, HEIGHT - 8.0, 8.0))


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
_AT, _BASE = WIDTH / 2, HEIGHT / 2
_TOP = _BASE - SQUARE / 2


def _alert(css_class: str) -> str:
    return svg.element("g", alert_box(17, _AT, _TOP), class_=css_class)


_BESIDE = (
    (diamond("event", _AT, _BASE), "Lab event", "What happened in a lab."),
    (diamond("epoch", _AT, _BASE), "Epoch", "What was measured before is not compared with after."),
    (note(_AT, _BASE), "Note", "What a person noted of a revision."),
    (_alert("alert-mark"), "Alert", "At its likeliest commit, with its number."),
    (_alert("alert-mark closed"), "Closed alert", "Hollow once it is closed."),
)


def legend() -> list[Entry]:
    """What is marked at a series, then what stands beside all of them."""
    found = [
        Entry(_image(*MARKS[kind](_ROOM, one, _SPAN), name=name), name, meaning)
        for one, kind, name, meaning in _FINDINGS
    ]
    return [*found, *(Entry(_image(drawn, name=name), name, text) for drawn, name, text in _BESIDE)]


def _image(*parts: str, name: str) -> str:
    return svg.document(*parts, width=WIDTH, height=HEIGHT, described=name, class_="trend legend")
