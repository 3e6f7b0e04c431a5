"""The chance of a loss by one build a side, against figures redone by hand and by sampling."""

from math import erfc, exp, expm1, log, log1p, pi, sqrt

import numpy as np
import pytest
from scipy import stats

from webapp.stats.single_build import Evidence, NoisePrior, at_least, chance, interval, turning_pct

NOTHING = NoisePrior(median_pct=1e-7)


def evidence(loss: float = 0.1206, **fields: float) -> Evidence:
    """r303642 against r303643 in pf: −11.4 %, five runs of .7 % a side."""
    given = {
        "newest": loss,
        "old": 1,
        "new": 1,
        "squares": 0.0,
        "run_variance": 0.007**2,
        "run_freedom": 8,
        "run_share": 0.4,
        "unit_share": 0.2,
    }
    return Evidence(loss=loss, **(given | fields))  # type: ignore[arg-type]


def test_the_sum_that_the_documentation_does_by_hand():
    """s = 1.8 % · 1.5^u for u = 0, .5 … 4, each weighed by the normal density times .5."""
    by_hand = 0.0
    for u in np.arange(0.0, 4.5, 0.5):
        sd = sqrt(2 * (0.018 * 1.5**u) ** 2 + 0.4 * 0.007**2)
        tail = erfc(0.1206 / sd / sqrt(2)) / 2
        by_hand += 0.5 * exp(-u * u / 2) / sqrt(2 * pi) * tail

    assert by_hand == pytest.approx(0.00156, abs=0.00001)
    assert chance(evidence(), NoisePrior()) == pytest.approx(by_hand, rel=0.01)


@pytest.mark.parametrize("freedom", [1, 2, 4, 8, 30, 200])
@pytest.mark.parametrize("loss", [0.01, 0.03, 0.08])
def test_without_noise_between_builds_it_is_the_tail_of_student(freedom, loss):
    found = chance(evidence(loss, run_variance=0.02**2, run_freedom=freedom), NOTHING)

    expected = stats.t.sf(loss / (0.02 * sqrt(0.4)), freedom)
    assert found == pytest.approx(expected, rel=0.01)


def test_a_sampled_belief_gives_the_same_chance():
    rng = np.random.default_rng(1)
    build = 0.018 * 1.5 ** rng.standard_normal(1_000_000)
    run = 0.02 * np.sqrt(8 / rng.chisquare(8, build.size))
    sd = np.sqrt(2 * build**2 + 0.4 * run**2)
    sampled = float(np.mean(stats.norm.sf(0.1 / sd)))

    found = chance(evidence(0.1, run_variance=0.02**2), NoisePrior())

    assert found == pytest.approx(sampled, rel=0.02)


def test_several_builds_of_a_side_teach_how_builds_scatter():
    """Sampled from the belief, and weighed by how well each sample explains the scatter."""
    rng = np.random.default_rng(2)
    build = 0.018 * 1.5 ** rng.standard_normal(1_000_000)
    run = 0.007 * np.sqrt(16 / rng.chisquare(16, build.size))
    each = build**2 + 0.2 * run**2
    weights = each**-1.0 * np.exp(-0.004 / (2 * each))
    sd = np.sqrt(build**2 + 0.2 * run**2)
    sampled = float(np.average(stats.norm.sf(0.08 / sd), weights=weights))

    several = evidence(0.08, old=2, new=2, squares=0.004, run_freedom=16, run_share=0.2)

    assert chance(several, NoisePrior()) == pytest.approx(sampled, rel=0.03)


def test_half_of_all_losses_are_smaller_than_none():
    assert chance(evidence(0.0), NoisePrior()) == pytest.approx(0.5)


def test_the_interval_is_that_at_whose_ends_the_chance_is_one_in_forty():
    low, high = interval(evidence(), NoisePrior())

    assert chance(evidence(), NoisePrior(), beyond=low) == pytest.approx(0.025)
    assert chance(evidence(), NoisePrior(), beyond=high) == pytest.approx(0.975)
    assert [100 * expm1(-end) for end in (low, high)] == pytest.approx([-5.7, -16.7], abs=0.05)


def test_what_it_reaches_with_95_percent_is_the_one_sided_end():
    sure = at_least(evidence(), NoisePrior())

    assert chance(evidence(), NoisePrior(), beyond=sure) == pytest.approx(0.05)
    assert 100 * expm1(-sure) == pytest.approx(-6.9, abs=0.05)


def test_the_build_noise_from_which_on_it_would_not_be_found():
    """2.807 standard deviations are .25 %: sqrt((.1206 / 2.807)² / 2 − .2 · .007²) = 3.02 %."""
    turning = turning_pct(evidence(), 0.0025)

    assert turning == pytest.approx(3.02, abs=0.01)
    sd = sqrt(2 * (turning / 100) ** 2 + 0.4 * 0.007**2)
    assert stats.norm.sf(0.1206 / sd) == pytest.approx(0.0025)


def test_where_runs_alone_could_do_it_no_build_noise_is_small_enough():
    assert turning_pct(evidence(0.005), 0.0025) == 0.0


def test_equal_runs_leave_the_noise_between_builds():
    found = chance(evidence(run_variance=0.0), NoisePrior())

    assert 0 < found <= chance(evidence(), NoisePrior())


def test_equal_runs_and_equal_builds_are_no_division_by_zero():
    equal = evidence(0.0, old=2, new=2, run_variance=0.0, run_freedom=16)

    assert chance(equal, NoisePrior()) == pytest.approx(0.5)


def test_a_loss_of_everything_has_figures():
    gone = evidence(-log(1e-8))

    low, high = interval(gone, NoisePrior())
    assert chance(gone, NoisePrior()) == pytest.approx(0.0, abs=1e-9)
    assert -log1p(-0.9) < low < high
