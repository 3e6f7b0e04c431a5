"""The trend chart as a figure of Plotly and as SVG."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations, cycle, pairwise
from random import Random
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import plotly.graph_objects as go
import plotly.io
import pytest

from webapp.charts.svg import style_of
from webapp.charts.trend import AlertMark, coloured, draw, figure, room_of
from webapp.charts.trend.labels import (
    BOLD,
    LETTER,
    Bars,
    Box,
    Json,
    Segment,
    Taken,
    around,
    text_box,
)
from webapp.charts.trend.series import Apart, Found, Level, Marker, Revisions, TrendSeries
from webapp.charts.trend.svg import BASE, BELOW
from webapp.charts.trend.trend import Axis, Split, Trend, Values, Whiskers


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
        machine="Atom T540",
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


def image_of(trend: Trend) -> ET.Element:
    return ET.fromstring(draw(figure(trend), described="a trend"))


def texts(trend: Trend) -> list[str]:
    """What stands on the chart, ticks apart."""
    return [one["text"] for one in figure(trend)["layout"]["annotations"]]


def lines(trend: Trend, width: float) -> list[Json]:
    """The traces of lines of a width."""
    made = figure(trend)["data"]
    return [one for one in made if one["mode"] == "lines" and one["line"]["width"] == width]


def symbols(trend: Trend) -> list[tuple[str, float, float]]:
    """The symbols of the findings: shape, and where each stands."""
    return [
        found
        for one in figure(trend)["data"]
        if one.get("name") == "findings"
        for found in zip(one["marker"]["symbol"], one["x"], one["y"], strict=True)
    ]


def points(trend: Trend) -> list[Json]:
    return [one for one in figure(trend)["data"] if "meta" in one and one["mode"] == "markers"]


def test_a_figure_is_plain_json_that_plotly_takes_and_opens() -> None:
    made = coloured(figure(a_trend()), ColourOfAnyName())
    text = json.dumps(made, allow_nan=False)
    assert "var(" not in text
    go.Figure(made)
    opened = plotly.io.from_json(text)
    assert opened.data[1].name == "forwarding"
    assert list(opened.data[1].y) == [100, 101, 80]


class ColourOfAnyName(dict[str, str]):
    def __missing__(self, name: str) -> str:
        return "#123456"


def test_values_that_are_not_finite_are_gaps() -> None:
    trend = a_trend(a_series(centres=[1e300, 1e-300, float("nan")]))
    assert json.loads(json.dumps(figure(trend), allow_nan=False))


def test_a_change_is_a_riser_with_triangle_size_and_the_old_level_in_dashes() -> None:
    (riser,) = lines(a_trend(), 2.6)
    assert riser["y"] == [100.5, 80.0, None], "a loss goes down"
    (dashes,) = lines(a_trend(), 1.0)
    assert dashes["y"] == [100.5, 100.5, None]
    ((shape, at, height),) = symbols(a_trend())
    assert (shape, at) == ("triangle-down", riser["x"][0])
    assert height > 80, "its tip is at the new level"
    assert "\u221220.8\u202f%" in texts(a_trend())


def test_what_is_not_confirmed_is_hollow_and_has_no_size_and_no_dashes() -> None:
    trend = a_trend(a_series(found=[a_finding(state="candidate")]))
    (riser,) = lines(trend, 1.4)
    assert riser["line"]["dash"] == "3px,3px"
    assert lines(trend, 1.0) == []
    assert not [text for text in texts(trend) if "%" in text]
    (marks,) = (one for one in figure(trend)["data"] if one.get("name") == "findings")
    assert marks["marker"]["color"] == ["var(--paper)"]


def test_where_a_change_began_is_a_bar_on_the_axis() -> None:
    (bar,) = (one for one in figure(a_trend())["layout"]["shapes"] if one["line"]["width"] == 4)
    assert (bar["x0"], bar["x1"]) == (0, 2)


def test_levels_have_their_band_and_meet_where_the_riser_stands() -> None:
    (level,) = lines(a_trend(), 2.4)
    assert level["x"] == [0, 1.5, None, 1.5, 2, None]
    (band,) = (one for one in figure(a_trend())["data"] if one["mode"] == "none")
    assert band["y"] == [99.0, 99.0, 102.0, 102.0, None], "of one level the band is not known"


def test_in_a_part_of_a_drifting_series_line_and_band_keep_their_slope() -> None:
    """They are cut off by the drawing: their ends lie where they do in the whole."""
    sloped = a_series(levels=[Level(0, 2, 100.0, 80.0, 98.0, 102.0)], found=[])
    part = a_trend(sloped, window=("r1", "r2"))
    (whole_line,), (line,) = lines(a_trend(sloped), 2.4), lines(part, 2.4)
    assert line["y"] == whole_line["y"] == [100.0, 80.0, None]
    (band,) = (one for one in figure(part)["data"] if one["mode"] == "none")
    assert band["y"] == [98.0, 78.0, 82.0, 102.0, None]
    low, high = figure(part)["layout"]["yaxis"]["range"]
    assert low < 90 < high < 105, "the axis reaches as far as what is in view"
    assert 'clip-path="url(#lane-1060-y)"' in draw(figure(part), described="")


def test_a_series_without_levels_has_its_points_joined() -> None:
    trend = a_trend(a_series(levels=[], found=[]))
    assert [one["y"] for one in lines(trend, 1)] == [[100, 101, 80]]
    assert all(one["line"]["dash"] != "solid" for one in lines(a_trend(), 1))


def test_levels_are_indexed_with_their_series() -> None:
    trend = a_trend(a_series(centres=[50.0, 55.0, 40.0]), values=Values.INDEXED)
    assert trend.drawn[0].levels[0].start == 201
    assert trend.drawn[0].found[0].since == 160
    assert figure(trend)["layout"]["meta"]["series"][0]["factor"] == 2


def test_a_level_shows_as_far_as_the_axis_reaches() -> None:
    sloping = Level.within([20, 30, 60], (10, 50), (100.0, 140.0), (95.0, 105.0))
    assert sloping == Level(0, 1, 110.0, 120.0, 105.0, 115.0)
    assert Level.within([20, 30], (40, 50), (1.0, 1.0)) is None
    assert Level.within([], (40, 50), (1.0, 1.0)) is None


def test_the_tooltip_gets_a_finding_rounded_as_it_is_drawn() -> None:
    (found,) = figure(a_trend())["layout"]["meta"]["series"][0]["found"]
    assert found["size"] == "\u221220.8 [\u221222.0, \u221219.5]\u202f%"
    assert (found["state"], found["verdict"]) == ("confirmed", "worse")


def test_the_y_axis_states_unit_and_direction() -> None:
    assert "pps, packets/s (more is better)" in texts(a_trend())


def test_an_unknown_whisker_is_left_out_not_drawn_as_zero() -> None:
    (made,) = points(a_trend())
    assert made["error_y"]["arrayminus"] == [1, 1, None]
    assert draw(figure(a_trend()), described="").count('stroke-width="0.8"') == 1
    assert points(a_trend(whiskers=Whiskers.NONE))[0].get("error_y") is None


def test_indexed_series_start_at_100_and_keep_their_changes() -> None:
    trend = a_trend(a_series(centres=[50.0, 55.0, 40.0]), values=Values.INDEXED)
    assert trend.drawn[0].centres == pytest.approx([100, 110, 80])


def test_a_series_that_starts_at_zero_cannot_be_indexed_and_is_left_out() -> None:
    trend = a_trend(a_series(centres=[0.0, 1.0, 2.0]), values=Values.INDEXED)
    assert trend.drawn == []
    assert points(trend) == []


def test_on_the_time_axis_a_commit_without_a_time_is_a_gap() -> None:
    (made,) = points(a_trend(axis=Axis.TIME))
    assert made["x"] == [1000, None, 3000]


def test_lanes_share_one_axis_of_revisions() -> None:
    other = a_series(id=8, mode="pf", centres=[2.0, 2.0, 2.0])
    trend = a_trend(a_series(), other, split=Split.MODE)
    assert [lane.title for lane in trend.lanes] == ["forwarding", "pf"]
    assert [one["yaxis"] for one in points(trend)] == ["y", "y2"]
    one_lane = a_trend(a_series(), other, split=Split.ONE)
    assert [lane.title for lane in one_lane.lanes] == [trend.y_title]


def test_a_series_on_another_scale_has_a_lane_of_its_own_unless_one_chart_is_wanted() -> None:
    far = a_series(id=8, mode="pf", centres=[900.0] * 3, levels=(), found=())
    near = a_series(id=9, mode="ipfw", centres=[250.0] * 3, levels=(), found=())
    trend = a_trend(a_series(), near, far)
    assert [[one.mode for one in lane.series] for lane in trend.lanes] == [
        ["pf"],
        ["forwarding", "ipfw"],
    ]
    assert trend.lanes[0].title == f"{trend.y_title}: pf"
    assert len(replace(trend, split=Split.ONE).lanes) == 1


def test_a_window_shows_its_revisions_alone_on_a_scale_of_their_own() -> None:
    trend = a_trend(window=("r1", "r2"))
    assert trend.extent == (-0.5, 1.5)
    assert trend.y_range(trend.drawn)[0] > 90
    asked = replace(trend, heights={1: (0.0, 50.0)})
    assert figure(asked)["layout"]["yaxis"]["range"] == [0, 50]


def test_hidden_series_are_named_and_not_drawn() -> None:
    trend = a_trend(a_series(), a_series(id=8, mode="pf"), hidden=frozenset([7]))
    assert [one.mode for one in trend.drawn] == ["pf"]
    assert len(figure(trend)["layout"]["meta"]["series"]) == 2


def test_the_cost_of_an_option_has_a_lane_of_its_own() -> None:
    ratio = a_series(id=8, mode="cost of pf in forwarding", centres=[98.0, 98.0, 96.3])
    ratio = replace(ratio, option="pf", better="more", levels=(), found=())
    trend = a_trend(a_series(), costs=[ratio])
    assert [lane.title for lane in trend.lanes][1].startswith(
        "pf costs 3.7 %: cost of pf in forwarding, with in % of without ("
    )
    assert trend.lanes[1].title in texts(trend)
    indexed = replace(trend, values=Values.INDEXED, series=[a_series(), ratio])
    assert indexed.drawn[1].centres == pytest.approx([98.0, 98.0, 96.3])


def test_the_same_mode_has_the_same_colour_on_each_machine_and_another_dash() -> None:
    one, other = style_of(mode_id=3), style_of(mode_id=3, machine=1)
    assert one.slot == other.slot
    assert one.dash != other.dash


def test_modes_that_share_a_colour_differ_in_their_dash() -> None:
    styles = [style_of(mode_id=pk) for pk in range(24)]
    assert len({(style.slot, style.dash) for style in styles}) == 24


def test_what_distinguishes_series_stands_at_their_ends() -> None:
    named = texts(a_trend(a_series(), a_series(id=8, mode="pf")))
    assert "forwarding 80" in [text.rsplit(".", 1)[0] for text in named]
    assert any(text.startswith("pf ") for text in named)


def test_names_at_the_ends_leave_out_what_all_begin_with() -> None:
    machines = [
        a_series(id=at, hardware=f"Lab_{name}/1G", machine=f"Lab {name} 1G")
        for at, name in enumerate(("ARM", "Atom"))
    ]
    named = texts(a_trend(*machines))
    assert any(text.startswith("ARM 1G ") for text in named)
    assert any(text.startswith("Atom 1G ") for text in named)


HOSTILE = '<a href="evil">x</a><b>y</b>%{x}&lt;'


def test_no_name_is_markup_for_plotly_or_in_the_svg() -> None:
    revisions = Revisions(
        [HOSTILE, "r2", "r3"], [HOSTILE] * 3, [1000, None, 3000], authors=["", HOSTILE, ""]
    )
    hostile = a_series(mode=HOSTILE, machine=HOSTILE, found=[a_finding(why=HOSTILE)])
    trend = a_trend(hostile, revisions=revisions, unit=HOSTILE, metric=HOSTILE)
    shown = {key: value for key, value in figure(trend).items() if key != "layout"}
    layout = {key: one for key, one in figure(trend)["layout"].items() if key != "meta"}
    written = json.dumps([shown, layout])
    assert "evil" in written
    assert "<a" not in written
    assert "<b" not in written
    assert "%{" not in written
    image = image_of(trend)
    assert not list(image.iter(f"{SPACE}b")) + list(image.iter(f"{SPACE}a"))
    assert any(one.text == HOSTILE for one in image.iter(f"{SPACE}text"))


@pytest.mark.parametrize("axis", list(Axis))
@pytest.mark.parametrize("values", list(Values))
def test_an_empty_chart_can_be_drawn(axis: Axis, values: Values) -> None:
    trend = a_trend(series=(), revisions=Revisions(), axis=axis, values=values)
    assert draw(figure(trend), described="").startswith("<svg")
    go.Figure(coloured(figure(trend), ColourOfAnyName()))


def test_a_point_whose_runs_disagree_is_hollow_with_its_word_and_a_dash_for_each_run() -> None:
    trend = a_trend(a_series(apart=[Apart(1, [90.0, 140.0])]))
    assert figure(trend)["layout"]["meta"]["series"][0]["apart"] == [1]
    assert trend.y_range(trend.drawn)[1] > 140
    assert "lab?" in trend.caption
    (dashes,) = lines(trend, 1.6)
    assert dashes["y"] == [90.0, 90.0, None, 140.0, 140.0, None]
    assert ("circle", 1, 101) in symbols(trend)
    assert "lab?" in texts(trend)


def test_its_runs_follow_the_values_drawn_and_the_time_axis() -> None:
    apart = a_series(apart=[Apart(1, [90.0, 140.0])])
    assert a_trend(apart, values=Values.INDEXED).drawn[0].apart == [Apart(1, [90.0, 140.0])]
    assert lines(a_trend(apart, axis=Axis.TIME), 1.6) == []


def test_on_a_thinned_axis_points_stand_where_they_do_among_all() -> None:
    few = Revisions(["r1", "r50", "r100"], ["", "", ""], [None] * 3, slots=[0, 49, 99], total=100)
    trend = a_trend(revisions=few)
    assert trend.extent == (-0.5, 99.5)
    assert points(trend)[0]["x"] == [0, 49, 99]
    assert few.slot_at(0.5) == 24.5


def four_series(revisions: int = 60) -> Trend:
    """Four series that change at one revision, with alerts there."""
    names = [f"r{300000 + 10 * at}" for at in range(revisions)]
    middle, series = revisions // 2, []
    for number in range(4):
        level = 1000.0 + 30 * number
        ends = (
            Level(0, middle - 1, level, level),
            Level(middle, revisions - 1, 0.9 * level, 0.88 * level),
        )
        found = a_finding(
            at=middle, index=middle, after=middle - 2, last=middle, before=level, since=0.9 * level
        )
        values = [level] * middle + [0.9 * level] * (revisions - middle)
        series.append(
            a_series(
                id=number,
                mode=f"mode-{number}",
                indices=range(revisions),
                counts=[5] * revisions,
                centres=values,
                lows=values,
                highs=values,
                levels=ends,
                found=[found],
            )
        )
    alerts = [AlertMark(one, "new", True, middle, f"/alerts/{one}/") for one in (7, 8)]
    times = [None] * revisions
    return a_trend(*series, revisions=Revisions(names, names, times), alerts=alerts)


CLEAR = 3.0
"""Pixels above the names of revisions, without which what stands there seems to touch them."""

Place = Callable[[str, float, float], tuple[float, float]]


def placing(layout: Json) -> Place:
    """Pixels of (x, y) by the name of a vertical axis: by the same reckoning as a drawing's."""
    left, top = layout["margin"]["l"], layout["margin"]["t"]
    width = layout["width"] - left - layout["margin"]["r"]
    height = layout["height"] - top - layout["margin"]["b"]
    low_x, high_x = layout["xaxis"]["range"]

    def place(axis: str, x: float, y: float) -> tuple[float, float]:
        if axis != "paper":
            name, _, inside = axis.partition(" ")
            lane = layout[name.replace("y", "yaxis")]
            low, high = lane["range"]
            foot, end = lane["domain"]
            y = foot + (end - foot) * (y if inside else (y - low) / (high - low))
        return left + (x - low_x) / (high_x - low_x) * width, top + (1 - y) * height

    return place


def boxes(made: Json) -> Iterator[tuple[str, Box]]:
    """Where the texts in a figure stand."""
    layout = made["layout"]
    place, (low_x, high_x) = placing(layout), layout["xaxis"]["range"]
    for one in layout["annotations"]:
        x = low_x + one["x"] * (high_x - low_x) if one["xref"] == "paper" else one["x"]
        across, down = place(one["yref"], x, one["y"])
        text = one["text"].removesuffix("</a>").rpartition(">")[2]
        letter = BOLD if one["font"]["weight"] == 600 else LETTER
        spot = across + one.get("xshift", 0), down - one.get("yshift", 0)
        box = text_box(text, *spot, one["xanchor"], letter)
        yield text, Box(*(round(end, 6) for end in box))
    for value, name in zip(layout["xaxis"]["tickvals"], layout["xaxis"]["ticktext"], strict=True):
        x, foot = place("paper", value, 0)
        box = text_box(name, x, foot + BELOW - BASE, "center")
        yield name, box._replace(top=box.top - CLEAR)


def drawn_lines(made: Json) -> Iterator[Segment]:
    """Levels, risers, dashes, slopes, what joins points, and events, in pixels."""
    place = placing(made["layout"])
    for one in made["data"]:
        ends = list(zip(one["x"], one["y"], strict=True)) if one["mode"] == "lines" else []
        for (x, y), (end_x, end_y) in pairwise(ends):
            if x is not None and end_x is not None:
                yield (*place(one["yaxis"], x, y), *place(one["yaxis"], end_x, end_y))
    for one in made["layout"]["shapes"]:
        if one["yref"] == "paper":
            yield (*place("paper", one["x0"], 0), *place("paper", one["x1"], 1))


def sizes_on_something(made: Json) -> list[str]:
    """The texts of a figure that lie on one another, and the sizes of findings that lie on a
    line.
    """
    found = list(boxes(made))
    return [
        f"{text} on {other}"
        for (text, box), (other, near) in combinations(found, 2)
        if box.meets(near)
    ] + [
        f"{text} on {line}"
        for text, box in found
        if text.endswith("%")
        for line in drawn_lines(made)
        if box.is_crossed(line)
    ]


@pytest.mark.parametrize("heights", [{}, {1: (905.0, 1100.0)}], ids=["whole", "zoomed"])
@pytest.mark.parametrize("width", [1060, 700, 390])
def test_with_four_series_no_label_lies_on_a_line_on_another_label_or_under_a_badge(
    width: int, heights: dict[int, tuple[float, float]]
) -> None:
    made = figure(replace(four_series(), heights=heights), room_of(width))
    assert any(text.endswith("%") for text, _ in boxes(made)), "at least one has room"
    assert sizes_on_something(made) == []


def twenty_series(split: Split) -> Trend:
    """Five machines with four modes: steps, a slow loss, an excursion, a series without levels,
    noise around all, an event and a release.
    """
    random, four = Random(30), four_series(200)
    kinds: Iterator[dict[str, Any]] = cycle(
        [
            {"kind": "level"},
            {"kind": "slow", "after": 20, "index": 199, "last": 199},
            {"kind": "excursion", "since": 700.0},
            {},
        ]
    )
    made = []
    for number, (base, kind) in enumerate(zip([*four.series] * 5, kinds, strict=False)):
        values = [value * random.gauss(1, 0.01) for value in base.centres]
        found = [replace(base.found[0], **kind)] if kind else []
        made.append(
            replace(
                base,
                id=number,
                machine=f"Lab of many machines {number // 4} 8Cores Chelsio T540-CR",
                centres=values,
                lows=[0.98 * one for one in values],
                highs=[1.02 * one for one in values],
                levels=base.levels if kind == {"kind": "level"} else (),
                found=found,
            )
        )
    markers = [
        Marker("event", 97, "new NIC", "e3", "hardware change", "2026-01-02", "Atom", "/events/3/"),
        Marker("release", 104, "12.1", "12.1", "release", "r301040", "head", "/releases/12.1/"),
    ]
    return replace(four, series=made, split=split, markers=markers)


@pytest.mark.parametrize("split", list(Split))
@pytest.mark.parametrize("width", [1060, 390])
def test_with_twenty_series_in_lanes_no_label_lies_on_a_line(width: int, split: Split) -> None:
    made = figure(twenty_series(split), room_of(width))
    assert sizes_on_something(made) == []
    if split == Split.HARDWARE:
        assert sum(text.endswith("%") for text, _ in boxes(made)) >= 8, "half of 15 have room"


def test_a_label_rather_stands_aside_than_on_points() -> None:
    box = Box(0, 0, 300, 300)
    points = np.array([(100.0 + at, 95.0, 105.0) for at in range(0, 60, 4)])
    taken = Taken(box, bars=Bars(*points.T))
    wanted = list(around("-8.0 %", 95.0, 100.0, 9.0))
    assert taken.covered(wanted[0][1]) > 8
    found = taken.take(wanted)
    assert found is not None
    assert taken.covered(found[1]) == 0
