"""What is believed of build noise, and how it learns."""

from math import exp, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webapp.stats.single_build import Known, NoisePrior, learn


def test_where_nothing_is_known_it_is_that_of_real_year_series():
    assert learn([]) == NoisePrior(median_pct=1.8, spread=1.5)


def test_it_moves_towards_series_of_the_same_hardware_and_workload():
    """(4 · ln 1.8 + 7 · ln 4) / 11 is ln 2.99, which is nearest to 1.8 · 1.2³ = 3.11 %."""
    found = learn([Known(4.0, 20.0)] * 7)

    assert exp((4 * log(1.8) + 7 * log(4)) / 11) == pytest.approx(2.99, abs=0.01)
    assert found.median_pct == pytest.approx(1.8 * 1.2**3)
    assert not found.of_machine


def test_eight_series_of_the_machine_take_its_place():
    """4 % is nearest to 1.8 · 1.2⁴ = 3.73 %; what other machines show counts no more."""
    own = [Known(4.0, 20.0), *[Known(4.0, 20.0, same_workload=False)] * 7]
    others = [Known(1.0, 20.0, same_hardware=False)] * 20

    assert learn([*own, *others]) == NoisePrior(pytest.approx(1.8 * 1.2**4), 1.5, of_machine=True)
    assert not learn([*own[:7], *others]).of_machine


def test_one_series_alone_hardly_moves_it():
    """(4 · ln 1.8 + ln 4) / 5 is ln 2.11: nearest to 1.8 · 1.2 = 2.16 %."""
    assert learn([Known(4.0, 20.0)]).median_pct == pytest.approx(2.16)


def test_what_shares_only_one_of_the_two_counts_half():
    half = [Known(4.0, 20.0, same_hardware=False)] * 14

    assert learn(half).median_pct == learn([Known(4.0, 20.0)] * 7).median_pct


@pytest.mark.parametrize(
    "useless",
    [Known(9.0, 7.9), Known(9.0, 90.0, same_hardware=False, same_workload=False)],
)
def test_what_shows_too_little_or_is_of_something_else_teaches_nothing(useless):
    assert learn([useless] * 50) == learn([])


def test_it_is_never_narrower_than_the_guess_however_alike_series_are():
    assert learn([Known(1.8, 100.0)] * 100).spread == 1.5


def test_series_that_differ_widen_it():
    """Logarithms ± ln 4 around ln 1.8: sqrt((4 ln²1.5 + 20 ln²4) / 24), that is × 3.6."""
    far = [Known(1.8 * factor, 20.0, same_hardware=False) for factor in (0.25, 4.0)]
    found = learn(far * 20)

    exact = exp(((4 * log(1.5) ** 2 + 20 * log(4) ** 2) / 24) ** 0.5)
    assert exact <= found.spread <= exact * 1.1


def test_an_estimate_of_nothing_counts_as_three_tenths_of_a_percent():
    assert learn([Known(0.0, 20.0)] * 4) == learn([Known(0.3, 20.0)] * 4)


@given(st.lists(st.tuples(st.floats(0, 50), st.floats(0, 200)), max_size=30), st.randoms())
def test_the_order_in_which_series_are_known_does_not_matter(rows, random):
    known = [Known(*row) for row in rows]
    mixed = random.sample(known, len(known))

    assert learn(known) == learn(mixed)
