"""Events and releases on the trend chart: where they stand, and that nothing is left unescaped."""

import re
from dataclasses import replace
from typing import Any

import pytest

from tests.charts.trend.test_trend import a_trend
from webapp.charts.trend import Axis, Marker, columns, draw
from webapp.charts.trend.markers import moment_at
from webapp.charts.trend.rows import MOST_ROWS

E = Marker("event", 1.5, "new NIC", "e3", "hardware change", "2026-01-02", "Atom", "/events/3/")
HOSTILE = '<script>alert("x")</script>&'


def test_texts_that_are_near_stand_in_rows_and_the_last_go_without() -> None:
    crowd = [replace(E, at=1.0 + at / 100, text=f"event {at}") for at in range(MOST_ROWS + 1)]
    shown = draw(replace(a_trend(), markers=[*crowd, replace(E, at=0.0, text="far")]))
    texts = re.findall(r'y="([\d.]+)" class="marker event[^>]*>([^<]+)<', shown)
    heights = {text: height for height, text in texts}
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
    assert {one["kind"] for one in columns(shown)["markers"]} == {"event", "epoch", "release"}
    image = draw(shown)
    assert all(f'class="marker-line {kind}"' in image for kind in ("event", "epoch", "release"))
    assert image.count('class="diamond') == 2, "a release has a plain line"
    assert columns(a_trend())["markers"] == []


def test_the_image_has_a_line_and_a_link_for_each() -> None:
    image = draw(replace(a_trend(), markers=[E]))
    assert 'class="marker-line event"' in image
    assert 'href="/events/3/"' in image
    assert "<title>hardware change, 2026-01-02, Atom: new NIC</title>" in image
    assert "marker" not in draw(a_trend())


def test_on_an_axis_of_time_without_times_nothing_is_drawn() -> None:
    shown = a_trend()
    undated = replace(shown.revisions, times=[None] * len(shown.revisions.names))
    image = draw(replace(shown, revisions=undated, axis=Axis.TIME, markers=[E]))
    assert "marker" not in image


@pytest.mark.parametrize("field", ["text", "what", "when", "subject"])
def test_every_text_is_escaped(field: str) -> None:
    hostile: dict[str, Any] = {field: HOSTILE}
    image = draw(replace(a_trend(), markers=[replace(E, **hostile)]))
    assert "<script" not in image


def test_the_caption_tells_of_them_where_there_are_any() -> None:
    assert "events of the lab" in replace(a_trend(), markers=[E]).caption
    assert "events of the lab" not in a_trend().caption
