"""What an option costs, as people read it."""

import pytest

from webapp.charts.text import (
    cost_figure,
    cost_interval,
    cost_moved,
    cost_points,
    cost_sentence,
)


def test_of_a_rate_what_is_missing_and_of_a_time_what_is_more() -> None:
    assert cost_figure(96.3, "more") == "3.7 %"
    assert cost_figure(103.7, "less") == "3.7 %"
    assert cost_figure(None, "more") == "–"


def test_an_option_that_gains_costs_less_than_nothing() -> None:
    assert cost_figure(102.5, "more") == "−2.5 %"
    assert cost_figure(100.0, "less") == cost_figure(100.0, "more") == "0 %"


def test_it_rises_and_falls() -> None:
    assert cost_moved(98.8, 96.3, "more") == "rose from 1.2 to 3.7 %"
    assert cost_moved(98.8, 96.3, "less") == "fell from −1.2 to −3.7 %"


def test_points_are_of_what_was_measured_without() -> None:
    """A ratio of 50 that falls by 10 % is 45: the cost grew from 50 to 55 %, by 5 points."""
    assert cost_points(50.0, -10.0, "more") == pytest.approx(5.0)
    assert cost_points(150.0, 10.0, "less") == pytest.approx(15.0)
    assert cost_points(50.0, None, "more") is None


def test_the_interval_turns_with_the_sign() -> None:
    assert cost_interval(50.0, -12.0, -8.0, "more") == "[+4.0, +6.0]"
    assert cost_interval(50.0, None, -8.0, "more") == ""
    assert cost_sentence(98.8, 96.3, -3.0, -2.0, "more") == (
        "rose from 1.2 to 3.7 %, by 2.5 points [+2.0, +3.0]"
    )
    assert cost_sentence(98.8, 96.3, None, None, "more") == (
        "rose from 1.2 to 3.7 %, by 2.5 points"
    )
