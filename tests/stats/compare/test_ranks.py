from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from webapp.stats.compare.significance import MOST_EXACT, rank_test, smallest_p

small = st.lists(st.integers(0, 6).map(float), min_size=1, max_size=6)


def dealt(a: list[float], b: list[float]) -> float:
    """The exact p by dealing the samples to the sides in all ways."""
    ranks = stats.rankdata(a + b)
    centre = len(a) * (len(ranks) + 1) / 2
    observed = abs(ranks[: len(a)].sum() - centre)
    deals = [abs(sum(chosen) - centre) for chosen in combinations(ranks, len(a))]
    return sum(deal >= observed - 1e-9 for deal in deals) / len(deals)


@given(small, small)
def test_small_sets_with_ties_are_exact(a: list[float], b: list[float]) -> None:
    found = rank_test(np.array(a), np.array(b))
    assert found.exact
    assert found.p == pytest.approx(dealt(a, b), rel=1e-12)


def test_sets_without_ties_agree_with_scipy() -> None:
    random = np.random.default_rng(1)
    for n1, n2 in ((3, 3), (5, 5), (4, 9), (20, 20), (1, 39)):
        a, b = random.normal(0, 1, n1), random.normal(0.7, 1, n2)
        found = rank_test(a, b)
        expected = stats.mannwhitneyu(b, a, method="exact")
        assert found.u == expected.statistic
        assert found.p == pytest.approx(expected.pvalue, rel=1e-10)


def test_larger_sets_use_scipys_asymptotic_p_and_state_it() -> None:
    random = np.random.default_rng(2)
    a, b = random.integers(0, 9, 30).astype(float), random.integers(0, 11, 25).astype(float)
    found = rank_test(a, b)
    assert len(a) + len(b) > MOST_EXACT
    assert not found.exact
    expected = stats.mannwhitneyu(b, a, method="asymptotic", use_continuity=True)
    assert found.p == pytest.approx(expected.pvalue, rel=1e-10)


def test_the_switch_to_the_approximation_is_no_jump() -> None:
    random = np.random.default_rng(3)
    a, b = random.normal(0, 1, 20), random.normal(0.6, 1, 20)
    exact = rank_test(a, b)
    expected = stats.mannwhitneyu(b, a, method="asymptotic").pvalue
    assert exact.p == pytest.approx(expected, rel=0.15)


def test_five_against_five_apart_have_the_textbook_p() -> None:
    found = rank_test(np.arange(5.0), np.arange(5.0) + 10)
    assert found.u == 25
    assert found.p == pytest.approx(2 / 252)
    assert smallest_p(5, 5) == pytest.approx(2 / 252)


def test_equal_values_everywhere_prove_nothing() -> None:
    for n in (1, 5, 100):
        found = rank_test(np.ones(n), np.ones(n))
        assert (found.u, found.p) == (n * n / 2, 1)


def test_one_sample_a_side_cannot_be_significant() -> None:
    assert rank_test(np.array([1.0]), np.array([2.0])).p == 1
    assert smallest_p(1, 1) == 1


@given(small, small)
def test_swapping_the_sides_keeps_p_and_mirrors_u(a, b) -> None:
    there, back = rank_test(np.array(a), np.array(b)), rank_test(np.array(b), np.array(a))
    assert there.p == pytest.approx(back.p, rel=1e-12)
    assert there.u + back.u == pytest.approx(len(a) * len(b))
