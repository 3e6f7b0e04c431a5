"""The likeliest candidates in words."""

import numpy as np

from webapp.stats.bisection import leaders


def lines_of(*chances: float) -> list[str]:
    return leaders(
        np.array(chances), render=lambda chance: f"{100 * chance:.0f} %", name=lambda at: f"r{at}"
    )


def test_the_likeliest_come_first() -> None:
    assert lines_of(0.05, 0.93, 0.02) == ["93 % r1", "5 % r0", "2 % r2"]


def test_all_that_share_a_chance_are_named() -> None:
    assert lines_of(0.02, 0.23, 0.23, 0.231, 0.229) == ["23 % r1", "23 % r2", "23 % r3", "23 % r4"]


def test_many_that_share_a_chance_are_counted() -> None:
    assert lines_of(*[0.14] * 7) == ["7 commits at 14 % each"]
    assert lines_of(0.6, *[0.08] * 5) == ["60 % r0", "5 commits at 8 % each"]
    assert lines_of(0.5, 0.3, 0.1, 0.1) == ["50 % r0", "30 % r1", "2 commits at 10 % each"]


def test_what_holds_next_to_nothing_is_left_out() -> None:
    assert lines_of(0.99, 0.004, 0.006) == ["99 % r0"]
