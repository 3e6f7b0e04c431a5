"""Sparklines, strip plots and the colours of the heat map."""

from xml.etree import ElementTree as ET

import pytest

from webapp.charts import quantiles, small, svg
from webapp.charts.small import Control, Level, Strip
from webapp.charts.svg import SeriesStyle, cell_class
from webapp.stats.histograms import Histogram

SPACE = "{http://www.w3.org/2000/svg}"


def test_a_strip_plot_has_a_dot_for_each_sample_and_a_row_for_each_set() -> None:
    strips = [Strip("r1", [1.0, 2.0, 3.0], 2.0, (1.5, 2.5)), Strip("r2", [2.0], 2.0, None)]
    image = ET.fromstring(small.draw_strips(strips, unit="packets/s"))
    assert len(image.findall(f".//{SPACE}circle")) == 4
    assert len(image.findall(f".//{SPACE}rect")) == 1


def test_the_interval_and_the_tick_of_a_mean_lie_around_the_dots() -> None:
    image = ET.fromstring(
        small.draw_strips([Strip("r1", [1.0, 2.0, 3.0], 2.0, (1.5, 2.5))], unit="pps")
    )
    (bar,) = image.findall(f".//{SPACE}rect")
    (tick,) = [one for one in image.iter(f"{SPACE}line") if one.get("class") == "mean"]
    middle = float(bar.get("y", "")) + float(bar.get("height", "")) / 2
    ends = [float(tick.get(name, "")) for name in ("y1", "y2")]
    assert {float(dot.get("cy", "")) for dot in image.findall(f".//{SPACE}circle")} == {middle}
    assert ends[0] < middle < ends[1]


def test_equal_samples_lie_beside_each_other() -> None:
    image = ET.fromstring(small.draw_strips([Strip("r1", [5.0, 5.0, 5.0], 5.0, None)], unit=""))
    assert len({dot.get("cy") for dot in image.findall(f".//{SPACE}circle")}) == 3


def test_a_huge_set_is_thinned_and_keeps_its_extremes() -> None:
    samples = [float(value) for value in range(1000, 11_000)]
    image = ET.fromstring(small.draw_strips([Strip("r1", samples, 6000.0, None)], unit=""))
    places = [float(dot.get("cx", "")) for dot in image.findall(f".//{SPACE}circle")]
    assert len(places) <= small.MOST_DOTS + 1
    full = ET.fromstring(
        small.draw_strips([Strip("r1", [1000.0, 10_999.0], 6000.0, None)], unit="")
    )
    ends = [float(dot.get("cx", "")) for dot in full.findall(f".//{SPACE}circle")]
    assert (min(places), max(places)) == pytest.approx((min(ends), max(ends)), abs=0.5)


@pytest.mark.parametrize(
    ("verdict", "percent", "expected"),
    [
        ("worse", -1.0, "worse-0"),
        ("worse", -2.0, "worse-1"),
        ("better", 82.5, "better-3"),
        ("better", None, "better-0"),
        ("cannot tell", -40.0, "cannot-tell"),
        ("equivalent", 0.1, "equivalent"),
    ],
)
def test_only_a_proven_change_is_coloured_and_by_its_size(
    verdict: str, percent: float | None, expected: str
) -> None:
    assert cell_class(verdict, percent) == expected


def test_svg_text_and_attributes_are_escaped() -> None:
    assert svg.label("a<b", x=1.0, y=2.0) == '<text x="1" y="2">a&lt;b</text>'
    assert svg.element("g", class_='"x"') == '<g class="&quot;x&quot;"/>'


def test_strips_whose_labels_differ_at_the_end_can_be_distinguished() -> None:
    labels = ["r317849 forwarding@inet4", "r317849 forwarding@inet4+VIMAGE"]
    image = small.draw_strips(
        [Strip(one, [1.0, 2.0, 3.0], 2.0, None) for one in labels], unit="packets/s"
    )
    assert "inet4+VIMAGE</text>" in image
    assert "rding@inet4</text>" in image


def test_a_control_chart_has_its_limits_and_another_mark_for_boots_outside_them() -> None:
    chart = Control([1.0, 2.0, 9.0], ["a", "b", "<c>"], [0, 0, 1], (0.0, 1.5, 3.0), "pps & <x>")
    image = ET.fromstring(small.draw_control(chart))
    lines = [one.get("class") for one in image.findall(f"{SPACE}line")]
    assert [lines.count(name) for name in ("limit", "centre")] == [2, 1]
    assert len(image.findall(f"{SPACE}polygon")) == 1
    assert len(image.findall(f"{SPACE}circle")) == 2


def test_a_control_chart_without_limits_shows_its_boots() -> None:
    image = ET.fromstring(small.draw_control(Control([1.0], ["a"], [0], None, "pps")))
    assert "limit" not in {one.get("class") for one in image.findall(f"{SPACE}line")}
    assert image.find(f"{SPACE}circle") is not None


def test_the_lines_of_a_curve_reach_from_end_to_end_of_its_axis() -> None:
    levels = [Level(value, 100.0, 90.0, 110.0) for value in (1.0, 2.0, 9.0)]
    image = ET.fromstring(
        small.draw_curve(levels, knob="queues", unit="pps", style=SeriesStyle(0, ""))
    )
    lines = image.findall(f"{SPACE}line")
    ((left, right),) = {(float(one.get("x1", "")), float(one.get("x2", ""))) for one in lines}
    dots = [float(one.get("cx", "")) for one in image.findall(f".//{SPACE}circle")]
    # 4 % of the axis lie free at either end: 1/27 of the distance between the outermost dots.
    free = (dots[-1] - dots[0]) * 0.04
    assert (dots[0] - left, right - dots[-1]) == pytest.approx((free, free), abs=0.2)


ACROSS, DOWN = ("x", "x1", "x2", "cx"), ("y", "y1", "y2", "cy")
LEVELS = [Level(value, 100.0, 90.0, 110.0) for value in (1.0, 2.0, 9.0)]
HISTOGRAM = Histogram.of([10.0, 1000.0], [9_990, 10])
SIDE = quantiles.Curve("A", HISTOGRAM.total, HISTOGRAM.curve(), [HISTOGRAM.curve()])


@pytest.mark.parametrize(
    "drawn",
    [
        small.draw_control(
            Control([1.0, 2.0, 9.0], ["a", "b", "c"], [0, 0, 1], (0.0, 1.5, 3.0), "pps")
        ),
        small.draw_curve(LEVELS, knob="queues", unit="pps", style=SeriesStyle(0, "")),
        quantiles.curves([SIDE] * 3, unit="us"),
        quantiles.over_revisions([("r1", HISTOGRAM.middles())] * 9, unit="us"),
        small.draw_strips([Strip("r1", [1.0, 2.0], 1.5, (1.0, 2.0))] * 2, unit="pps"),
    ],
    ids=["control", "curve", "quantiles", "over revisions", "strip"],
)
def test_all_of_a_picture_lies_within_it(drawn: str) -> None:
    image = ET.fromstring(drawn)
    width, height = (float(image.get(name, "")) for name in ("width", "height"))
    for one in image.iter():
        points = [at.split(",") for at in one.get("points", "").split()]
        xs = [float(one.get(name, 0)) for name in ACROSS] + [float(x) for x, _ in points]
        ys = [float(one.get(name, 0)) for name in DOWN] + [float(y) for _, y in points]
        assert 0 <= min(xs) <= max(xs) <= width, one.attrib
        assert 0 <= min(ys) <= max(ys) <= height, one.attrib
