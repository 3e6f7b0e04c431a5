"""A lane of a machine's page."""

import re
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from webapp.charts import lane
from webapp.charts.lane import Change, Lane, Mark
from webapp.charts.trend.series import Level

CHANGE = Change(
    at=1.5,
    before=100.0,
    after=80.0,
    percent=-20.0,
    verdict="worse",
    since=1,
    until=2,
    is_proven=True,
    text="at <r3>",
)


def drawn(one: Lane, length: int = 4) -> ET.Element:
    return ET.fromstring(lane.draw(one, length=length, described="pf & more"))


def paths(image: ET.Element, name: str) -> list[str]:
    return [one.get("d", "") for one in image.iter("path") if one.get("class") == name]


def heights(of: Lane) -> list[float]:
    (dots,) = paths(drawn(of), "pt")
    return [float(dot.split()[1].removesuffix("h0")) for dot in dots.split("M")[1:]]


def a_lane(*means: float, **more: object) -> Lane:
    ends = [mean * 0.99 for mean in means], [mean * 1.01 for mean in means]
    return Lane(range(len(means)), means, *ends, **more)  # type: ignore[arg-type]


def test_noise_below_the_least_span_looks_flat() -> None:
    low, high = heights(a_lane(1000.0, 1001.0))
    assert abs(low - high) < 2


def test_points_keep_a_margin_of_a_twentieth_from_both_ends() -> None:
    # From 99 to 121 in 88 pixels, four a unit, above the base at 100.
    means = (100.0, 120.0)
    assert heights(Lane((0, 1), means, means, means)) == [96.0, 16.0]


def test_a_long_whisker_is_cut_and_does_not_flatten_the_lane() -> None:
    plain = heights(a_lane(100.0, 120.0))
    wide = Lane((0, 1), (100.0, 120.0), (0.0, 119.0), (101.0, 121.0))
    first, second = heights(wide)
    assert first - second > 0.7 * (plain[0] - plain[1])


def test_a_change_has_riser_triangle_size_and_the_bar_where_it_began() -> None:
    image = drawn(a_lane(100, 100, 80, 80, changes=[CHANGE], levels=[Level(0, 1, 100, 100)]))
    assert len(paths(image, "riser worse")) == len(paths(image, "tri worse")) == 1
    assert len(paths(image, "began")) == len(paths(image, "lv")) == 1
    assert [one.text for one in image.iter("title")] == ["at <r3>"]
    assert any((one.text or "").startswith("\N{MINUS SIGN}20.0") for one in image.iter("text"))


def test_a_label_at_the_end_stands_to_the_left_of_its_riser() -> None:
    image = drawn(a_lane(100, 80, changes=[CHANGE]), length=2)
    (label,) = list(image.iter("text"))
    assert label.get("text-anchor") == "end"


@pytest.mark.parametrize("length", [4, 2], ids=["to the right", "to the left"])
@pytest.mark.parametrize("after", [99.0, 101.0])
def test_a_label_of_a_small_change_does_not_stand_on_the_line_of_a_level(
    after: float, length: int
) -> None:
    levels = [Level(0, 1, 100.0, 100.0), Level(1, 3, after, after)]
    small = replace(CHANGE, before=100.0, after=after)
    image = drawn(a_lane(100, 100, after, after, levels=levels, changes=[small]), length)
    (label,) = image.iter("text")
    foot = float(label.get("y", ""))
    (levels_drawn,) = paths(image, "lv")
    before, _, since, _ = map(float, re.findall(r"[ML][\d.]+ ([\d.]+)", levels_drawn))
    beside = before if label.get("text-anchor") == "end" else since
    assert before != since
    assert not foot - 9 <= beside <= foot


def test_a_candidate_is_drawn_hollow_and_has_no_label() -> None:
    image = drawn(a_lane(100, 80, changes=[replace(CHANGE, is_proven=False)]))
    assert len(paths(image, "tri worse candidate")) == 1
    assert not list(image.iter("text"))


def test_one_revision_is_drawn_and_texts_are_escaped() -> None:
    image = drawn(a_lane(100.0, marks=[Mark(0.5, "<b>")]), length=1)
    assert image.get("aria-label") == "pf & more"
    assert [one.text for one in image.iter("text")] == ["<b>"]


def test_zero_and_negative_values_are_drawn() -> None:
    assert len(heights(a_lane(0.0, 0.0))) == 2
    assert len(heights(a_lane(-5.0, 5.0))) == 2


def test_the_axis_names_revisions_at_their_place() -> None:
    image = ET.fromstring(lane.revisions([(0, "r1"), (9, "<r9>")], length=10))
    assert [(one.text, one.get("text-anchor")) for one in image.iter("text")] == [
        ("r1", "start"),
        ("<r9>", "end"),
    ]
