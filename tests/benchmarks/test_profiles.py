"""The benchmark of profiles, in small: few wrong claims, enough right ones, and bounds of cost."""

import pytest

from benchmarks.profile_worlds import World
from benchmarks.profiles import play, speed

pytestmark = pytest.mark.bench


@pytest.mark.parametrize("dispersion", [1.0, 8.0, 50.0])
def test_equal_sides_rarely_have_a_claim(dispersion: float) -> None:
    line = play(World(dispersion), 5, 200, 7).line()
    assert line["any false claim"] <= 0.05
    assert 0.93 <= line["coverage"] <= 0.97


def test_samples_counted_for_a_neighbour_are_rarely_claimed() -> None:
    assert play(World(50.0, skid=(2,)), 3, 300, 1).line()["any false claim"] <= 0.05


@pytest.mark.parametrize(
    ("function", "boots", "history", "least"), [(0, 5, False, 0.8), (1, 8, True, 0.8)]
)
def test_half_a_point_is_found(function: int, boots: int, history: bool, least: float) -> None:
    world = World(0.0, function=function, points=0.5)
    line = play(world, boots, 150, 7, history=history).line()
    assert line["found"] >= least
    assert line["false share of claims"] <= 0.05


def test_one_boot_a_side_claims_nothing() -> None:
    assert play(World(8.0, points=3.0), 1, 50, 7).claims == 0


def test_a_difference_of_four_times_the_functions_costs_some_four_times_as_much() -> None:
    assert speed(4000)["ms"] <= 8 * speed(1000)["ms"]
