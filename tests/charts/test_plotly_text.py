"""What comes from outside reaches Plotly as text, never as markup."""

from collections.abc import Iterator
from typing import Any

from webapp.charts import bisect
from webapp.charts.plotly_text import literal

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


def test_no_figure_holds_the_markup_of_a_name() -> None:
    found = [text for text in strings(bisect.figure(hostile_bisect())) if "evil" in text]
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
