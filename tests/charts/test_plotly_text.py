"""What comes from outside reaches Plotly as text, never as markup."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.charts.trend.test_trend import a_series, a_trend
from webapp.charts import bisect
from webapp.charts.plotly_text import literal
from webapp.charts.trend.figure import figure
from webapp.charts.trend.trend import Axis, Revisions, Trend, Values

HOSTILE = '<a href="https://evil.example/">x</a><b>%{y}$x^2$&amp;'


def strings(value: Any) -> Iterator[str]:
    """Every string of a figure, however deep."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from strings(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from strings(each)


def hostile_trend(**changes: Any) -> Trend:
    series = a_series(mode=HOSTILE, hardware=HOSTILE)
    revisions = Revisions(names=[HOSTILE] * 3, subjects=[HOSTILE] * 3, times=[1, 2, 3])
    names = {"tree": HOSTILE, "metric": HOSTILE, "unit": HOSTILE, "revisions": revisions}
    return replace(a_trend(series, replace(series, id=8, centres=[9.0] * 3)), **names, **changes)


def hostile_bisect() -> bisect.BisectChart:
    return bisect.BisectChart(
        names=[HOSTILE] * 3,
        dots=[bisect.Dot(HOSTILE, 1, 1.0, 0.9, 1.1, source) for source in bisect.SYMBOLS],
        chances=[0.0, 0.5, 0.5],
        skipped=frozenset({1}),
        unit=HOSTILE,
        better="more",
        before=1.0,
        after=2.0,
        unlikely={2: HOSTILE},
    )


FIGURES = {
    "trend": figure(hostile_trend()),
    "trend, indexed": figure(hostile_trend(values=Values.INDEXED)),
    "trend, by time": figure(hostile_trend(axis=Axis.TIME)),
    "bisect": bisect.figure(hostile_bisect()),
}


@pytest.mark.parametrize("name", FIGURES)
def test_no_figure_holds_the_markup_of_a_name(name: str) -> None:
    found = [text for text in strings(FIGURES[name]) if "evil" in text]
    assert found
    for text in found:
        assert literal(HOSTILE) in text
        assert HOSTILE not in text


def test_a_literal_holds_nothing_that_plotly_reads() -> None:
    assert literal("<b>") == "&#60;b&#62;"
    assert literal("%{x}") == "&#37;{x}"
    assert literal("a & b") == "a &#38; b"
    assert not set("<>%$") & set(literal(HOSTILE))
    assert literal("packets/s, Δ µs") == "packets/s, Δ µs"
