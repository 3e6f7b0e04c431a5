"""The trend chart as a Plotly figure and as SVG."""

import json
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from webapp.charts.theme import style_of
from webapp.charts.trend import svg
from webapp.charts.trend.figure import payload
from webapp.charts.trend.levels import Found, Level
from webapp.charts.trend.trend import (
    Apart,
    Axis,
    Revisions,
    Trend,
    TrendSeries,
    Values,
    Whiskers,
)


def a_finding(**changes: Any) -> Found:
    made = Found(
        at=2,
        after=0,
        last=2,
        state="confirmed",
        verdict="worse",
        percent=-20.792,
        low=-22.0,
        high=-19.5,
        probability=0.98765,
        suspects=("r1", "r3"),
        why="Confirmed: it fell.",
    )
    return replace(made, **changes)


def a_series(**changes: Any) -> TrendSeries:
    made = TrendSeries(
        id=7,
        hardware="Atom/T540",
        mode="forwarding",
        style=style_of(mode_id=1, hardware_id=1),
        indices=[0, 1, 2],
        counts=[5, 5, 1],
        centres=[100.0, 101.0, 80.0],
        lows=[99.0, 100.0, None],
        highs=[101.0, 102.0, None],
        percents=[None, 1.0, -20.792],
        errors=[None, 1.4, None],
        verdicts=["", "cannot tell", "worse"],
        flags=["", "", "regressed"],
        levels=[Level(0, 1, 100.5, 100.5)],
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


def lines(trend: Trend) -> list[dict[str, Any]]:
    data: list[dict[str, Any]] = payload(trend)["figure"]["data"]
    return data


def test_only_trace_types_that_a_strict_policy_allows_are_used() -> None:
    assert {trace["type"] for trace in lines(a_trend())} == {"scatter"}


def test_a_figure_is_plain_json_without_nan() -> None:
    trend = a_trend(a_series(centres=[1e300, 1e-300, 1.5]))
    assert json.loads(json.dumps(payload(trend), allow_nan=False))


def test_flagged_commits_are_marked_by_a_shape_and_a_colour() -> None:
    marks = {trace["name"]: trace for trace in lines(a_trend()) if trace["mode"] == "markers"}
    assert marks["regressed"]["x"] == [2]
    assert marks["regressed"]["marker"]["symbol"] == "triangle-down"
    assert marks["improved"]["x"] == []


def test_what_is_not_confirmed_is_a_hollow_mark() -> None:
    trend = a_trend(a_series(found=[a_finding(state="candidate")]))
    marks = {trace["name"]: trace for trace in lines(trend) if trace["mode"] == "markers"}
    assert marks["regressed"]["x"] == []
    assert marks["regressed, not confirmed"]["x"] == [2]
    assert marks["regressed, not confirmed"]["marker"]["color"] == "var(--paper)"
    assert 'class="regressed candidate"' in svg.draw(trend)


def test_levels_and_suspects_are_lines_that_the_pointer_does_not_see() -> None:
    level, suspects = lines(a_trend())[1:3]
    assert (level["x"], level["y"]) == ([0, 1, None], [100.5, 100.5, None])
    assert (suspects["x"], suspects["y"]) == ([0, 2, None], [80, 80, None])
    assert level["hoverinfo"] == suspects["hoverinfo"] == "skip"


def test_levels_are_indexed_with_their_series() -> None:
    level = lines(a_trend(a_series(centres=[50.0, 55.0, 40.0]), values=Values.INDEXED))[1]
    assert level["y"] == [201, 201, None]


def test_a_level_shows_as_far_as_the_axis_reaches() -> None:
    sloping = Level.within([20, 30, 60], (10, 50), (100.0, 140.0))
    assert sloping == Level(0, 1, 110.0, 120.0)
    assert Level.within([20, 30], (40, 50), (1.0, 1.0)) is None
    assert Level.within([], (40, 50), (1.0, 1.0)) is None


def test_the_hover_card_gets_the_reason_of_a_finding() -> None:
    (found,) = payload(a_trend())["series"][0]["found"]
    assert found["why"] == "Confirmed: it fell."
    assert (found["percent"], found["probability"]) == (-20.79, 0.988)


def test_the_y_axis_says_unit_and_direction() -> None:
    note = payload(a_trend())["figure"]["layout"]["annotations"][0]["text"]
    assert note == "pps, packets/s (more is better)"


def test_an_unknown_whisker_is_left_out_not_drawn_as_zero() -> None:
    assert lines(a_trend())[0]["error_y"]["array"] == [1, 1, None]


def test_whiskers_that_differ_up_and_down_are_drawn_as_they_are() -> None:
    trend = a_trend(a_series(lows=[90.0, 100.0, 80.0], highs=[101.0, 102.0, 80.0]))
    bars = lines(trend)[0]["error_y"]
    assert bars["symmetric"] is False
    assert bars["arrayminus"] == [10, 1, 0]


def test_no_whiskers_means_none() -> None:
    assert "error_y" not in lines(a_trend(whiskers=Whiskers.NONE))[0]


def test_indexed_series_start_at_100_and_keep_their_changes() -> None:
    trend = a_trend(a_series(centres=[50.0, 55.0, 40.0]), values=Values.INDEXED)
    assert lines(trend)[0]["y"] == [100, 110, 80]


def test_a_series_that_starts_at_zero_cannot_be_indexed_and_is_left_out() -> None:
    trend = a_trend(a_series(centres=[0.0, 1.0, 2.0]), values=Values.INDEXED)
    assert [trace["mode"] for trace in lines(trend)] == ["lines", *["markers"] * 4]


def test_on_the_time_axis_a_commit_without_a_time_is_a_gap() -> None:
    assert lines(a_trend(axis=Axis.TIME))[0]["x"] == [1000, None, 3000]


def test_points_name_their_revision_by_index_and_verdicts_by_a_letter() -> None:
    series = payload(a_trend())["series"][0]
    assert series["revision"] == [0, 1, 2]
    assert series["verdict"] == "-cw"
    assert series["flag"] == "--r"
    assert series["percent"] == [None, 1.0, -20.79]


def test_the_same_mode_has_the_same_colour_whatever_the_hardware() -> None:
    one, other = style_of(mode_id=3, hardware_id=1), style_of(mode_id=3, hardware_id=2)
    assert one.colour == other.colour
    assert one.symbol != other.symbol


def test_modes_that_share_a_colour_differ_in_their_dash() -> None:
    styles = [style_of(mode_id=pk) for pk in range(24)]
    assert len({(style.colour, style.dash) for style in styles}) == 24


def test_lines_that_start_apart_are_labelled_with_what_tells_them_apart() -> None:
    other = a_series(id=8, mode="pf", centres=[200.0, 201.0, 202.0])
    assert [text for _, text in a_trend(a_series(), other).labels] == ["forwarding", "pf"]


def test_lines_that_start_together_are_not_labelled_over_each_other() -> None:
    assert a_trend(a_series(), a_series(id=8, mode="pf")).labels == []


def test_the_svg_holds_every_series_flag_and_escapes_its_texts() -> None:
    trend = a_trend(a_series(mode="<script>"))
    image = ET.fromstring(svg.draw(trend))
    space = "{http://www.w3.org/2000/svg}"
    assert len(image.findall(f".//{space}polyline")) == 1
    assert [mark.get("class") for mark in image.findall(f".//{space}polygon")] == ["regressed"]
    assert image.find(f"{space}script") is None


@pytest.mark.parametrize("axis", list(Axis))
@pytest.mark.parametrize("values", list(Values))
def test_an_empty_chart_can_be_drawn(axis: Axis, values: Values) -> None:
    trend = a_trend(series=(), revisions=Revisions(), axis=axis, values=values)
    assert svg.draw(trend).startswith("<svg")
    assert payload(trend)["series"] == []


def test_a_point_whose_runs_disagree_is_hollow_with_its_word_and_a_dash_for_each_run() -> None:
    trend = a_trend(a_series(apart=[Apart(1, [90.0, 140.0])]))
    named = {one.get("name"): one for one in lines(trend)}
    assert (named["lab?"]["x"], named["lab?"]["y"], named["lab?"]["text"]) == (
        [1],
        [101.0],
        ["lab?"],
    )
    assert named["lab?"]["marker"]["color"] == "var(--paper)"
    assert (named["runs that disagree"]["x"], named["runs that disagree"]["y"]) == (
        [1, 1],
        [90.0, 140.0],
    )
    assert trend.y_range[1] > 140
    assert "lab?" in trend.caption
    drawing = svg.draw(trend)
    assert drawing.count('class="apart"') == 2
    assert ">lab?<" in drawing
    ET.fromstring(drawing)


def test_its_runs_follow_the_values_drawn_and_the_time_axis() -> None:
    apart = a_series(apart=[Apart(1, [90.0, 140.0])])
    indexed = next(one for one in lines(a_trend(apart, values=Values.INDEXED)) if _is_runs(one))
    assert indexed["y"] == [90.0, 140.0]  # of 100, the first point
    timed = next(one for one in lines(a_trend(apart, axis=Axis.TIME)) if _is_runs(one))
    assert timed["x"] == [None, None]  # the time of that revision is not known
    assert 'class="apart"' not in svg.draw(a_trend(apart, axis=Axis.TIME))


def _is_runs(trace: dict[str, Any]) -> bool:
    return trace.get("name") == "runs that disagree"
