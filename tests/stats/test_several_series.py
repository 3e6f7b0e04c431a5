"""Where several series together see a change begin."""

from math import sqrt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webapp.stats.several_series import (
    FLOOR,
    CommonLocation,
    Location,
    clusters_of,
    common_location,
)

AT = (100, 101, 102, 103)


def place(machine: int, *mass: float, at: tuple[int, ...] = AT, build: str = "") -> Location:
    return Location(machine, at, (0.0, *mass), build)


def test_machines_multiply_their_evidence() -> None:
    """.2, .6, .2 three times: .008, .216, .008, that is .034, .931, .034."""
    found = common_location([place(i, 0.2, 0.6, 0.2) for i in range(3)])
    assert found.here == pytest.approx(0.216 / 0.232)
    assert (found.after, found.likeliest) == (100, 102) or (found.after, found.last) == (101, 103)


def test_modes_of_one_machine_are_one_piece_of_evidence() -> None:
    one = common_location([place(1, 0.2, 0.6, 0.2)])
    assert common_location([place(1, 0.2, 0.6, 0.2)] * 4) == one
    assert one.here == pytest.approx(0.6)


def test_machines_with_one_build_are_one_piece_of_evidence() -> None:
    together = common_location([place(i, 0.2, 0.6, 0.2, build="b") for i in range(3)])
    assert together.here == pytest.approx(0.6)


def test_revisions_that_only_one_measured_divide_the_step_of_the_other() -> None:
    """One saw it between 100 and 103, the other between 101 and 102."""
    coarse = place(1, 1.0, at=(100, 103))
    fine = place(2, 0.01, 0.98, 0.01, at=(99, 101, 102, 104))
    assert common_location([coarse, fine]) == CommonLocation(
        101, 102, 102, pytest.approx(0.979, abs=0.01)
    )


def test_no_series_alone_rules_a_place_out() -> None:
    found = common_location([place(1, 1.0, 0.0, 0.0), place(2, 0.0, 0.5, 0.5)])
    sums = FLOOR, FLOOR / 2, FLOOR / 2
    assert found.here == pytest.approx(max(sums) / sum(sums), rel=0.01)
    assert (found.after, found.last) == (100, 103)


masses = st.lists(st.floats(0.01, 1.0), min_size=3, max_size=3)


@settings(max_examples=60, deadline=None)
@given(st.lists(masses, min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_the_order_does_not_matter(all_masses: list[list[float]], dice) -> None:  # type: ignore[no-untyped-def]
    rows = [place(i // 2, *its) for i, its in enumerate(all_masses)]
    shuffled = rows.copy()
    dice.shuffle(shuffled)
    assert common_location(shuffled) == common_location(rows)


def test_twice_as_many_machines_sharpen_it_as_independent_ones_do() -> None:
    one = common_location([place(1, 0.25, 0.5, 0.25)]).here
    two = common_location([place(i, 0.25, 0.5, 0.25) for i in range(2)]).here
    assert two / (1 - two) == pytest.approx(2 * one / (1 - one))
    assert sqrt(two) > one


def test_machines_that_measured_one_build_are_one_cluster() -> None:
    assert clusters_of([3, 1, 2]) == {1: 1, 2: 2, 3: 3}
    builds = [(1, "a"), (2, "b"), (3, "a"), (9, "b")]
    assert clusters_of([1, 2, 3], builds) == {1: 1, 2: 2, 3: 1}
    assert clusters_of([1, 2, 3], [(1, "a"), (2, "a"), (2, "b"), (3, "b")]) == {1: 1, 2: 1, 3: 1}


def test_builds_without_a_name_are_not_the_same() -> None:
    assert clusters_of([1, 2], [(1, ""), (2, "")]) == {1: 1, 2: 2}
