"""The control chart: limits by hand, and how often it speaks where nothing changed."""

from collections.abc import Callable

import numpy as np
import pytest

from webapp.stats.control import (
    LEARNED_BOOTS,
    LEAST_BOOTS,
    NOMINAL,
    Excursion,
    control_chart,
    factor,
    limits_of,
)

CALM = [100.0, 101.0, 99.0, 100.5, 99.5, 100.0, 101.0, 99.0]
World = Callable[[np.random.Generator, int], "np.ndarray[tuple[int], np.dtype[np.float64]]"]
BOOTS = 120
CHARTS = 300


def test_below_eight_boots_nothing_can_be_judged() -> None:
    chart = control_chart([1.0] * 6 + [1000.0])
    assert chart.limits is None
    assert not chart.is_out
    assert chart.sides == [0] * 7


def test_limits_by_hand() -> None:
    """Centre 100; ranges 1 2 1.5 1 .5 1 2: median 1; deviations 0 1 1 .5 .5 0 1 1: median .75."""
    limits = limits_of(CALM)
    sigma = max(1.0 / 0.9539, 0.75 * 1.4826)
    assert limits.centre == 100.0
    assert limits.high == pytest.approx(100 + factor(8) * sigma)
    assert limits.low == pytest.approx(200 - limits.high)
    assert limits.boots == LEAST_BOOTS


def test_limits_narrow_while_they_are_learnt_and_then_stay() -> None:
    values = CALM * 4
    assert factor(8) > 5
    assert factor(LEARNED_BOOTS) == pytest.approx(3.5, abs=0.05)
    one, other = control_chart(values[:LEARNED_BOOTS]), control_chart(values)
    assert one.limits == other.limits
    assert one.limits is not None
    assert one.limits.boots == LEARNED_BOOTS


def test_one_boot_outside_is_marked_and_concludes_nothing() -> None:
    chart = control_chart([*CALM, 50.0, *CALM])
    assert chart.sides[8] == -1
    assert chart.excursions == []


def test_two_of_three_boots_outside_on_one_side_leave_the_limits_until_two_are_within() -> None:
    chart = control_chart([*CALM, 50.0, 100.0, 50.0, 50.0, 100.0, 100.0])
    assert chart.excursions == [Excursion(inside=7, left=10, returned=13, side=-1)]
    assert not chart.is_out
    assert control_chart([*CALM, 50.0, 50.0]).is_out


def test_boots_outside_on_two_sides_are_no_excursion() -> None:
    assert control_chart([*CALM, 50.0, 150.0, 100.0]).excursions == []


def test_what_lies_outside_does_not_widen_the_limits() -> None:
    assert control_chart([*CALM, 50.0, 50.0, 50.0]).limits == control_chart(CALM).limits


def test_values_that_never_differ_have_limits_without_width() -> None:
    chart = control_chart([5.0] * 12)
    assert chart.limits is not None
    assert chart.limits.low == chart.limits.high == 5.0
    assert chart.sides == [0] * 12


def autocorrelated(random: np.random.Generator, count: int) -> np.ndarray:
    noise = random.normal(size=count)
    values = [noise[0]]
    for one in noise[1:]:
        values.append(0.5 * values[-1] + np.sqrt(0.75) * one)
    return np.array(values)


#: World → (largest share of boots outside, largest number of excursions in 100 boots)
STEADY: dict[str, tuple[World, float, float]] = {
    "normal": (lambda random, count: random.normal(size=count), 2 * NOMINAL, 0.1),
    "heavy tails (t, 5)": (lambda random, count: random.standard_t(5, count), 0.02, 0.27),
    "heavy tails (t, 3)": (lambda random, count: random.standard_t(3, count), 0.04, 0.27),
    "autocorrelated (0.5)": (autocorrelated, 0.02, 0.5),
}


def rates(world: World) -> tuple[float, float]:
    """The share of boots outside, and excursions in 100 boots, after the first limits."""
    random = np.random.default_rng(7)
    charts = [control_chart(world(random, BOOTS).tolist()) for _ in range(CHARTS)]
    judged = CHARTS * (BOOTS - LEAST_BOOTS)
    outside = sum(abs(side) for chart in charts for side in chart.sides)
    excursions = sum(len(chart.excursions) for chart in charts)
    return outside / judged, 100 * excursions / judged


@pytest.mark.parametrize("name", STEADY)
def test_a_machine_that_does_not_change_seldom_leaves_its_limits(name: str) -> None:
    world, most_outside, most_excursions = STEADY[name]
    outside, excursions = rates(world)
    assert outside <= most_outside
    assert excursions <= most_excursions


def test_normal_noise_lies_outside_about_as_often_as_three_sigma_promises() -> None:
    outside, _ = rates(STEADY["normal"][0])
    assert NOMINAL / 2 <= outside <= 2 * NOMINAL


@pytest.mark.parametrize(("size", "least"), [(5, 0.9), (8, 0.99)])
def test_a_step_of_the_machine_is_seen_within_ten_boots(size: float, least: float) -> None:
    random = np.random.default_rng(8)
    seen = 0
    for _ in range(CHARTS):
        values = random.normal(size=50)
        values[40:] += size
        seen += any(one.left >= 40 for one in control_chart(values.tolist()).excursions)
    assert seen / CHARTS >= least


def test_a_machine_that_drifts_leaves_the_limits_it_was_learnt_with() -> None:
    """A tenth of sigma a boot: no false alarm, for the machine is another one in the end."""
    random = np.random.default_rng(9)
    drift = 0.1 * np.arange(BOOTS)
    charts = [control_chart((random.normal(size=BOOTS) + drift).tolist()) for _ in range(100)]
    assert sum(bool(chart.excursions) for chart in charts) >= 95
