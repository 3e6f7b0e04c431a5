"""Curves: the bend, the wave of one period, and how a curve and levels are distinguished."""

import numpy as np
import pytest

from benchmarks.cells import series_of
from webapp.stats.changes import detect
from webapp.stats.changes.curves import (
    BEND_PRICE,
    LEAST_STEPS,
    TERMS,
    WAVE_PRICE,
    bend_of,
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


def test_a_bend_is_tried_behind_the_trend_and_a_wave_from_two_steps_on():
    values = wave(80.0)

    assert curves_of(values, WEIGHTS, EVERY, 0) == []
    alone, (_, price) = curves_of(values, WEIGHTS, EVERY, LEAST_STEPS - 1)
    trend, bend, one, *others = curves_of(values, WEIGHTS, EVERY, LEAST_STEPS)
    assert trend is alone
    assert price == bend[1] == BEND_PRICE
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
        (trend, _), _ = curves_of(values, np.full(150, 100.0), kept, 1)
        starts = [level.first for level in found.levels]
        best = fitted(values, 1 / found.scatter, trend, starts, kept)

        assert found.curve == pytest.approx(best, abs=1e-6)


@pytest.mark.parametrize("at", [4, 8, 30, 95])
def test_a_bend_is_where_the_slope_changes(at):
    index = np.arange(100)
    values = 0.1 - 0.002 * index + 0.004 * np.maximum(index - at, 0)
    values += 1e-5 * np.random.default_rng(at).standard_normal(100)
    kept = np.ones(100, dtype=bool)
    kept[[20, 60]], values[[20, 60]] = False, 3.0

    bend = bend_of(values, WEIGHTS[:100], kept)

    assert np.flatnonzero(bend[:, 1])[0] == pytest.approx(at, abs=2)
    left = (values - fitted(values, WEIGHTS[:100], bend, [0], kept))[kept]
    assert np.ptp(left) < 0.006


def test_of_few_revisions_or_of_none_that_count_no_bend_is_made():
    assert bend_of(wave(8.0, 8), WEIGHTS[:8], EVERY[:8]) is None
    assert bend_of(wave(80.0), WEIGHTS, ~EVERY) is None
    one = EVERY & (np.arange(200) == 7)
    assert bend_of(wave(80.0), WEIGHTS, one) is None


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(("calm", "lost"), [(8, 52), (8, 92), (30, 60)])
def test_before_a_slow_move_that_began_late_nothing_goes_the_other_way(calm, lost, sign):
    """A line alone makes a step of the bend: a gain that never was, in up to 85 of 100 series."""
    wrong = 0
    for seed in range(20):
        rng = np.random.default_rng([seed, calm, lost])
        shift = sign * 0.003 * np.maximum(np.arange(calm + lost) - calm + 1, 0)
        shift += 0.003 * rng.standard_normal(calm + lost)
        logs = shift[:, None] + 0.004 * rng.standard_normal((calm + lost, 5))
        found = detect(series_of(1000 * np.exp(logs)))
        wrong += any(sign * one.change_pct < 0 for one in found.analysis.changes)
        assert found.others.slow

    assert wrong <= 3


@pytest.mark.parametrize(("calm", "lost"), [(30, 70), (100, 70), (150, 100)])
def test_a_slow_loss_that_began_late_is_reported_from_there_and_drawn_with_two_lines(calm, lost):
    steps = 0
    for seed in range(5):
        rng = np.random.default_rng([seed, calm, lost])
        shift = np.log(0.85) * np.maximum(np.arange(calm + lost) - calm + 1, 0) / lost
        logs = shift[:, None] + 0.003 * rng.standard_normal((calm + lost, 1))
        logs = logs + 0.004 * rng.standard_normal((calm + lost, 5))
        found = detect(series_of(1000 * np.exp(logs)))

        [slow] = found.others.slow
        assert slow.first.position == pytest.approx(calm, abs=5)
        assert slow.low_pct - 0.5 < -15.0 < slow.high_pct + 0.5
        steps += len(found.analysis.changes)
        if found.analysis.changes:
            continue
        before, since = found.analysis.segments
        assert before.last == since.first
        assert since.first.position == pytest.approx(slow.first.position, abs=2)
        assert (before.count + since.count, before.bend) == (calm + lost, None)
        assert before.level == pytest.approx(before.end_level, rel=0.005)
        assert before.end_level == since.level
        assert since.end_level == pytest.approx(850, rel=0.01)
        assert since.high / since.low == pytest.approx(before.high / before.low)

    assert steps <= 2


@pytest.mark.parametrize("seed", [1, 21])
def test_two_slopes_one_behind_the_other_are_no_steps_up(seed):
    """Half as many cosines with two steps up explain it as well: a gain that never was."""
    at = np.arange(130) / 130
    shift = -0.03 * (np.clip((at - 0.3) / 0.2, 0, 1) + np.clip((at - 0.6) / 0.2, 0, 1))
    rng = np.random.default_rng(seed)
    logs = [one + rng.normal(0, 0.004) + rng.normal(0, 0.004, 5) for one in shift]
    values = np.array(logs)

    found = levels_of(values.mean(axis=1), values.var(axis=1, ddof=1), 0.2)

    levels = [one.level for one in found.levels]
    assert levels == sorted(levels, reverse=True)
    assert len(levels) == 1 or list(found.rollouts.values()) == [
        (pytest.approx(39, abs=5), pytest.approx(65, abs=5)),
        (pytest.approx(78, abs=5), pytest.approx(104, abs=5)),
    ]
