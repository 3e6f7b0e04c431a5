"""Curves: the wave of one period, and how a curve and the levels beside it are distinguished."""

import numpy as np
import pytest

from webapp.stats.changes.curves import (
    LEAST_STEPS,
    TERMS,
    WAVE_PRICE,
    curves_of,
    fitted,
    wave_of,
)
from webapp.stats.changes.levels import levels_of

WEIGHTS = np.full(200, 100.0)
EVERY = np.ones(200, dtype=bool)


def wave(period, count=200, phase=0.7):
    return 0.02 * np.sin(2 * np.pi * np.arange(count) / period + phase)


@pytest.mark.parametrize("period", [40.0, 57.0, 80.0, 100.0])
def test_the_period_that_explains_most_leaves_little(period):
    values = wave(period)

    left = values - fitted(values, WEIGHTS, wave_of(values, WEIGHTS, EVERY), [0], EVERY)

    assert left.std() < 0.15 * values.std()


def test_what_is_not_kept_does_not_count():
    values, kept = wave(80.0), EVERY.copy()
    odd = np.arange(3, 200, 50)
    values[odd] += 1.0
    kept[odd] = False

    assert wave_of(values, WEIGHTS, kept) == pytest.approx(wave_of(wave(80.0), WEIGHTS, kept))


@pytest.mark.parametrize(("count", "is_tried"), [(71, False), (72, True)])
def test_a_wave_must_have_been_there_twice(count, is_tried):
    found = wave_of(wave(36.0, count), WEIGHTS[:count], EVERY[:count])

    assert (found is not None) == is_tried


def test_a_wave_is_tried_behind_the_trend_from_two_steps_on():
    values = wave(80.0)

    assert curves_of(values, WEIGHTS, EVERY, 0) == []
    [alone] = curves_of(values, WEIGHTS, EVERY, LEAST_STEPS - 1)
    trend, one, *others = curves_of(values, WEIGHTS, EVERY, LEAST_STEPS)
    assert trend is alone
    assert one[1] == WAVE_PRICE
    assert [basis.shape for basis, _ in others] == [(200, terms) for terms in TERMS]


def test_of_revisions_that_all_lie_far_off_no_wave_is_made():
    assert wave_of(wave(80.0), WEIGHTS, ~EVERY) is None


def test_curve_and_levels_are_those_that_fit_best_together():
    for seed in range(5):
        noise = 0.01 * np.random.default_rng(seed).standard_normal(150)
        values = np.linspace(0.0, -0.1, 150) + 0.08 * (np.arange(150) >= 80) + noise
        found = levels_of(values, np.full(150, 2e-4), 0.2)
        assert found.curve.any()

        kept = np.abs(found.residuals) < 4.0
        [(trend, _)] = curves_of(values, np.full(150, 100.0), kept, 1)
        starts = [level.first for level in found.levels]
        best = fitted(values, 1 / found.scatter, trend, starts, kept)

        assert found.curve == pytest.approx(best, abs=1e-6)


@pytest.mark.parametrize("seed", [1, 21])
def test_two_slopes_one_behind_the_other_are_no_steps_up(seed):
    """Half as many cosines with two steps up explain it as well: a gain that never was."""
    at = np.arange(130) / 130
    shift = -0.03 * (np.clip((at - 0.3) / 0.2, 0, 1) + np.clip((at - 0.6) / 0.2, 0, 1))
    rng = np.random.default_rng(seed)
    logs = [one + rng.normal(0, 0.004) + rng.normal(0, 0.004, 5) for one in shift]
    values = np.array(logs)

    found = levels_of(values.mean(axis=1), values.var(axis=1, ddof=1), 0.2)

    assert len(found.levels) == 1
