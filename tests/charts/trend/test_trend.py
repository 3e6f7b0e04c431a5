"""The trend chart as columns and as SVG."""

import json
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from webapp.charts.theme import style_of
from webapp.charts.trend import svg
from webapp.charts.trend.columns import columns
from webapp.charts.trend.levels import Found, Level
from webapp.charts.trend.trend import (
    Apart,
    Axis,
    Revisions,
    Split,
    Trend,
    TrendSeries,
    Values,
    Whiskers,
)


def a_finding(**changes: Any) -> Found:
    made = Found(
        at=2,
        index=2,
        after=0,
        last=2,
        state="confirmed",
        verdict="worse",
        percent=-20.792,
        low=-22.0,
        high=-19.5,
        probability=0.98765,
        suspects=("r1", "r3"),
        before=100.5,
        since=80.0,
        why="Confirmed: it fell.",
    )
    return replace(made, **changes)


def a_series(**changes: Any) -> TrendSeries:
    made = TrendSeries(
        id=7,
        hardware="Atom/T540",
        mode="forwarding",
        style=style_of(mode_id=1),
        indices=[0, 1, 2],
        counts=[5, 5, 1],
        centres=[100.0, 101.0, 80.0],
        lows=[99.0, 100.0, None],
        highs=[101.0, 102.0, None],
        levels=[Level(0, 1, 100.5, 100.5, 99.0, 102.0), Level(2, 2, 80.0, 80.0)],
        found=[a_finding()],
    )
    return replace(made, **changes)


def a_trend(*series: TrendSeries, **changes: Any) -> Trend:
    made = Trend(
        tree="freebsd-head",
        metric="pps",
        unit="packets/s",
        better="more",
        revisions=Revisions(["r1", "r2", "r3"], ["one", "<b>two</b>", ""], [1000, None, 3000]),
        series=series or (a_series(),),
    )
    return replace(made, **changes)


SPACE = "{http://www.w3.org/2000/svg}"


def drawn(trend: Trend) -> ET.Element:
    return ET.fromstring(svg.draw(trend))


def paths(trend: Trend, css_class: str) -> list[str]:
    """The paths of a class, in their order."""
    found = drawn(trend).iter(f"{SPACE}path")
    return [str(one.get("d")) for one in found if one.get("class") == css_class]


def texts(trend: Trend) -> list[str]:
    return [str(one.text) for one in drawn(trend).iter(f"{SPACE}text")]


def test_columns_are_plain_json_without_nan() -> None:
    trend = a_trend(a_series(centres=[1e300, 1e-300, float("nan")]))
    assert json.loads(json.dumps(columns(trend), allow_nan=False))


def test_a_change_is_a_riser_with_triangle_size_and_the_old_level_in_dashes() -> None:
    trend = a_trend()
    (riser,) = paths(trend, "riser worse")
    top, foot = (float(one) for one in riser.removeprefix("M").split()[1].split("V"))
    assert top < foot, "a loss goes down"
    (dashes,) = paths(trend, "was")
    assert float(dashes.split()[1].partition("H")[0]) == top
    assert len(paths(trend, "tri worse")) == 1
    assert "\u221220.8\u202f%" in texts(trend)


def test_what_is_not_confirmed_has_no_size_and_no_dashes() -> None:
    trend = a_trend(a_series(found=[a_finding(state="candidate")]))
    assert len(paths(trend, "riser worse candidate")) == 1
    assert paths(trend, "was") == []
    assert not [text for text in texts(trend) if "%" in text]


def test_where_a_change_began_is_a_bar_on_the_axis() -> None:
    (bar,) = [one for one in drawn(a_trend()).iter(f"{SPACE}rect") if one.get("class") == "sus"]
    assert float(bar.get("width", 0)) > 100  # over two of three revisions


def test_levels_have_their_band_and_meet_where_the_riser_stands() -> None:
    (level,) = paths(a_trend(), "lv")
    first, second = level.split("M")[1:]
    assert first.partition("L")[2].split()[0] == second.split()[0]
    assert paths(a_trend(), "bd")[0].count("z") == 1, "of one level the band is not known"


def test_a_series_without_levels_has_its_points_joined() -> None:
    trend = a_trend(a_series(levels=[], found=[]))
    assert len(list(drawn(trend).iter(f"{SPACE}polyline"))) == 1
    assert len(list(drawn(a_trend()).iter(f"{SPACE}polyline"))) == 0


def test_levels_are_indexed_with_their_series() -> None:
    trend = a_trend(a_series(centres=[50.0, 55.0, 40.0]), values=Values.INDEXED)
    assert trend.drawn[0].levels[0].start == 201
    assert trend.drawn[0].found[0].since == 160
    assert columns(trend)["series"][0]["factor"] == 2


def test_a_level_shows_as_far_as_the_axis_reaches() -> None:
    sloping = Level.within([20, 30, 60], (10, 50), (100.0, 140.0), (95.0, 105.0))
    assert sloping == Level(0, 1, 110.0, 120.0, 105.0, 115.0)
    assert Level.within([20, 30], (40, 50), (1.0, 1.0)) is None
    assert Level.within([], (40, 50), (1.0, 1.0)) is None


def test_the_card_gets_the_reason_of_a_finding() -> None:
    (found,) = columns(a_trend())["series"][0]["found"]
    assert found["why"] == "Confirmed: it fell."
    assert (found["percent"], found["probability"]) == (-20.79, 0.988)
    assert (found["kind"], found["proven"]) == ("level", True)


def test_the_y_axis_says_unit_and_direction() -> None:
    assert "pps, packets/s (more is better)" in texts(a_trend())


def test_an_unknown_whisker_is_left_out_not_drawn_as_zero() -> None:
    assert columns(a_trend())["series"][0]["low"] == [99, 100, None]
    assert paths(a_trend(), "wh")[0].count("M") == 2


def test_no_whiskers_means_none() -> None:
    bare = a_trend(whiskers=Whiskers.NONE)
    assert "low" not in columns(bare)["series"][0]
    assert paths(bare, "wh") == []


def test_indexed_series_start_at_100_and_keep_their_changes() -> None:
    trend = a_trend(a_series(centres=[50.0, 55.0, 40.0]), values=Values.INDEXED)
    assert trend.drawn[0].centres == pytest.approx([100, 110, 80])


def test_a_series_that_starts_at_zero_cannot_be_indexed_and_is_left_out() -> None:
    trend = a_trend(a_series(centres=[0.0, 1.0, 2.0]), values=Values.INDEXED)
    assert trend.drawn == []
    assert columns(trend)["series"][0]["factor"] is None


def test_on_the_time_axis_a_commit_without_a_time_is_a_gap() -> None:
    assert paths(a_trend(axis=Axis.TIME), "pt")[0].count("M") == 2
    assert paths(a_trend(), "pt")[0].count("M") == 3


def test_lanes_share_one_axis_of_revisions() -> None:
    other = a_series(id=8, mode="pf", centres=[2.0, 2.0, 2.0])
    trend = a_trend(a_series(), other, split=Split.MODE)
    assert [lane.title for lane in trend.lanes] == ["forwarding", "pf"]
    places = [[dot.split()[0] for dot in path.split("M")[1:]] for path in paths(trend, "pt")]
    assert places[0] == places[1]
    assert [lane.title for lane in a_trend(a_series(), other).lanes] == [trend.y_title]


def test_a_window_shows_its_revisions_alone_on_a_scale_of_their_own() -> None:
    trend = a_trend(window=("r1", "r2"))
    assert trend.extent == (-0.5, 1.5)
    assert paths(trend, "pt")[0].count("M") == 2
    assert trend.y_range(trend.drawn)[0] > 90


def test_hidden_series_are_told_and_not_drawn() -> None:
    trend = a_trend(a_series(), a_series(id=8, mode="pf"), hidden=frozenset([7]))
    assert [one.mode for one in trend.drawn] == ["pf"]
    assert len(columns(trend)["series"]) == 2


def test_the_cost_of_an_option_has_a_lane_of_its_own() -> None:
    ratio = a_series(id=8, mode="cost of pf in forwarding", centres=[98.0, 98.0, 96.3])
    ratio = replace(ratio, option="pf", better="more", levels=(), found=())
    trend = a_trend(a_series(), costs=[ratio])
    assert [lane.title for lane in trend.lanes][1].startswith(
        "pf costs 3.7 %: cost of pf in forwarding, with in % of without ("
    )
    assert columns(trend)["costs"][0]["title"] == trend.lanes[1].title
    indexed = replace(trend, values=Values.INDEXED, series=[a_series(), ratio])
    assert indexed.drawn[1].centres == pytest.approx([98.0, 98.0, 96.3])


def test_the_same_mode_has_the_same_colour_on_each_machine_and_another_dash() -> None:
    one, other = style_of(mode_id=3), style_of(mode_id=3, machine=1)
    assert one.slot == other.slot
    assert one.dash != other.dash


def test_modes_that_share_a_colour_differ_in_their_dash() -> None:
    styles = [style_of(mode_id=pk) for pk in range(24)]
    assert len({(style.slot, style.dash) for style in styles}) == 24


def test_what_tells_series_apart_stands_at_their_ends() -> None:
    named = texts(a_trend(a_series(), a_series(id=8, mode="pf")))
    assert "forwarding 80" in [text.rsplit(".", 1)[0] for text in named]
    assert any(text.startswith("pf ") for text in named)


def test_the_svg_escapes_its_texts() -> None:
    image = drawn(a_trend(a_series(mode="<script>", found=[a_finding(why="<b>x</b>")])))
    assert not list(image.iter(f"{SPACE}script"))
    assert not list(image.iter(f"{SPACE}b"))


@pytest.mark.parametrize("axis", list(Axis))
@pytest.mark.parametrize("values", list(Values))
def test_an_empty_chart_can_be_drawn(axis: Axis, values: Values) -> None:
    trend = a_trend(series=(), revisions=Revisions(), axis=axis, values=values)
    assert svg.draw(trend).startswith("<svg")
    assert columns(trend)["series"] == []


def test_a_point_whose_runs_disagree_is_hollow_with_its_word_and_a_dash_for_each_run() -> None:
    trend = a_trend(a_series(apart=[Apart(1, [90.0, 140.0])]))
    assert columns(trend)["series"][0]["apart"] == {1: [90.0, 140.0]}
    assert trend.y_range(trend.drawn)[1] > 140
    assert "lab?" in trend.caption
    drawing = svg.draw(trend)
    assert drawing.count('class="apart"') == 2
    assert ">lab?<" in drawing
    ET.fromstring(drawing)


def test_its_runs_follow_the_values_drawn_and_the_time_axis() -> None:
    apart = a_series(apart=[Apart(1, [90.0, 140.0])])
    assert a_trend(apart, values=Values.INDEXED).drawn[0].apart == [Apart(1, [90.0, 140.0])]
    assert 'class="apart"' not in svg.draw(a_trend(apart, axis=Axis.TIME))


def test_on_a_thinned_axis_points_stand_where_they_do_among_all() -> None:
    few = Revisions(["r1", "r50", "r100"], ["", "", ""], [None] * 3, slots=[0, 49, 99], total=100)
    trend = a_trend(revisions=few)
    assert trend.extent == (-0.5, 99.5)
    first, middle, last = (float(dot.split()[0]) for dot in paths(trend, "pt")[0].split("M")[1:])
    assert (middle - first) / (last - first) == pytest.approx(49 / 99, abs=1e-3)
    assert few.slot_at(0.5) == 24.5
