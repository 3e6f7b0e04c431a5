"""Events and releases on the trend chart: where they stand, and that nothing is left unescaped."""

from dataclasses import replace
from typing import Any

import pytest

from tests.charts.trend.test_trend import a_trend
from webapp.charts.trend import Axis, Marker, Trend, draw, figure
from webapp.charts.trend.labels import MOST_ROWS, Json
from webapp.charts.trend.series import moment_at

E = Marker("event", 1.5, "new NIC", "e3", "hardware change", "2026-01-02", "Atom", "/events/3/")


def image_of(trend: Trend) -> str:
    return draw(figure(trend), described="")


def marker_lines(trend: Trend) -> list[Json]:
    """The lines through all lanes."""
    return [one for one in figure(trend)["layout"]["shapes"] if one["yref"] == "paper"]


HOSTILE = '<script>alert("x")</script>&'


def test_texts_that_are_near_stand_in_rows_and_the_last_go_without() -> None:
    crowd = [replace(E, at=1.0 + at / 100, text=f"event {at}") for at in range(MOST_ROWS + 1)]
    shown = figure(replace(a_trend(), markers=[*crowd, replace(E, at=0.0, text="far")]))
    notes = [one for one in shown["layout"]["annotations"] if "</a>" in one["text"]]
    heights = {one["text"][:-4].rpartition(">")[2]: one["yshift"] for one in notes}
    assert len({heights[f"event {at}"] for at in range(MOST_ROWS)}) == MOST_ROWS
    assert f"event {MOST_ROWS}" not in heights
    assert heights["far"] == heights["event 0"]


def test_a_long_text_is_cut_on_the_chart_and_whole_in_the_title() -> None:
    long = replace(E, text="a" * 80)
    assert len(long.label) == 30
    assert "a" * 80 in long.title


def test_between_two_revisions_is_the_middle_of_their_times() -> None:
    times = [100, 200, None]
    assert moment_at(times, 0) == 100
    assert moment_at(times, 0.5) == 150
    assert moment_at(times, 1.5) is None
    assert moment_at(times, -0.5) == 100


def test_each_kind_has_a_line_and_a_label_of_its_own() -> None:
    kinds = [E, replace(E, kind="epoch", at=0.5), replace(E, kind="release", at=1, text="11.0")]
    shown = replace(a_trend(), markers=kinds)
    assert [one["line"]["dash"] for one in marker_lines(shown)] == ["3px,3px", "solid", "3px,3px"]
    marks = next(one for one in figure(shown)["data"] if one.get("name") == "findings")
    signs = [symbol for symbol in marks["marker"]["symbol"] if symbol == "diamond"]
    assert len(signs) == 2, "a release has a plain line"


def test_the_image_has_a_line_and_a_link_for_each() -> None:
    image = image_of(replace(a_trend(), markers=[E]))
    assert 'href="/events/3/"' in image
    assert "<title>hardware change, 2026-01-02, Atom: new NIC</title>" in image
    assert marker_lines(a_trend()) == []


def test_on_an_axis_of_time_without_times_nothing_is_drawn() -> None:
    shown = a_trend()
    undated = replace(shown.revisions, times=[None] * len(shown.revisions.names))
    assert marker_lines(replace(shown, revisions=undated, axis=Axis.TIME, markers=[E])) == []


@pytest.mark.parametrize("field", ["text", "what", "when", "subject"])
def test_every_text_is_escaped(field: str) -> None:
    hostile: dict[str, Any] = {field: HOSTILE}
    image = image_of(replace(a_trend(), markers=[replace(E, **hostile)]))
    assert "<script" not in image


def test_the_caption_names_them_where_there_are_any() -> None:
    assert "events of the lab" in replace(a_trend(), markers=[E]).caption
    assert "events of the lab" not in a_trend().caption
