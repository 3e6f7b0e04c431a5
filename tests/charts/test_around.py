"""Tiles, charts around one change, bars of intervals."""

from xml.etree import ElementTree as ET

import pytest

from webapp.charts import around, bars
from webapp.charts.around import Around, Tile
from webapp.charts.trend.series import Level

SPACE = "{http://www.w3.org/2000/svg}"


def drawn_tile(**more: object) -> ET.Element:
    kwargs = {"indices": [0, 1, 2, 3], "values": [100.0, 101.0, 80.0, 81.0], "length": 4} | more
    return ET.fromstring(around.draw_tile(Tile(**kwargs)))  # type: ignore[arg-type]


def paths(image: ET.Element, css_class: str) -> list[str]:
    return [
        str(one.get("d"))
        for one in image.iter()
        if css_class in str(one.get("class", "")).split() and one.get("d")
    ]


def test_a_tile_has_a_dot_for_each_point_and_a_riser_where_a_change_was_found() -> None:
    levels = [Level(0, 1, 100.0, 100.0), Level(2, 3, 80.0, 80.0)]
    image = drawn_tile(levels=levels, moved=["worse"])
    assert paths(image, "pt")[0].count("h0") == 4
    assert paths(image, "lv")[0].count("L") == 2
    assert len(paths(image, "worse")) == 2


def test_levels_apart_without_a_finding_have_no_riser() -> None:
    levels = [Level(0, 1, 100.0, 100.0), Level(2, 3, 80.0, 80.0)]
    assert not paths(drawn_tile(levels=levels, moved=[""]), "riser")


def test_noise_below_six_percent_looks_flat_in_a_tile() -> None:
    dots = paths(drawn_tile(values=[1000.0, 1001.0, 999.0, 1000.0]), "pt")[0]
    heights = [float(part.split(" ")[1].split("h")[0]) for part in dots.split("M")[1:]]
    assert max(heights) - min(heights) < 1


def test_a_tile_without_points_draws_nothing() -> None:
    assert around.draw_tile(Tile([], [], 0)) == ""


def test_a_described_tile_is_an_image_and_another_is_hidden_from_readers() -> None:
    kwargs = Tile([0], [1.0], 1)
    assert 'aria-label="pf &lt;b&gt;"' in around.draw_tile(kwargs, described="pf <b>")
    assert 'aria-hidden="true"' in around.draw_tile(kwargs)


def change(**more: object) -> Around:
    values = {
        "names": ["r1", "r2", "r3", "r4"],
        "values": [100.0, 101.0, 80.0, 81.0],
        "at": 2,
        "after": 1,
        "last": 2,
        "before": 100.5,
        "since": 80.5,
        "verdict": "worse",
    } | more
    return Around(**values)  # type: ignore[arg-type]


def test_a_change_shows_both_levels_and_the_revision_where_it_began() -> None:
    image = ET.fromstring(around.draw(change(), described="pf lost 20 %"))
    texts = [one.text for one in image.iter(f"{SPACE}text")]
    assert {"100.5", "80.5", "r3", "r1", "r4"} <= set(texts)
    assert paths(image, "was")
    assert paths(image, "tri")


def test_a_slow_change_fills_the_gap_to_the_old_level_and_has_no_step() -> None:
    slow = change(is_slow=True, after=0, last=3, at=3)
    image = ET.fromstring(around.draw(slow, described="pf lost 20 % slowly"))
    assert len(paths(image, "bw")) == 1
    assert not paths(image, "tri")


def test_figures_of_levels_that_are_near_do_not_touch() -> None:
    image = ET.fromstring(around.draw(change(since=100.2, before=100.0), described=""))
    heights = [float(str(one.get("y"))) for one in image.iter(f"{SPACE}text")][:2]
    assert abs(heights[0] - heights[1]) > 12.9


@pytest.mark.parametrize("at", [0, 1, 3])
def test_a_change_at_an_end_is_drawn(at: int) -> None:
    assert around.draw(change(at=at, after=0, last=3), described="x").startswith("<svg")


def test_names_from_outside_are_escaped_in_charts() -> None:
    image = around.draw(change(names=["<a>", "b", "<c>", "d"]), described="<d>")
    assert "<a>" not in image
    assert "<c>" not in image
    assert "<d>" not in image


def test_an_interval_that_leaves_the_scale_ends_in_an_arrow() -> None:
    inside = bars.draw_interval(-3, -1, reach=10, verdict="worse")
    outside = bars.draw_interval(-30, -1, reach=10, verdict="worse")
    assert inside.count("<path") == 2
    assert outside.count("<path") == 3
    assert 'aria-label="[−3.0, −1.0] %"' in inside
    beyond = bars.draw_interval(-30, -20, reach=10, verdict="worse", width=100)
    assert beyond.count("<path") == 3
    assert 'x="3.0" y="4.5" width="47.0"' in beyond
