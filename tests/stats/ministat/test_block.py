import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from webapp.stats import NotFiniteError, OutOfRangeError, StatisticsError, TooFewSamplesError
from webapp.stats.ministat import (
    LEVELS,
    Difference,
    difference,
    difference_from_moments,
    summarize,
)

IGUANA = [50, 200, 150, 400, 750, 400, 150]
CHAMELEON = [150, 400, 720, 500, 930]
BEFORE = [635734, 625167, 629014, 636936.5, 641688]
AFTER = [1207046, 1150867, 1139815.5, 1138692, 1146448]

measured = st.floats(1e-3, 1e9)
sets = st.lists(measured, min_size=3, max_size=30)
anything = st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=3, max_size=12)
levels = st.sampled_from(LEVELS)


def exact_mean(values: list[float]) -> Fraction:
    return sum(map(Fraction, values), Fraction(0)) / len(values)


def exact_variance(values: list[float]) -> Fraction:
    mean = exact_mean(values)
    squares = sum(((Fraction(value) - mean) ** 2 for value in values), Fraction(0))
    return squares / (len(values) - 1)


def test_the_manual_pages_example_has_the_manual_pages_numbers() -> None:
    iguana = summarize(IGUANA)
    assert (iguana.n, iguana.minimum, iguana.maximum) == (7, 50, 750)
    assert (iguana.median, iguana.mean) == (200, 300)
    assert iguana.stddev == pytest.approx(238.04761)
    assert summarize(CHAMELEON).stddev == pytest.approx(299.08193)
    assert not difference(IGUANA, CHAMELEON).proven


def test_a_real_change_has_the_figures_its_author_published() -> None:
    found = difference(BEFORE, AFTER)
    assert found.proven
    assert f"{found.delta:g} {found.error:g} {found.pooled_stddev:g}" == "522866 30314.6 20785.6"
    assert f"{found.percent:g} {found.percent_error:g}" == "82.509 5.05534"


def test_flavours_differ_in_median_variance_and_relative_error() -> None:
    values = [1e8 + 1, 1e8 + 2, 1e8 + 3, 1e8 + 5]
    assert summarize(values).median == 1e8 + 2.5
    assert summarize(values, "2015").median == 1e8 + 3
    assert summarize(values, "2016").median == 1e8 + 2.5
    assert summarize(values).variance == pytest.approx(float(exact_variance(values)), rel=1e-12)
    assert summarize(values, "2016").variance == summarize(values).variance
    assert summarize(values, "2015").variance != summarize(values).variance
    assert summarize(values, "2016-onepass").variance == summarize(values, "2015").variance
    old = {flavour: difference(BEFORE, AFTER, flavour=flavour) for flavour in ("2015", "2016")}
    assert {f"{found.percent_error:g}" for found in old.values()} == {"4.78369"}
    new = difference(BEFORE, AFTER, flavour="2016-onepass")
    assert f"{new.percent_error:g}" == "5.05534"


def test_the_one_pass_variance_never_goes_below_zero() -> None:
    assert summarize([1e8 + 0.1] * 7, "2015").variance >= 0
    assert summarize([1e200] * 3, "2015").variance == math.inf


def test_a_difference_needs_to_be_larger_than_its_error_not_equal() -> None:
    assert not difference([1, 1, 1], [1, 1, 1]).proven
    sure = difference([1, 1, 1], [2, 2, 2])
    assert sure.proven
    assert sure.error == 0


def test_intervals_are_the_difference_with_its_error_to_both_sides() -> None:
    found = Difference(10, 4, 5, 2, 1, 95, proven=True)
    assert found.interval == (6, 14)
    assert found.percent_interval == (3, 7)


def test_a_zero_mean_leaves_the_percentages_out() -> None:
    found = difference([-1, 0, 1], [9, 10, 11])
    assert found.proven
    assert found.percent is found.percent_error is found.percent_interval is None


@pytest.mark.parametrize("n", [0, 1, 2])
def test_fewer_than_three_samples_are_refused(n: int) -> None:
    with pytest.raises(TooFewSamplesError, match=f"{n} samples where at least 3"):
        summarize([1.0] * n)
    with pytest.raises(TooFewSamplesError):
        difference_from_moments(n, 1, 1, 5, 1, 1)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_numbers_that_are_not_finite_are_refused(bad: float) -> None:
    with pytest.raises(NotFiniteError, match="not a finite number"):
        summarize([1, 2, bad, 3])
    with pytest.raises(NotFiniteError):
        difference_from_moments(5, 1, 1, 5, bad, 1)


def test_negative_variances_and_unknown_levels_are_refused() -> None:
    with pytest.raises(OutOfRangeError, match="negative"):
        difference_from_moments(5, 1, -1, 5, 1, 1)
    with pytest.raises(OutOfRangeError, match="no support"):
        difference(BEFORE, AFTER, confidence=97)


def test_every_error_of_the_input_is_a_value_error_of_one_family() -> None:
    for error in (TooFewSamplesError, NotFiniteError, OutOfRangeError):
        assert issubclass(error, StatisticsError)
        assert issubclass(error, ValueError)


@given(sets)
def test_summaries_agree_with_exact_arithmetic(values: list[float]) -> None:
    found = summarize(values)
    assert found.mean == pytest.approx(float(exact_mean(values)), rel=1e-12)
    scale = max(values) ** 2
    assert found.variance == pytest.approx(
        float(exact_variance(values)), rel=1e-9, abs=1e-25 * scale
    )
    assert found.stddev == math.sqrt(found.variance)
    assert (found.minimum, found.maximum) == (min(values), max(values))


@given(sets, sets, levels)
def test_the_absolute_interval_is_the_pooled_t_test_of_scipy(
    a: list[float], b: list[float], level: float
) -> None:
    found = difference(a, b, level)
    df = len(a) + len(b) - 2
    pooled = math.sqrt(
        float(exact_variance(a) * (len(a) - 1) + exact_variance(b) * (len(b) - 1)) / df
    )
    quantile = stats.t.ppf({99.5: 0.999}.get(level, 0.5 + level / 200), df)
    expected = quantile * pooled * math.sqrt(1 / len(a) + 1 / len(b))
    assert found.error == pytest.approx(expected, rel=2e-3, abs=1e-9 * max(a + b))


@given(sets, sets, levels)
def test_swapping_the_sets_mirrors_the_difference(
    a: list[float], b: list[float], level: float
) -> None:
    there, back = difference(a, b, level), difference(b, a, level)
    assert there.delta == -back.delta
    assert there.error == pytest.approx(back.error, rel=1e-12)
    assert there.pooled_stddev == pytest.approx(back.pooled_stddev, rel=1e-12)


@given(sets, sets, st.integers(-30, 30))
def test_a_change_of_unit_changes_nothing_but_the_unit(
    a: list[float], b: list[float], exponent: int
) -> None:
    factor = 2.0**exponent
    plain = difference(a, b)
    scaled = difference([x * factor for x in a], [x * factor for x in b])
    assert scaled.delta == plain.delta * factor
    assert scaled.error == plain.error * factor
    assert scaled.proven is plain.proven
    assert scaled.percent == plain.percent
    assert scaled.percent_error == plain.percent_error


@given(sets, sets, levels)
def test_moments_are_as_good_as_samples(a: list[float], b: list[float], level: float) -> None:
    first, second = summarize(a), summarize(b)
    moments = (first.n, first.mean, first.variance, second.n, second.mean, second.variance)
    assert difference_from_moments(*moments, level) == difference(a, b, level)


@given(anything, anything, levels, st.sampled_from(["current", "2015", "2016", "2016-onepass"]))
def test_no_finite_samples_make_it_raise_or_prove_what_overflowed(a, b, level, flavour) -> None:
    found = difference(a, b, level, flavour)
    if found.proven:
        assert not math.isnan(found.delta)
        assert math.isfinite(found.error)
