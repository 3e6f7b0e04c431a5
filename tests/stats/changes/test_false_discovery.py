"""The gate over all series that received a commit."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.online import detect
from tests.stats.series import simulated
from webapp.stats.changes import scale
from webapp.stats.false_discovery import gate
from webapp.stats.simulate import Scatter

probabilities = st.lists(st.floats(0, 1), min_size=1, max_size=40)


def test_the_example_of_benjamini_and_hochberg_lets_the_first_four_through():
    """Their table of 1995: fifteen p-values, four rejected at 5 %."""
    published = [
        0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
        0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.000,
    ]  # fmt: skip

    assert [item.passes for item in gate(published, 0.05)] == [True] * 4 + [False] * 11


@given(p_values=probabilities, level=st.floats(0.001, 0.5))
def test_the_gate_is_the_step_up_procedure_written_slowly(p_values, level):
    ordered = sorted(p_values)
    passing = [p for i, p in enumerate(ordered, 1) if p * len(ordered) / i <= level]
    limit = max(passing, default=-1.0)

    for p, item in zip(p_values, gate(p_values, level), strict=True):
        assert item.p_value == p
        assert item.passes == (p <= limit)


@given(p_values=probabilities)
def test_ranks_are_a_permutation_and_q_values_follow_p_values(p_values):
    gates = gate(p_values)

    assert sorted(item.rank for item in gates) == list(range(1, len(p_values) + 1))
    by_rank = sorted(gates, key=lambda item: item.rank)
    assert all(a.q_value <= b.q_value for a, b in pairwise(by_rank))
    assert all(a.q_value >= 0.999999 * a.p_value for a in gates)


@pytest.mark.parametrize("bad", [-0.1, 1.1, math.nan])
def test_what_is_no_probability_is_refused(bad):
    with pytest.raises(ValueError, match="no probability"):
        gate([0.5, bad])


def test_no_series_means_no_gates():
    assert gate([]) == ()


def test_p_values_of_the_newest_revision_are_fair_without_a_change():
    """Share of series whose newest revision falls under 5 %: at most about 5 %."""
    newest = [
        detect(simulated(revisions=40, seed=seed, scatter=Scatter())).newest.p_value
        for seed in range(300)
    ]

    assert np.mean(np.array(newest) < 0.05) <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 300)


def test_the_p_value_of_a_scan_falls_with_its_score_and_is_no_larger_than_one():
    values = [scale.p_of_scan(score) for score in (0.0, 1.0, 2.0, 4.0, 8.0)]

    assert values == sorted(values, reverse=True)
    assert values[0] == 1.0
    assert values[3] == pytest.approx(scale.SCANNED * 6.334e-5, rel=1e-3)
