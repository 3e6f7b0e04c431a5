"""Counts: sums compared exactly, in a single comparison and in many."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from webapp.stats.compare.comparing import Verdict, compare
from webapp.stats.compare.explain import explain
from webapp.stats.compare.levels import Samples, Summary, summarize
from webapp.stats.compare.many import compare_many
from webapp.stats.compare.significance import counts_limits, counts_p
from webapp.stats.compare.summaries import Summaries

sums = st.integers(0, 60)
sizes = st.integers(1, 12)


def rows(*values: int) -> list[np.ndarray]:
    return [np.array([value], np.float64) for value in values]


@given(sums, sizes, sums, sizes)
def test_the_exact_test_is_scipys_binomial_one(a: int, n_a: int, b: int, n_b: int) -> None:
    share = n_b / (n_a + n_b)
    tails = [stats.binom.cdf(b, a + b, share), stats.binom.sf(b - 1, a + b, share)]
    assert counts_p(*rows(a, n_a, b, n_b))[0] == pytest.approx(min(1, 2 * min(tails)), rel=1e-9)


@given(sums, sizes, sums, sizes)
def test_limits_are_those_of_clopper_and_pearson(a: int, n_a: int, b: int, n_b: int) -> None:
    low, high = (float(end[0]) for end in counts_limits(*rows(a, n_a, b, n_b), confidence=95.0))
    if a + b:
        share = stats.binomtest(b, a + b).proportion_ci(0.95, method="exact")
        with np.errstate(divide="ignore"):
            ends = np.array([share.low, share.high]) / (1 - np.array([share.low, share.high]))
        assert [low, high] == pytest.approx(list(100 * (ends * n_a / n_b - 1)), rel=1e-6, abs=1e-9)
    p = counts_p(*rows(a, n_a, b, n_b))[0]
    assert (low > 0 or high < 0) == (p < 0.05 and a + b > 0)


def test_a_few_counts_more_are_no_proof_where_each_sample_alone_would_look_so() -> None:
    ones = compare([0] * 5, [1] * 5, better="less")
    assert ones.verdict is Verdict.CANNOT_TELL  # 0 against 5: 2/2⁵
    assert ones.change.p == ones.change.counts == pytest.approx(0.0625)
    assert "for counts the exact test: p = 0.062" in explain(ones)
    twos = compare([0] * 5, [2] * 5, better="less")
    assert twos.verdict is Verdict.WORSE  # 0 against 10: 2/2¹⁰
    assert twos.change.low is None
    assert twos.change.counts == pytest.approx(2 / 2**10)


def test_counts_that_scatter_more_than_poissons_need_more_than_their_sum() -> None:
    bursts = compare([0, 0, 0, 0, 0], [0, 0, 0, 0, 40])
    assert bursts.change.counts < 1e-9
    assert bursts.verdict is Verdict.CANNOT_TELL


def test_the_interval_holds_both_and_what_is_no_count_has_no_exact_test() -> None:
    counted = compare([20, 31, 0, 25, 24, 22], [9, 12, 11, 10, 9, 12])
    first, n1, second, n2 = rows(122, 6, 63, 6)
    low, high = counts_limits(first, n1, second, n2, 95.0)
    assert counted.change.low is not None
    assert counted.change.high is not None
    assert counted.change.low <= low[0] < high[0] <= counted.change.high
    for other in ([20.5, 31, 0, 25, 24, 22], [20, 31, -1, 25, 24, 22], [20, 31, 2, 25, 24, 22]):
        assert compare(other, [9, 12, 11, 10, 9, 12]).change.counts is None


def test_a_percentage_that_no_double_holds_is_none() -> None:
    assert compare([-1e-300, 0, 1e-300, 1e-310], [1e300, 1e300, 2e300]).change.percent is None


def test_what_was_stored_without_its_sum_is_compared_without_the_exact_test() -> None:
    stored = summarize(Samples([0, 0, 0, 0, 0])).to_data()
    del stored["total"]
    old, new = Summary.from_data(stored), summarize(Samples([1, 1, 1, 1, 1]))
    assert old.total is None
    assert compare_many(Summaries([old]), Summaries([new])).proven[0] == 1


@pytest.mark.parametrize("mean", [0.4, 1.5, 6.0])
@pytest.mark.parametrize("burst", [1.0, 4.0])
def test_equal_counts_are_seldom_called_different(mean: float, burst: float) -> None:
    random = np.random.default_rng(7)
    trials = 2000
    rates = random.gamma(mean / burst, burst, (2, trials, 5)) if burst > 1 else mean
    drawn = random.poisson(rates, (2, trials, 5)).astype(float)
    sides = [Summaries([summarize(Samples(row)) for row in side]) for side in drawn]
    assert np.mean(compare_many(*sides).proven != 0) <= 0.05
