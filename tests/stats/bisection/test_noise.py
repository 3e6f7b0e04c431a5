"""Noise as a history knows it."""

from math import inf

import numpy as np
import pytest
from scipy.integrate import quad

from webapp.stats import OutOfRangeError, TooFewSamplesError
from webapp.stats.bisection.noise import (
    Noise,
    estimate_noise,
    median_share,
    noise_nodes,
)


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


def test_boots_scatter_at_most_as_revisions_do_where_none_was_repeated():
    noise = estimate_noise([[1.0], [1.0], [2.0], [1.0], [2.0]])

    # Half the mean square of the differences 0, 1, −1, 1, with 2·4²/(3·5 − 4) degrees of freedom
    assert (noise.run, noise.build, noise.history_boots) == (pytest.approx((3 / 8) ** 0.5), 0, 1)
    assert noise.within_df == noise.build_df == pytest.approx(32 / 11)
    nodes = noise_nodes(noise, -2.0)
    assert nodes.weight @ nodes.build > 0, "what scatters may be builds"


def test_history_counts_eight_degrees_of_freedom_at_most():
    nodes = noise_nodes(Noise(0.5, 0.5), -2.0)
    poor = noise_nodes(Noise(0.5, 0.5, within_df=4), -2.0)

    assert nodes.weight.sum() == pytest.approx(1)
    # Mean of f/χ²(f) is f/(f − 2); nodes a factor of two apart reach it within some percent.
    assert nodes.weight @ nodes.within == pytest.approx(8 / 6, rel=0.06)
    # Noise of twice the standard deviation keeps a chance: 2.4 % beyond it by the distribution.
    assert 0.02 < nodes.weight[nodes.within >= 4].sum() < 0.12
    assert poor.weight[poor.within >= 4].sum() > nodes.weight[nodes.within >= 4].sum()


def test_builds_may_scatter_by_more_than_any_history_shows():
    known = noise_nodes(Noise(0.5, 0.5, build=0.3), -2.0)
    usual = known.build / known.within

    assert usual.min() == pytest.approx(0.09)
    assert usual.max() == pytest.approx(0.09 + 1.0)
    assert known.weight[np.isclose(usual, 0.09)].sum() == pytest.approx(0.75)


def test_the_belief_in_the_scatter_of_builds_keeps_its_spread():
    nodes = noise_nodes(Noise(0.7, 0.0, 0.3, within_df=20, build_df=20, history_boots=inf), 0.0)
    known = nodes.weight * (nodes.within == 1)

    # A flat prior on the standard deviation takes one degree of freedom.
    mean = known @ nodes.build / known.sum()
    assert mean == pytest.approx(0.09 * 20 / 17, rel=0.08)


def test_the_belief_in_the_scatter_of_builds_is_the_likelihood_of_the_history():
    # Revisions of one boot each scatter by 1 %, as boots do: builds scatter by 0, or by more.
    noise = Noise(1.0, within_df=8, build_df=20, history_boots=1)
    nodes = noise_nodes(noise, 0.0)
    found = np.sqrt(nodes.build[nodes.within == 1][:3])

    def belief(sd):
        revisions = sd**2 + 1
        return revisions**-10 * np.exp(-10 / revisions)

    whole = quad(belief, 0, 10)[0]
    shares = [quad(belief, 0, sd)[0] / whole for sd in found]
    # A belief of steps of a sixtieth is no closer.
    assert shares == pytest.approx([0.125, 0.5, 0.875], abs=0.006)


def test_no_scatter_of_builds_in_few_boots_does_not_prove_that_there_is_none():
    noise = Noise(0.7, build=0.0, within_df=100, build_df=20, history_boots=5)

    assert noise_nodes(noise, 0.0).build.max() > 0.1


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
