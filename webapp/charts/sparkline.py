"""A small chart of one series for the trend wall. Pure."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from webapp.charts import svg
from webapp.charts.scale import Scale, y_range
from webapp.charts.theme import SeriesStyle
from webapp.charts.trend.alerts import AlertMark, labels, line_class
from webapp.charts.trend.levels import Level

WIDTH = 320.0
HEIGHT = 56.0
INSET = 6.0
FLAG_SIZE = 4.0


@dataclass(frozen=True, slots=True)
class Spark:
    """What a sparkline shows. ``indices`` count revisions on the axis all charts of a wall share;
    ``flags`` are "regressed", "improved" or "" for each value; those at the indices ``confirmed``
    are filled. ``alerts`` are lines with their number.
    """

    indices: Sequence[int]
    values: Sequence[float]
    flags: Sequence[str]
    style: SeriesStyle
    levels: Sequence[Level] = ()
    confirmed: Collection[int] = ()
    alerts: Sequence[AlertMark] = ()


def draw(spark: Spark, *, length: int, described: str) -> str:
    """The SVG of ``spark`` on an axis of ``length`` revisions; ``described`` says it in words."""
    x = Scale(0, max(length - 1, 1), INSET, WIDTH - INSET)
    y = Scale(*y_range(spark.values), HEIGHT - INSET, INSET)
    dots = [(x(index), y(value)) for index, value in zip(spark.indices, spark.values, strict=True)]
    return svg.document(
        *_alerts(spark, length, x),
        *_levels(spark, x, y),
        *_marks(spark, dots),
        width=WIDTH,
        height=HEIGHT,
        described=described,
        class_=f"spark {spark.style.css_class}",
    )


def _alerts(spark: Spark, length: int, x: Scale) -> list[str]:
    lines = [
        svg.element(
            "line", x1=x(one.index), x2=x(one.index), y1=0.0, y2=HEIGHT, class_=line_class(one)
        )
        for one in spark.alerts
    ]
    return lines + [
        svg.label(one.mark.number, x=x(one.mark.index) + 2, y=HEIGHT - 1, class_="alert-number")
        for one in labels(spark.alerts, length)
        if one.row == 0
    ]


def _levels(spark: Spark, x: Scale, y: Scale) -> list[str]:
    strokes = [
        f"M{x(one.first):.1f} {y.clamped(one.start):.1f}L{x(one.last):.1f} {y.clamped(one.end):.1f}"
        for one in spark.levels
    ]
    return [svg.element("path", d="".join(strokes), class_="level")] if strokes else []


def _marks(spark: Spark, dots: list[tuple[float, float]]) -> list[str]:
    marks = [
        svg.element("polyline", points=svg.points(dots), stroke_dasharray=spark.style.svg_dash)
    ]
    marks += [
        svg.element(
            "polygon",
            points=svg.triangle(*dot, size=FLAG_SIZE, up=flag == "improved"),
            class_=flag if index in spark.confirmed else f"{flag} candidate",
        )
        for index, (dot, flag) in enumerate(zip(dots, spark.flags, strict=True))
        if flag
    ]
    if dots:
        marks.append(svg.element("circle", cx=dots[-1][0], cy=dots[-1][1], r=2.2, class_="last"))
    return marks
