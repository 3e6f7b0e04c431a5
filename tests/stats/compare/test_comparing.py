"""Verdicts: their order, their numbers against slow references, and what they must never claim."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import optimize, stats

from tests.stats.series import worlds
from webapp.stats import NotFiniteError, OutOfRangeError, StatisticsError
from webapp.stats.compare.comparing import (
    BuildNoise,
    Comparison,
    Level,
    Rule,
    Samples,
    Verdict,
    compare,
    decide,
)
from webapp.stats.compare.relative import NO_SCATTER
from webapp.stats.ministat import difference

BEFORE = [635734, 625167, 629014, 636936.5, 641688]
AFTER = [1207046, 1150867, 1139815.5, 1138692, 1146448]

near = st.lists(st.floats(0.9, 1.1), min_size=2, max_size=6)
anything = st.lists(
    st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from([0.0, 1.0, -1.0, 1e-300, 1e300, 5e-324, -1e308]),
    min_size=1,
    max_size=6,
)
OPPOSITE = {Verdict.BETTER: Verdict.WORSE, Verdict.WORSE: Verdict.BETTER}


def interval(found: Comparison) -> tuple[float, float]:
    assert found.change.low is not None
    assert found.change.high is not None
    return found.change.low, found.change.high


# --- the verdict and its order ----------------------------------------------------------------


def test_a_change_whose_interval_excludes_zero_is_better_or_worse_by_direction() -> None:
    assert compare(BEFORE, AFTER).verdict is Verdict.BETTER
    assert compare(BEFORE, AFTER, better="less").verdict is Verdict.WORSE
    assert compare(AFTER, BEFORE).verdict is Verdict.WORSE
    assert compare(AFTER, BEFORE, better="less").verdict is Verdict.BETTER


def test_within_the_margin_comes_first_and_a_sure_difference_there_is_negligible() -> None:
    a, b = [100, 100.1, 99.9, 100.05], [101, 101.1, 100.9, 101.05]
    found = compare(a, b)
    assert (found.verdict, found.rule) == (Verdict.EQUIVALENT, Rule.INSIDE_MARGIN)
    assert found.negligible
    assert compare(a, b, margin=0.5).verdict is Verdict.BETTER
    assert not compare(a, a).negligible


def test_an_interval_over_zero_and_over_the_margin_cannot_tell() -> None:
    found = compare([100, 104, 96], [101, 97, 105])
    assert (found.verdict, found.rule) == (Verdict.CANNOT_TELL, Rule.INCLUDES_ZERO)
    assert found.change.visible is not None
    assert found.change.visible > 5


def test_margin_and_level_are_stated_with_the_verdict() -> None:
    found = compare(BEFORE, AFTER, margin=3, confidence=99)
    assert (found.margin, found.confidence, found.better) == (3, 99, "more")


def test_the_boundary_of_the_margin_belongs_to_it() -> None:
    change = compare([1000] * 5, [1000] * 5).change
    at, below = change.high, math.nextafter(change.high, 0)
    assert decide(change, better="more", margin=at).verdict is Verdict.EQUIVALENT
    assert decide(change, better="more", margin=below).verdict is Verdict.CANNOT_TELL


def test_equal_values_leave_half_their_last_printed_digit_open() -> None:
    # half of 1 in 64 is 0.78 %, half of 0.1 in 20.5 is 0.24 %, half of 1 in 20 is 2.5 %
    assert compare([64] * 5, [64] * 5).change.high == pytest.approx(0.784, abs=1e-3)
    assert compare([20.5] * 5, [20.5] * 5).verdict is Verdict.EQUIVALENT
    assert compare([20] * 5, [20] * 5).verdict is Verdict.CANNOT_TELL
    assert compare([20] * 5, [20] * 5, margin=3).verdict is Verdict.EQUIVALENT


def test_equal_values_leave_a_hundred_thousandth_open_at_least() -> None:
    found = compare([123456.789012] * 5, [123456.789012] * 5).change
    assert (found.low, found.high) == pytest.approx((-0.001, 0.001), abs=1e-6)
    assert compare([1e9] * 5, [1e9 + 1] * 5).change.proven == 0
    assert compare([1e9] * 5, [1e9 + 2e4] * 5).change.proven == 1


def test_equal_levels_below_zero_leave_their_last_digit_open_too() -> None:
    found = compare([-64] * 5, [-64] * 5)
    assert found.verdict is Verdict.EQUIVALENT
    assert found.change.high == pytest.approx(100 * 0.5 / 64)


# --- the numbers ------------------------------------------------------------------------------


def test_the_interval_of_the_ratio_is_welchs_on_logarithms() -> None:
    found = compare(BEFORE, AFTER)
    slow = stats.ttest_ind(np.log(AFTER), np.log(BEFORE), equal_var=False)
    limits = slow.confidence_interval(0.95)
    assert interval(found) == pytest.approx(
        (100 * math.expm1(limits.low), 100 * math.expm1(limits.high)), rel=1e-9
    )
    assert found.change.df == pytest.approx(slow.df)
    assert found.change.test == "Welch"


def test_sides_of_very_different_size_use_the_wider_pooled_interval() -> None:
    a, b = [100, 101], [103, 109, 95, 112, 99, 104, 90, 113]
    found = compare(a, b)
    slow = stats.ttest_ind(np.log(b), np.log(a), equal_var=True).confidence_interval(0.95)
    plain = stats.ttest_ind(np.log(b), np.log(a), equal_var=False).confidence_interval(0.95)
    assert slow.high > plain.high
    assert interval(found)[1] == pytest.approx(100 * math.expm1(slow.high), rel=1e-9)
    assert found.change.test == "Student"


def test_welch_on_the_samples_themselves_agrees_with_scipy() -> None:
    found = compare(BEFORE, AFTER).welch
    slow = stats.ttest_ind(AFTER, BEFORE, equal_var=False)
    assert found is not None
    assert found.df == pytest.approx(slow.df)
    assert found.p == pytest.approx(slow.pvalue)
    assert (found.low, found.high) == pytest.approx(tuple(slow.confidence_interval(0.95)))


def test_student_is_ministats() -> None:
    assert compare(BEFORE, AFTER).student == difference(BEFORE, AFTER)
    assert compare(BEFORE, AFTER[:2]).student is None


def test_data_with_zeros_uses_fiellers_limits_of_the_ratio_of_means() -> None:
    a, b = np.array([0.0, 9, 11, 10, 12]), np.array([15.0, 14, 18, 16, 17])
    change = compare(a, b).change
    assert change.scale == "linear"
    assert change.percent == pytest.approx(100 * (b.mean() / a.mean() - 1))
    t = stats.t.ppf(0.975, change.df)
    var_a, var_b = a.var(ddof=1) / 5, b.var(ddof=1) / 5

    def rejected(ratio: float) -> float:
        return (b.mean() - ratio * a.mean()) ** 2 - t**2 * (var_b + ratio**2 * var_a)

    estimate = b.mean() / a.mean()
    low = optimize.brentq(rejected, 0, estimate)
    high = optimize.brentq(rejected, estimate, 1000)
    assert (change.low, change.high) == pytest.approx((100 * (low - 1), 100 * (high - 1)))


def test_a_negative_level_reads_as_a_share_of_its_size() -> None:
    change = compare([-10, -10.1, -9.9], [-5, -5.1, -4.9]).change
    assert change.percent == pytest.approx(50)
    assert change.proven == 1


def test_a_mean_that_may_be_zero_has_a_verdict_but_no_percentage() -> None:
    found = compare([-1, 0, 1], [9, 10, 11], better="less")
    assert found.verdict is Verdict.WORSE
    assert found.change.percent is found.change.low is found.change.visible is None


# --- levels of noise --------------------------------------------------------------------------


def test_two_builds_a_side_make_builds_the_units() -> None:
    a = Samples([100, 100.1, 104, 104.1], builds=["p", "p", "q", "q"])
    b = Samples([106, 106.1, 110, 110.1], builds=["r", "r", "s", "s"])
    found = compare(a, b)
    assert found.change.unit is Level.BUILD
    assert found.change.units == (2, 2)
    assert found.change.uncounted == ()
    assert found.verdict is Verdict.CANNOT_TELL
    assert compare(a.values, b.values).change.units == (4, 4)


def test_runs_of_one_boot_do_not_stand_for_boots() -> None:
    boots = [0, 0, 0, 1, 1, 1]
    a = Samples([100, 100.1, 99.9, 103, 103.1, 102.9], boots=boots)
    b = Samples([105, 105.1, 104.9, 108, 108.1, 107.9], boots=boots)
    assert compare(a, b).verdict is Verdict.CANNOT_TELL
    assert compare(a.values, b.values).verdict is Verdict.BETTER


def test_noise_between_builds_from_history_widens_the_interval_by_its_share() -> None:
    plain = compare(BEFORE, AFTER).change
    noise = BuildNoise(percent=3, df=1e9)
    wide = compare(BEFORE, AFTER, build_noise=noise).change
    error = stats.ttest_ind(np.log(AFTER), np.log(BEFORE), equal_var=False)._standard_error
    total = math.hypot(error, 0.03 * math.sqrt(2))
    df = total**4 / (error**4 / plain.df)
    assert wide.df == pytest.approx(df)
    expected = math.log1p(plain.percent / 100) + stats.t.ppf(0.975, df) * total
    assert wide.high == pytest.approx(100 * math.expm1(expected))
    assert wide.uncounted == (Level.BOOT,)
    assert plain.uncounted == (Level.BOOT, Level.BUILD)


def test_history_is_not_added_where_the_builds_themselves_scatter() -> None:
    a, b = Samples([1.0, 1.1, 1.2], builds="pqr"), Samples([1.0, 1.1, 1.2], builds="stu")
    with_history = compare(a, b, build_noise=BuildNoise(10, 20)).change
    assert with_history == compare(a, b).change
    assert with_history.history is None


def test_more_runs_of_one_build_do_not_make_its_noise_vanish() -> None:
    noise = BuildNoise(percent=2, df=40)
    random = np.random.default_rng(4)
    few, many = (
        compare(random.normal(100, 1, n), random.normal(100, 1, n), build_noise=noise).change
        for n in (5, 5000)
    )
    assert few.visible > many.visible > 100 * math.expm1(2.8 * 0.02 * math.sqrt(2))


# --- coverage ---------------------------------------------------------------------------------


def simulated(random: np.random.Generator, builds: int, boots: int, sd: tuple) -> Samples:
    """One run a boot around 100, with standard deviations of logarithms of run and build."""
    run, build = sd
    levels = np.repeat(random.normal(0, build, builds), boots)
    values = 100 * np.exp(levels + random.normal(0, run, builds * boots))
    labels = np.repeat(np.arange(builds), boots)
    return Samples(values, boots=range(builds * boots), builds=labels.tolist())


@pytest.mark.parametrize(
    ("a", "b", "history_df"),
    worlds(
        ((1, 5, (0.02, 0)), (1, 5, (0.02, 0)), None),
        ((1, 5, (0.01, 0)), (1, 5, (0.05, 0)), None),
        ((1, 2, (0.02, 0)), (1, 20, (0.02, 0)), None),
        ((3, 3, (0.01, 0.03)), (4, 3, (0.01, 0.03)), None),
        ((1, 5, (0.01, 0.03)), (1, 5, (0.01, 0.03)), 20),
    ),
    ids=["equal", "unequal scatter", "2 against 20", "builds", "history"],
)
def test_95_percent_intervals_cover_the_truth_95_times_in_100(a, b, history_df) -> None:
    random = np.random.default_rng(20160801)
    trials, covered = 1500, 0
    for _ in range(trials):
        noise = None
        if history_df:
            estimate = a[2][1] * math.sqrt(random.chisquare(history_df) / history_df)
            noise = BuildNoise(100 * estimate, history_df)
        low, high = interval(
            compare(simulated(random, *a), simulated(random, *b), build_noise=noise)
        )
        covered += low <= 0 <= high
    # Three binomial standard errors (1.7 points) below; unbalanced sides may cover more.
    assert 0.933 <= covered / trials <= 0.99


def test_the_smallest_visible_change_is_seen_in_four_of_five() -> None:
    random = np.random.default_rng(5)
    sd, n, trials = 0.02, 5, 1500
    shift = 3.2009 * sd * math.sqrt(2 / n)  # non-centrality for 8 degrees of freedom
    seen = sum(
        compare(
            100 * np.exp(random.normal(0, sd, n)),
            100 * np.exp(random.normal(shift, sd, n)),
            margin=0,
        ).verdict
        is Verdict.BETTER
        for _ in range(trials)
    )
    assert seen / trials == pytest.approx(0.8, abs=0.035)


# --- what must never happen -------------------------------------------------------------------


@given(anything, anything, st.sampled_from([None, BuildNoise(2, 20), BuildNoise(0, 1)]))
@example([0.0], [0.0], None)
@example([1e300, -1e308], [5e-324], BuildNoise(2, 20))
def test_no_finite_samples_raise_or_give_a_verdict_without_an_interval(a, b, noise) -> None:
    found = compare(a, b, build_noise=noise)
    change = found.change
    for number in (change.percent, change.low, change.high, change.visible, change.df):
        assert number is None or not math.isnan(number)
    if not change.known or min(len(a), len(b)) == 1:
        assert found.verdict is Verdict.CANNOT_TELL
    if found.verdict in OPPOSITE:
        assert change.proven != 0
    if change.low is not None:
        assert change.low <= change.high


@given(st.floats(1e-300, 1e300), st.floats(1e-300, 1e300), st.integers(1, 4), st.integers(1, 4))
def test_sets_without_scatter_decide_only_when_ranks_could(x, y, n, m) -> None:
    found = compare([x] * n, [y] * m)
    assert found.welch is None
    if math.comb(n + m, n) < 40:
        assert found.verdict is Verdict.CANNOT_TELL


def test_equal_values_in_large_enough_sets_are_equivalent_or_apart() -> None:
    assert compare([64] * 5, [64] * 5).verdict is Verdict.EQUIVALENT
    assert compare([64] * 5, [65] * 5, margin=1).verdict is Verdict.BETTER
    assert compare([64] * 3, [640] * 3).verdict is Verdict.CANNOT_TELL
    assert compare([0] * 5, [0] * 5).verdict is Verdict.CANNOT_TELL  # nothing was seen of it


def test_one_wild_sample_proves_nothing() -> None:
    assert compare([1e6, 1.01e6, 1.02e6, 0.99e6, 1e6], [1e6, 1.01e6, 1, 0.99e6, 1e6]).verdict is (
        Verdict.CANNOT_TELL
    )


@pytest.mark.long
def test_a_million_samples_a_side_are_compared() -> None:
    random = np.random.default_rng(6)
    found = compare(random.normal(100, 5, 10**6), random.normal(100.5, 5, 10**6))
    assert found.verdict is Verdict.EQUIVALENT
    assert found.negligible
    assert not found.ranks.exact


@given(near, near, st.sampled_from([1e-300, 1e-9, 0.1, 3.0, 1e9, 1e300]))
def test_the_unit_of_the_metric_does_not_matter(a, b, factor) -> None:
    plain = compare(a, b)
    scaled = compare([x * factor for x in a], [x * factor for x in b])
    if plain.change.df is not None:
        assert interval(scaled) == pytest.approx(interval(plain), rel=1e-6, abs=1e-9)
    edges = [e for e in (plain.change.low, plain.change.high) if e is not None]
    if all(min(abs(e), abs(e - 2), abs(e + 2)) > 1e-9 for e in edges):
        assert scaled.verdict is plain.verdict


@given(anything, anything)
def test_less_is_better_mirrors_the_verdict(a, b) -> None:
    more, less = compare(a, b, better="more"), compare(a, b, better="less")
    assert less.verdict is OPPOSITE.get(more.verdict, more.verdict)
    assert less.change == more.change


@given(near, near)
def test_swapping_the_sides_inverts_the_ratio(a, b) -> None:
    there, back = compare(a, b).change, compare(b, a).change
    assert there.proven == -back.proven
    assert (1 + there.percent / 100) * (1 + back.percent / 100) == pytest.approx(1)
    if there.low is not None and there.high < 1e6:
        assert (1 + there.low / 100) * (1 + back.high / 100) == pytest.approx(1, abs=1e-6)


@given(near, near, st.randoms(use_true_random=False))
def test_the_order_of_samples_does_not_matter(a, b, random) -> None:
    shuffled = random.sample(a, len(a))
    plain, mixed = compare(a, b).change, compare(shuffled, b).change
    assert mixed.percent == pytest.approx(plain.percent, rel=1e-9, abs=1e-9)
    assert mixed.known == plain.known


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_numbers_that_are_not_finite_never_enter(bad: float) -> None:
    with pytest.raises(NotFiniteError):
        compare([1, 2, bad], [1, 2, 3])
    with pytest.raises(NotFiniteError):
        compare([1, 2, 3], [bad])


def test_settings_out_of_range_are_refused() -> None:
    for margin in (-1, math.nan, math.inf):
        with pytest.raises(OutOfRangeError, match="margin"):
            compare(BEFORE, AFTER, margin=margin)
    with pytest.raises(OutOfRangeError, match="confidence"):
        compare(BEFORE, AFTER, confidence=99.5)
    with pytest.raises(StatisticsError):
        compare([], AFTER)


def test_scatter_below_rounding_is_no_scatter() -> None:
    a, b = [0.3, 0.1 + 0.2, 0.3], [0.6, 0.6, 0.1 * 6]
    assert np.log(a).std() < NO_SCATTER
    assert compare(a, b).rule is Rule.NO_INTERVAL
