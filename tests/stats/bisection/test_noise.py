"""Noise as a history knows it."""

from math import inf

import numpy as np
import pytest

from webapp.stats.bisection.noise import (
    Noise,
    estimate_noise,
    high_build_noise,
    median_share,
    noise_nodes,
)
from webapp.stats.errors import OutOfRangeError, TooFewSamplesError


def history(rng, revisions, *, run=0.5, build=0.3, boots=5, step=0.0):
    levels = build * rng.normal(size=revisions) + step * (np.arange(revisions) >= revisions // 2)
    return [level + run * rng.normal(size=boots) for level in levels]


def test_it_finds_the_noise_that_was_planted():
    rng = np.random.default_rng(1)

    noise = estimate_noise(history(rng, 400))

    assert noise.run == pytest.approx(0.5, rel=0.05)
    assert noise.build == pytest.approx(0.3, rel=0.15)
    assert noise.within_df == 1600
    assert noise.history_boots == pytest.approx(5)


def test_a_step_in_the_history_hardly_counts_as_noise():
    rng = np.random.default_rng(2)

    assert estimate_noise(history(rng, 200, step=5.0)).build == pytest.approx(0.4, abs=0.2)


def test_too_little_history_is_refused():
    with pytest.raises(TooFewSamplesError):
        estimate_noise([[1.0, 2.0], [1.0]])
    with pytest.raises(TooFewSamplesError):
        estimate_noise([[1.0], [1.0], [2.0]])


def test_known_noise_is_one_node_and_estimated_noise_keeps_its_spread():
    [weight] = noise_nodes(Noise(0.5, 0.5, 0.3)).weight
    nodes = noise_nodes(Noise(0.7, 0.0, 0.3, within_df=20, build_df=20, history_boots=inf))

    assert weight == 1
    assert nodes.weight.sum() == pytest.approx(1)
    # Mean of f/χ²(f) is f/(f − 2); a flat prior on the standard deviation takes one degree.
    assert nodes.weight @ nodes.within == pytest.approx(20 / 18, rel=0.02)
    assert nodes.weight @ nodes.build == pytest.approx(0.09 * 20 / 17, rel=0.06)


def test_no_scatter_of_builds_in_few_boots_does_not_prove_that_there_is_none():
    nodes = noise_nodes(Noise(0.7, build=0.0, within_df=100, build_df=20, history_boots=5))

    assert nodes.build.max() > 0.1


def test_the_high_scatter_of_builds_is_seldom_too_low():
    rng = np.random.default_rng(4)

    highs = [high_build_noise(estimate_noise(history(rng, 30, build=0.3))) for _ in range(200)]

    assert 0.55 < np.mean(np.array(highs) >= 0.3) < 0.95
    assert high_build_noise(Noise(0.5, build=0.3)) == 0.3


@pytest.mark.parametrize("runs", [1, 2, 3, 5, 9])
def test_the_variance_of_a_median_is_that_of_simulated_medians(runs):
    medians = np.median(np.random.default_rng(3).normal(size=(100_000, runs)), axis=1)

    assert median_share(runs) == pytest.approx(medians.var(), rel=0.03)


@pytest.mark.parametrize("arguments", [{"run": -1.0}, {"run": inf}, {"run": 1.0, "build_df": 0.0}])
def test_noise_that_makes_no_sense_is_refused(arguments):
    with pytest.raises(OutOfRangeError):
        Noise(**arguments)
    with pytest.raises(OutOfRangeError):
        median_share(0)
