"""What a lab can see in its series is found there, and what is none is not: twenty series each."""

import numpy as np
import pytest

from benchmarks.cells import series_of
from benchmarks.worlds.reading import draw
from benchmarks.worlds.standing import WORLDS, levels
from tests.stats.series import find
from webapp.stats.changes.points import half_digit

MANY, NEAR = 20, 2


def found_in(drawn):
    return [[one.first.position for one in find(series_of(values)).changes] for values in drawn]


@pytest.mark.parametrize(
    ("name", "false"),
    [
        ("wander and steps", 0.5),
        ("whole numbers near 40, scatter .4 %", 0.1),
        ("whole numbers near 40, scatter .6 %", 0.1),
        ("whole numbers near 40, a step of −7 %", 0.1),
        ("ceiling, a step of −1 %", 0.15),
        ("ten noisy revisions at the end", 0.1),
        ("ten noisy revisions at the beginning", 0.1),
        ("ten noisy revisions in the middle", 0.1),
        ("a step, back after three revisions, and again", 0.1),
    ],
)
def test_each_step_is_found_in_nine_series_of_ten_and_hardly_anything_else(name, false):
    world, rng = WORLDS[name], np.random.default_rng(4)
    found = found_in(world.draw(rng) for _ in range(MANY))

    for at, _ in world.steps:
        assert sum(any(abs(one - at) <= NEAR for one in each) for each in found) >= 0.9 * MANY
    others = [one for each in found for one in each if not near(world.steps, one)]
    assert len(others) <= false * MANY


def near(steps, at):
    return any(abs(at - place) <= NEAR for place, _ in steps)


@pytest.mark.parametrize("seed", [47, 62, 157, 290])
def test_a_step_that_one_turn_misses_is_not_taken_for_memory_by_the_next(seed):
    """Each turn but the first measured more memory there, and found fewer of the steps."""
    world = WORLDS["wander and steps"]
    [found] = found_in([world.draw(np.random.default_rng([1, seed]))])
    assert all(any(abs(one - at) <= NEAR for one in found) for at, _ in world.steps)


def test_samples_that_scatter_more_for_a_while_have_no_two_modes():
    rng = np.random.default_rng(4)
    for _ in range(MANY):
        values = WORLDS["ten noisy revisions in the middle"].draw(rng)
        assert find(series_of(values)).modes == ()


@pytest.mark.parametrize("third", [-12.0, -4.0, 6.0])
def test_after_a_dip_a_third_level_begins_and_the_dip_is_an_excursion(third):
    shift = levels(60, ((30, third),))
    shift[30] = np.log(0.65)
    hits = 0
    for seed in range(MANY):
        findings = find(series_of(draw(np.random.default_rng(seed), shift)))
        [dip] = findings.excursions
        assert (dip.first.position, dip.last.position) == (30, 31)
        assert dip.low_pct < -35 < dip.high_pct or abs(dip.pct + 35) < 5
        steps = [one for one in findings.steps if one.finding.first.position == 31]
        hits += any(one.finding.low_pct < third < one.finding.high_pct for one in steps)
        for one in steps:
            assert {at for at, _, _ in one.locations} >= {30, 31}
    assert hits >= MANY - 4


def test_what_comes_over_ten_revisions_is_one_change_that_names_them_all():
    shift = levels(100, ())
    shift[50:] = np.log(0.94) * np.minimum(np.arange(1, 51) / 10, 1)
    undecided = 0
    for seed in range(3 * MANY):
        steps = find(series_of(draw(np.random.default_rng(seed), shift))).steps
        inside = [one for one in steps if 45 <= one.finding.first.position <= 65]
        if len(inside) == 1 and inside[0].finding.low_pct < -6 < inside[0].finding.high_pct:
            chances = [chance for *_, chance in inside[0].locations]
            assert sum(chances) >= 0.95
            undecided += max(chances) < 0.5
    assert undecided >= 0.75 * 3 * MANY


def test_the_changes_of_any_staircase_lie_in_order_each_among_its_suspects():
    rng = np.random.default_rng(0)
    for _ in range(3 * MANY):
        count = int(rng.integers(20, 160))
        at = np.sort(rng.choice(np.arange(2, count - 2), int(rng.integers(2, 12)), replace=False))
        steps = [(int(one), float(rng.uniform(-6, 3))) for one in at]
        findings = find(series_of(draw(rng, levels(count, steps))))
        first = [one.finding.first.position for one in findings.steps]
        assert first == sorted(set(first))
        for step in findings.steps:
            before, *suspects = (at for at, _, _ in step.locations)
            assert before < suspects[0] <= step.finding.first.position <= suspects[-1]


def test_two_steps_of_five_deviations_six_apart_are_two():
    hits = 0
    for seed in range(MANY):
        values = draw(np.random.default_rng(seed), levels(90, ((40, -5.5), (46, -5.5))))
        hits += sum(abs(one - at) <= 1 for one in found_in([values])[0] for at in (40, 46)) == 2
    assert hits >= MANY - 2


@pytest.mark.parametrize(
    ("samples", "expected"),
    [
        ((40.0, 41.0), 0.5 / 41),
        ((1000.0, 1000.0), 0.5 / 1000),
        ((2.0, 2.5), 0.05 / 2.5),
        ((0.11, 0.12, 0.13), 0.005 / 0.12),
        ((1488094.0, 1488095.0), 0.0),
        ((2.71828, 3.14159), 0.0),
        ((1e-9, 2e-9), 0.25),
        ((1.0, 1e300), 0.0),
    ],
)
def test_half_of_the_last_digit(samples, expected):
    assert half_digit(np.log(samples).tolist()) == pytest.approx(expected)
