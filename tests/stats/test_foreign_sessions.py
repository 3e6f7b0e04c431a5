"""Sessions from elsewhere: which stand beside a series, which begin a stretch, and which count."""

from math import log1p

import numpy as np
import pytest

from webapp.stats.sessions import HOME, ForeignSession, Measured, sessions_apart

Block = tuple[str, int, float]
"""A session, how many revisions in a row it measured, and how many percent they lie off."""


def apart(*blocks: Block, seed: int = 1) -> dict[int, ForeignSession]:
    rng = np.random.default_rng(seed)
    rows = [
        Measured(log1p(pct / 100) + 0.01 * rng.standard_normal(), frozenset({name}))
        for name, count, pct in blocks
        for _ in range(count)
    ]
    return sessions_apart(rows)


def test_revisions_of_another_session_that_lie_off_stand_beside_the_series() -> None:
    found = apart(("year", 30, 0), ("other", 2, -6), ("year", 20, 0))
    assert list(found) == [30, 31]
    one = found[30]
    assert (one.session, one.home, one.begins) == ("other", "year", False)
    assert one.pct == pytest.approx(-6, abs=1.5)
    assert "Session other stands beside the series" in one.text


def test_at_the_end_of_a_series_too() -> None:
    assert list(apart(("year", 30, 0), ("other", 1, -6))) == [30]


def test_those_that_agree_with_it_count() -> None:
    assert apart(("year", 30, 0), ("other", 2, 0), ("year", 20, 0)) == {}


@pytest.mark.parametrize("name", ["year", "third", ""])
def test_a_second_session_that_agrees_makes_both_count(name: str) -> None:
    assert apart(("year", 30, 0), ("other", 2, -6), (name, 2, -6)) == {}


def test_one_on_the_same_side_that_lies_elsewhere_does_not() -> None:
    assert list(apart(("year", 30, 0), ("other", 2, -5), ("third", 2, -12))) == [30, 31, 32, 33]


def test_a_step_of_home_itself_is_no_reason_to_doubt_who_follows() -> None:
    assert apart(("year", 30, 0), ("year", 6, -6), ("other", 2, -6)) == {}


def test_a_long_session_begins_a_stretch_of_its_own() -> None:
    found = apart(("year", 30, 0), ("next", 20, -6))
    assert {at: one.begins for at, one in found.items()} == {30: True}
    assert "Session next begins here" in found[30].text


def test_it_counts_once_the_next_one_agrees_with_it() -> None:
    assert apart(("year", 30, 0), ("next", 20, -6), ("third", 3, -6)) == {}


def test_after_it_another_session_is_held_against_it() -> None:
    found = apart(("year", 30, 0), ("next", 20, -6), ("third", 2, -12))
    assert {at: one.home for at, one in found.items()} == {30: "year", 50: "next", 51: "next"}


@pytest.mark.parametrize("length", [1, 2, HOME - 1])
def test_where_sessions_are_short_none_is_from_elsewhere(length: int) -> None:
    blocks = [(f"s{at}", length, -6 if at % 3 else 0) for at in range(60 // length)]
    assert apart(*blocks) == {}


def test_runs_without_a_session_are_the_routine_of_a_series_and_never_from_elsewhere() -> None:
    assert list(apart(("", 30, 0), ("upload", 2, -6), ("", 9, 0))) == [30, 31]
    assert apart(("year", 30, 0), ("", 2, -6)) == {}


def test_a_revision_that_both_measured_counts() -> None:
    rows = [Measured(0.01 * (-1) ** at, frozenset({"year"})) for at in range(30)]
    both = Measured(-0.06, frozenset({"year", "other"}))
    assert sessions_apart([*rows, both]) == {}


def test_equal_values_differ_by_anything() -> None:
    rows = [Measured(0.0, frozenset({"year"}))] * 30
    assert list(sessions_apart([*rows, Measured(-0.001, frozenset({"other"}))])) == [30]
