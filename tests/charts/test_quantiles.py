"""Quantile curves and the map of a histogram over revisions."""

import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from webapp.charts.quantiles import (
    Curve,
    curves,
    curves_figure,
    map_figure,
    over_revisions,
    round_values,
)
from webapp.stats.histograms import Histogram

SPACE = "{http://www.w3.org/2000/svg}"


def exponential(scale: float, seed: int = 1) -> Histogram:
    values = np.sort(np.random.default_rng(seed).exponential(scale, 20_000))
    return Histogram.of(values.tolist(), [1] * len(values))


def side(label: str, *boots: Histogram) -> Curve:
    whole = Histogram.together(boots)
    return Curve(label, whole.total, whole.curve(), [one.curve() for one in boots])


def test_a_curve_ends_where_one_value_is_above() -> None:
    nines, values = zip(*exponential(100).curve(), strict=True)
    assert nines[-1] == pytest.approx(np.log10(20_000))
    assert list(values) == sorted(values)
    at_99 = np.interp(2, nines, values)
    assert at_99 == pytest.approx(-100 * np.log(0.01), rel=0.05)


def test_a_side_has_a_line_for_all_and_one_a_boot() -> None:
    sides = [side("A", exponential(100), exponential(101, 2)), side("<B>", exponential(150))]
    drawn = curves(sides, unit="us")
    assert len(re.findall('class="series-0 boot"', drawn)) == 2
    assert len(re.findall('class="series-1 side"', drawn)) == 1
    assert "99.9 %" in drawn
    assert ">&lt;B&gt;<" in drawn


def test_the_legend_stands_above_the_curves_which_keep_their_height() -> None:
    heights = []
    for sides in (1, 3):
        image = ET.fromstring(curves([side("A", exponential(100))] * sides, unit="us"))
        lines = [one.get("points", "").split() for one in image.iter(f"{SPACE}polyline")]
        places = [float(at.partition(",")[2]) for line in lines for at in line]
        labels = [one for one in image.iter(f"{SPACE}text") if one.text == "A"]
        assert len(labels) == sides
        assert max(float(one.get("y", "")) for one in labels) < min(places)
        assert max(places) < float(image.get("height", ""))
        heights.append(max(places) - min(places))
    assert heights[1] == pytest.approx(heights[0], abs=0.2)


@pytest.mark.parametrize(
    "histogram",
    [
        Histogram.of([0.0], [1]),
        Histogram.of([7.0], [1]),
        Histogram.of([0.0, 1e-15, 1e15], [1, 2**53 - 2, 1]),
    ],
    ids=["zero", "one value", "everything"],
)
def test_extreme_histograms_are_drawn_with_finite_numbers(histogram: Histogram) -> None:
    columns = [(f"r{at}", histogram.middles()) for at in range(40)]
    for drawn in (
        curves([side("A", histogram)] * 7, unit="s"),
        over_revisions(columns, unit="s"),
    ):
        assert not re.search(r"\b(nan|inf)\b", drawn)
        assert len(drawn) < 100_000


def test_the_map_is_deepest_where_most_values_are() -> None:
    half_and_few = Histogram.of([10.0, 1000.0], [9_990, 10]).middles()
    drawn = over_revisions([("r1", half_and_few), ("r2", half_and_few)], unit="us")
    depths = dict(re.findall(r'<path d="([^"]*)" class="(depth-\d)"', drawn))
    assert sorted(depths.values()) == ["depth-3", "depth-5"]
    assert all(path.count("M") == 2 for path in depths)


def test_a_map_of_values_with_zeros_reaches_down_to_the_smallest_other() -> None:
    column = Histogram.of([0.0, 10.0, 1000.0], [1, 98, 1]).middles()
    figure = map_figure([("r1", column)] * 3, unit="us")
    low, high = figure["layout"]["yaxis"]["range"]
    assert low < 1 < 3 < high
    (trace,) = figure["data"]
    assert len(trace["y"]) == len(trace["z"]) + 1
    assert np.log10([trace["y"][0], trace["y"][-1]]) == pytest.approx([low, high], abs=1e-5)


def test_a_figure_has_the_count_and_the_quantile_of_each_cell_and_point() -> None:
    column = Histogram.of([10.0, 1000.0], [9_990, 10]).middles()
    (trace,) = map_figure([("r<1>", column)] * 3, unit="us")["data"]
    texts = [row[0] for row in trace["text"] if row[0]]
    assert [text.rpartition("<br>")[2] for text in texts] == [
        "9,990 of 10,000 values, up to quantile 99.9 %",
        "10 of 10,000 values, the largest",
    ]
    assert texts[0].startswith("r&lt;1&gt;<br>")
    assert [row[0] for row in trace["z"] if row[0] is not None] == [5, 3]
    thin, thick = curves_figure([side("<A>", exponential(100))], unit="us")["data"]
    assert thin["hoverinfo"] == "skip"
    assert thick["text"][-1].endswith("<br>1 of 20,000 values above")
    assert thick["name"] == "&lt;A&gt;"


def test_the_values_of_an_axis_are_round() -> None:
    assert round_values(0.9, 2.05) == [10, 20, 50, 100]
    assert round_values(0, 5) == [1, 10, 100, 1000, 10_000, 100_000]
