"""A small chart of one series for the trend wall. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from webapp.charts import svg
from webapp.charts.scale import Scale, y_range
from webapp.charts.theme import SeriesStyle

WIDTH = 320.0
HEIGHT = 56.0
INSET = 6.0
FLAG_SIZE = 4.0


@dataclass(frozen=True, slots=True)
class Spark:
    """What a sparkline shows. ``places`` count revisions on the axis all charts of a wall share;
    ``flags`` are "regressed", "improved" or "" for each value.
    """

    places: Sequence[int]
    values: Sequence[float]
    flags: Sequence[str]
    style: SeriesStyle


def draw(spark: Spark, *, length: int, described: str) -> str:
    """The SVG of ``spark`` on an axis of ``length`` revisions; ``described`` says it in words."""
    x = Scale(0, max(length - 1, 1), INSET, WIDTH - INSET)
    y = Scale(*y_range(spark.values), HEIGHT - INSET, INSET)
    dots = [(x(place), y(value)) for place, value in zip(spark.places, spark.values, strict=True)]
    return svg.document(
        *_marks(spark, dots),
        width=WIDTH,
        height=HEIGHT,
        described=described,
        class_=f"spark {spark.style.css_class}",
    )


def _marks(spark: Spark, dots: list[tuple[float, float]]) -> list[str]:
    marks = [
        svg.element("polyline", points=svg.points(dots), stroke_dasharray=spark.style.svg_dash)
    ]
    marks += [
        svg.element(
            "polygon", points=svg.triangle(*dot, size=FLAG_SIZE, up=flag == "improved"), class_=flag
        )
        for dot, flag in zip(dots, spark.flags, strict=True)
        if flag
    ]
    if dots:
        marks.append(svg.element("circle", cx=dots[-1][0], cy=dots[-1][1], r=2.2, class_="last"))
    return marks
