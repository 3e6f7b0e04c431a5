"""Alerts on charts: where their labels stand."""

import re
from dataclasses import replace

from tests.charts.trend.test_trend import a_series, a_trend
from webapp.charts.trend import Revisions, draw, figure
from webapp.charts.trend.series import AlertMark, distinct


def a_mark(number: int, index: int, *, is_open: bool = True) -> AlertMark:
    state = "new" if is_open else "resolved"
    return AlertMark(number, state, is_open, index, f"/alerts/{number}/")


def squares(*marks: AlertMark) -> dict[int, float]:
    """The height of each square that is drawn, by the number of its alert."""
    series = a_series(indices=range(3))
    names = [f"r{number}" for number in range(100)]
    trend = a_trend(series, revisions=Revisions(names, names, [None] * 100), alerts=marks)
    notes = [one for one in figure(trend)["layout"]["annotations"] if "bgcolor" in one]
    return {int(re.findall(r">(\d+)<", one["text"])[0]): one["yshift"] for one in notes}


def test_squares_that_would_cover_each_other_stand_in_rows() -> None:
    found = squares(a_mark(1, 10), a_mark(2, 11), a_mark(3, 60))
    assert found[1] == found[3] < found[2]


def test_where_there_is_no_room_the_open_alerts_are_drawn() -> None:
    closed = [a_mark(number, 10, is_open=False) for number in range(1, 4)]
    assert sorted(squares(*closed, a_mark(9, 10))) == [1, 2, 9]


def test_an_alert_of_several_series_is_drawn_once() -> None:
    assert distinct([a_mark(2, 5), a_mark(1, 3), a_mark(2, 5)]) == [a_mark(1, 3), a_mark(2, 5)]


def test_the_chart_links_its_alerts_and_states_their_state_in_words() -> None:
    trend = replace(a_trend(a_series()), alerts=[a_mark(7, 2), a_mark(8, 0, is_open=False)])
    shown = [
        (one["x"], one["text"], one["hovertext"])
        for one in figure(trend)["layout"]["annotations"]
        if "bgcolor" in one
    ]
    assert shown == [
        (2, '<a href="/alerts/7/" target="_self">7</a>', "Alert 7 new"),
        (0, '<a href="/alerts/8/" target="_self">8</a>', "Alert 8 resolved"),
    ]
    image = draw(figure(trend), described="")
    assert 'href="/alerts/7/"' in image
    assert "<title>Alert 7 new</title>" in image
    assert image.count('fill="var(--paper)" stroke="var(--ink)"') == 1, "a closed one is hollow"
