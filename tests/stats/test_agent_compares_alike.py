"""The agent compares in plain Python (`labagent check`); it comes to the server's own numbers."""

import itertools
from math import inf
from typing import Any

import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st
from labagent.compare import Comparison, Side, compare, gated
from labagent.compare.ministat import (
    beta_share,
    counts_limits,
    counts_p,
    critical_t,
    ministat,
    tabulated_t,
    two_sided_p,
)
from scipy import special

from tests.fuzzing import cases
from webapp.stats import compare as server
from webapp.stats.compare import significance
from webapp.stats.compare.relative import Change
from webapp.stats.false_discovery import gate
from webapp.stats.intervals import critical_value
from webapp.stats.ministat import render

pytestmark = pytest.mark.fuzz

positive = st.floats(1e-3, 1e6) | st.integers(1, 50).map(float)
any_value = st.floats(-1e6, 1e6).map(lambda value: round(value, 6)) | st.integers(0, 9).map(float)
labels = st.integers(0, 3)


def approx(value: Any, **tolerance: float) -> Any:
    return None if value is None else pytest.approx(value, **tolerance)


def limits_of(change: Change) -> Any:
    if change.low is None or change.high is None:
        return None
    return pytest.approx((change.low, change.high), rel=1e-7, abs=1e-9)


@st.composite
def sides(draw: st.DrawFn) -> tuple[Side, Side]:
    values = draw(st.sampled_from([positive, any_value, st.integers(0, 5).map(float)]))
    has_boots, has_builds = draw(st.booleans()), draw(st.booleans())
    found = []
    for _ in range(2):
        samples = draw(st.lists(values, min_size=1, max_size=12))
        listed = st.lists(labels, min_size=len(samples), max_size=len(samples))
        boots = draw(listed) if has_boots else None
        found.append(Side(samples, boots, draw(listed) if has_builds else None))
    return found[0], found[1]


@cases()
@given(sides(), st.sampled_from(["more", "less"]), st.sampled_from([0.0, 2.0, 25.0]))
def test_verdict_change_and_interval_are_the_servers(
    both: tuple[Side, Side], better: server.comparing.Better, margin: float
) -> None:
    a, b = both
    mine = compare(a, b, better, margin)
    theirs = server.compare(
        *(server.Samples(one.values, one.boots, one.builds) for one in both),
        better=better,
        margin=margin,
    )
    change = theirs.change
    note(repr((a, b, mine, change)))
    assert mine.p == approx(change.p, rel=1e-7, abs=1e-12)
    assert mine.counts == change.units
    assert mine.percent == approx(change.percent, rel=1e-9, abs=1e-9)
    assert mine.limits == limits_of(change)
    assert mine.verdict == theirs.verdict


@pytest.mark.parametrize("df", [1, 1.5, 2, 7.3, 30, 100, 1e4])
@pytest.mark.parametrize("t", [0.0, 1e-6, 0.5, 2.0, 12.7, 1e3])
def test_students_distribution_is_that_of_scipy(df: float, t: float) -> None:
    assert two_sided_p(t, df) == approx(2 * special.stdtr(df, -t), rel=1e-9)
    assert critical_t(df, 95.0) == approx(special.stdtrit(df, 0.975), rel=1e-9)


@pytest.mark.parametrize(("a", "b"), [(0.5, 0.5), (1, 9), (400, 3), (1e5, 1e5), (1e8, 1e8)])
@pytest.mark.parametrize("x", [0.0, 1e-9, 0.2, 0.4999, 0.5, 0.9, 1.0])
def test_the_beta_distribution_is_that_of_scipy(a: float, b: float, x: float) -> None:
    assert beta_share(a, b, x) == approx(special.betainc(a, b, x), rel=1e-6, abs=1e-12)


@pytest.mark.parametrize(("n_a", "n_b"), list(itertools.product((1, 4, 12), repeat=2)))
@pytest.mark.parametrize(("a", "b"), list(itertools.product((0, 1, 2, 7, 150), repeat=2)))
def test_counts_are_tested_as_on_the_server(a: int, n_a: int, b: int, n_b: int) -> None:
    rows = [np.array([each], np.float64) for each in (a, n_a, b, n_b)]
    assert counts_p(a, n_a, b, n_b) == approx(significance.counts_p(*rows)[0], rel=1e-7)
    ends = [float(end[0]) for end in significance.counts_limits(*rows, confidence=95.0)]
    assert counts_limits(a, n_a, b, n_b) == approx(ends, rel=1e-6, abs=1e-7)


def test_the_table_of_critical_values_is_that_of_ministat() -> None:
    assert [tabulated_t(df) for df in range(1, 200)] == [
        critical_value(df, 95.0) for df in range(1, 200)
    ]


@cases()
@given(*2 * [st.lists(positive | any_value, min_size=3, max_size=12)])
def test_ministat_prints_what_the_servers_prints(a: list[float], b: list[float]) -> None:
    both = (("a.txt", a), ("b.txt", b))
    theirs = render(both, plot=False).splitlines()
    if sum(a) == 0:  # the original divides by this zero
        theirs, own = theirs[:5], ministat(*both).splitlines()[:5]
    else:
        own = ministat(*both).splitlines()
    assert own == theirs


@cases()
@given(st.lists(st.floats(0, 1) | st.sampled_from([1e-4, 0.01, 0.02]), min_size=1, max_size=20))
def test_many_metrics_pass_the_servers_gate(p_values: list[float]) -> None:
    found = [Comparison("worse", 1.0, None, p, "runs", (5, 5)) for p in p_values]
    assert [one == "worse" for one in gated(found)] == [one.passes for one in gate(p_values)]


def test_without_a_direction_a_difference_is_no_verdict() -> None:
    a, b = Side([1.0, 1.1, 1.2]), Side([9.0, 9.1, 9.2])
    assert compare(a, b).verdict == "differs"
    assert compare(a, b, margin=inf).verdict == "equivalent"
