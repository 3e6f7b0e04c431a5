"""Parts of a slow loss, against where it was planted."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest

from webapp.stats.arrays import Floats
from webapp.stats.slow_parts import STRETCHES, largest_parts

Shape = Callable[[Floats], Floats]


def even(at: Floats) -> Floats:
    return -0.1 * at


def in_two(at: Floats) -> Floats:
    return -0.04 * np.clip((at - 0.1) / 0.1, 0, 1) - 0.06 * np.clip((at - 0.6) / 0.1, 0, 1)


def named(shape: Shape, revisions: int, sd: float, trials: int = 300) -> float:
    """The share of windows in which parts are named."""
    rng = np.random.default_rng(16)
    at = np.arange(revisions) / revisions
    return float(
        np.mean(
            [bool(largest_parts(shape(at) + rng.normal(0, sd, revisions))) for _ in range(trials)]
        )
    )


@pytest.mark.parametrize(("revisions", "sd"), [(80, 0.01), (200, 0.01)])
def test_an_even_loss_has_no_parts(revisions: int, sd: float) -> None:
    assert named(even, revisions, sd) <= 0.05


@pytest.mark.parametrize(("revisions", "sd"), [(80, 0.01), (200, 0.01), (200, 0.02)])
def test_a_loss_in_two_parts_is_reported_in_parts(revisions: int, sd: float) -> None:
    assert named(in_two, revisions, sd) >= 0.9


def test_parts_lie_where_the_loss_fell_with_their_sizes_and_neighbours_as_one() -> None:
    at = np.arange(160) / 160
    parts = largest_parts(in_two(at))

    assert sum(part.log for part in parts) == pytest.approx(-0.1, rel=0.1)
    for part in parts:
        begin, end = part.first / 160, part.last / 160
        assert (begin < 0.2 and end > 0.1) or (begin < 0.7 and end > 0.6)
    assert all(one.last < other.first for one, other in pairwise(parts))
    assert parts[0].pct == pytest.approx(100 * np.expm1(parts[0].log))


def test_a_gain_has_parts_as_a_loss_has() -> None:
    at = np.arange(160) / 160
    assert [part.log for part in largest_parts(-in_two(at))] == pytest.approx(
        [-part.log for part in largest_parts(in_two(at))]
    )


def test_one_odd_revision_makes_no_part() -> None:
    shape = even(np.arange(160) / 160)
    shape[70] -= 0.8
    assert largest_parts(shape) == ()


@pytest.mark.parametrize("shape", [np.zeros(160), np.zeros(2 * STRETCHES - 1), np.zeros(0)])
def test_where_nothing_moved_or_too_little_was_measured_there_are_none(shape: Floats) -> None:
    assert largest_parts(shape) == ()


def test_of_a_loss_over_few_revisions_no_part_is_named():
    """Of 24 revisions at 1 % of noise, medians of three named a part of an even loss in one of
    eight.
    """
    rng = np.random.default_rng(1)
    losses = (np.log(0.9) * np.arange(24) / 24 + 0.01 * rng.standard_normal(24) for _ in range(200))

    assert not any(largest_parts(one) for one in losses)
