"""What a forecast states: one number, or two where one would be true of neither."""

from typing import Any

import pytest

from webapp.bisects import draft
from webapp.bisects.sentences import with_what_is_left
from webapp.stats.bisection import Forecast, Kind, Way

ONE = Way(20, 35, 6.5, 11.0, 15)
SEVERAL = Way(45, 90, 15.0, 30.0, 9)


def forecast_of(several: Way | None) -> Forecast:
    return Forecast(
        21, 40, 7.0, 13.0, 24, {Kind.SINGLE: 0.997, Kind.RANGE: 0.003}, ONE, several, 0.045
    )


def left(chance: float) -> dict[str, Any]:
    kinds = {
        "one": {"boots_median": 4, "boots_p90": 9, "hours_median": 2.0},
        "several": {"boots_median": 12, "boots_p90": 30, "hours_median": 6.0},
    }
    all_ = {"boots_median": 5, "boots_p90": 20, "hours_median": 3.0}
    return {"sentence": "93 % r9", "left": {**all_, **kinds, "several_chance": chance, "hands": 2}}


def test_before_the_start_both_kinds_have_their_number_and_hours() -> None:
    assert draft._sentence(forecast_of(SEVERAL)) == (
        "About 20 boots, 6 h 30 (90 % within 35 boots, 11 h 00), if one commit is guilty; about "
        "45 boots, 15 h 00 (90 % within 90 boots, 30 h 00), if several are, which has a "
        "chance of 4 % before anything is measured. "
        "Of 24 simulated bisects, 100 % end with one commit."
    )


@pytest.mark.parametrize("several", [None, Way(15, 90, 5.0, 30.0, 9)])
def test_one_number_is_given_where_several_take_no_more(several: Way | None) -> None:
    assert draft._sentence(forecast_of(several)).startswith(
        "About 21 boots, 7 h 00; 90 % of the time at most 40 boots. Of 24"
    )


def test_while_it_runs_both_are_stated_once_several_are_likelier_than_what_90_percent_leave() -> (
    None
):
    assert with_what_is_left(left(0.05)) == "93 % r9; 5 to 20 boots left, about 1 h 30"
    assert with_what_is_left(left(0.4)) == (
        "93 % r9; 4 to 9 boots left, about 1 h 00 if one commit is guilty, 12 to 30 boots left, "
        "about 3 h 00 if several are (40 %)"
    )


def test_a_decision_of_before_has_one_number() -> None:
    old = left(0.4)
    for key in ("one", "several", "several_chance"):
        del old["left"][key]
    assert with_what_is_left(old) == "93 % r9; 5 to 20 boots left, about 1 h 30"
