import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webapp.stats import NotFiniteError, OutOfRangeError, TooFewSamplesError
from webapp.stats.compare.levels import (
    Level,
    Samples,
    Side,
    Summary,
    common_unit,
    intervals_of,
    summarize,
    uncounted_levels,
)
from webapp.stats.compare.summaries import own_units, pack_summary
from webapp.stats.single_build.chance import BuildNoise

values = st.floats(allow_nan=False, allow_infinity=False)
rows = st.lists(
    st.tuples(values, st.integers(0, 3), st.sampled_from("pqr")), min_size=1, max_size=9
)


def side(samples: Samples, level: Level) -> Side:
    """The linear side, in the metric's unit."""
    found = summarize(samples)
    scaled, unit = found.linear[level], 2.0**found.exponent
    return Side(
        scaled.mean * unit,
        scaled.sd * unit,
        scaled.share,
        scaled.df,
        scaled.units,
        scaled.between,
    )


def test_boots_are_counted_within_their_build() -> None:
    side = Samples([1, 2, 3, 4], boots=[0, 1, 0, 1], builds=["p", "p", "q", "q"])
    assert (side.build_count, side.boot_count) == (2, 4)
    assert Samples([1, 2, 3]).boot_count is None
    assert Samples([1, 2, 3]).build_count == 1


def test_one_unknown_boot_makes_the_sides_boots_unknown() -> None:
    assert Samples([1, 2], boots=[0, None]).boot_count is None


def test_samples_of_unknown_build_are_one_build() -> None:
    assert Samples([1, 2, 3], builds=[None, None, "p"]).build_count == 2


def test_the_unit_is_the_highest_level_that_both_sides_have_twice() -> None:
    def unit(a: Samples, b: Samples) -> Level:
        return common_unit(summarize(a), summarize(b))

    runs = Samples([1, 2, 3])
    boots = Samples([1, 2, 3], boots=[0, 0, 1])
    builds = Samples([1, 2, 3], boots=[0, 0, 1], builds=["p", "p", "q"])
    assert unit(builds, builds) is Level.BUILD
    assert unit(boots, builds) is Level.BOOT
    assert unit(runs, builds) is Level.RUN


def test_levels_above_the_unit_are_not_counted_unless_history_knows_them() -> None:
    assert uncounted_levels(Level.RUN, history=False) == (Level.BOOT, Level.BUILD)
    assert uncounted_levels(Level.RUN, history=True) == (Level.BOOT,)
    assert uncounted_levels(Level.BOOT, history=False) == (Level.BUILD,)
    assert uncounted_levels(Level.BUILD, history=False) == ()


def test_a_side_is_the_mean_over_builds_of_boots_of_runs() -> None:
    samples = Samples([1.0, 3.0, 8.0, 20.0], boots=[0, 0, 1, 0], builds=["p", "p", "p", "q"])
    found = side(samples, Level.BUILD)
    assert found.mean == ((2 + 8) / 2 + 20) / 2
    assert found.variance == pytest.approx((20 - 5) ** 2 / 2)
    assert (found.share, found.df, found.units, found.between) == (0.5, 1, 2, True)


def test_within_builds_the_scatter_of_boots_is_pooled_over_builds() -> None:
    builds = ["p", "p", "q", "q", "q"]
    found = side(Samples([1.0, 3.0, 10.0, 16.0, 13.0], boots=range(5), builds=builds), Level.BOOT)
    assert found.mean == (2 + 13) / 2
    assert found.variance == pytest.approx((2 + 18) / 3)
    assert found.share == pytest.approx((1 / 2 + 1 / 3) / 4)
    assert (found.df, found.units, found.between) == (3, 5, False)


def test_builds_of_one_run_each_scatter_by_their_builds() -> None:
    found = side(Samples([1, 3], builds="pq"), Level.RUN)
    assert found.variance == pytest.approx(2)
    assert (found.df, found.between) == (1, True)


def test_a_single_sample_has_no_scatter_to_know() -> None:
    assert side(Samples([1]), Level.RUN).df == 0
    assert summarize(Samples([1])).interval() is None


def test_the_interval_of_a_set_is_that_of_its_own_units() -> None:
    # 1, 2, 3: mean 2, variance 1, t(2) = 4.303, half width 4.303 / sqrt(3)
    assert summarize(Samples([1, 2, 3])).interval() == pytest.approx((-0.484, 4.484), abs=5e-4)
    ten = [99.0, 101, 98, 102, 100, 109, 111, 108, 112, 110]
    of_runs = summarize(Samples(ten)).interval()
    of_boots = summarize(Samples(ten, boots=[0] * 5 + [1] * 5))
    assert of_runs == pytest.approx((105 - 3.918, 105 + 3.918), abs=0.001)
    assert (of_boots.unit, of_boots.units) == (Level.BOOT, 2)
    assert of_boots.interval() == pytest.approx((105 - 12.706 * 5, 105 + 12.706 * 5))


def test_zeros_have_no_logarithms() -> None:
    assert summarize(Samples([0, 1])).log is None
    assert summarize(Samples([1, 2])).log is not None


@given(rows, st.booleans())
def test_what_is_stored_of_a_set_comes_back_exactly_and_is_finite(rows, boots_known) -> None:
    numbers, boots, builds = zip(*rows, strict=True)
    found = summarize(Samples(numbers, boots=boots if boots_known else None, builds=builds))
    text = json.dumps(found.to_data(), allow_nan=False)
    assert Summary.from_data(json.loads(text)) == found
    assert math.isfinite(found.mean)


@given(rows, st.randoms())
def test_the_order_of_the_samples_changes_no_digit(rows, random) -> None:
    def summary(rows: list[tuple[float, int, str]]) -> Summary:
        numbers, boots, builds = zip(*rows, strict=True)
        return summarize(Samples(numbers, boots=boots, builds=builds))

    other = list(rows)
    random.shuffle(other)
    assert summary(other) == summary(rows)


def test_unusable_samples_and_noise_are_refused() -> None:
    with pytest.raises(TooFewSamplesError):
        Samples([])
    for bad in (math.nan, math.inf):
        with pytest.raises(NotFiniteError):
            Samples([1, bad])
    with pytest.raises(OutOfRangeError, match="1 labels for 2 samples"):
        Samples([1, 2], boots=[0])
    for percent, df in ((-1, 5), (math.nan, 5), (math.inf, 5), (1, 0.5), (1, math.nan)):
        with pytest.raises(OutOfRangeError, match="between builds"):
            BuildNoise(percent, df)


@given(st.lists(st.tuples(values, st.sampled_from("pq")), min_size=2, max_size=9))
def test_a_sample_a_boot_has_the_same_scatter_by_either(rows: list[tuple[float, str]]) -> None:
    """And the means of builds are those of the samples."""
    samples, builds = zip(*rows, strict=True)
    by_boot = summarize(Samples(samples, boots=range(len(rows)), builds=builds))
    by_run = summarize(Samples(samples, builds=builds))
    assert by_boot.linear == by_run.linear | {Level.BOOT: by_run.linear[Level.RUN]}


@given(
    st.lists(
        st.lists(st.floats(-1e300, 1e300) | st.integers(0, 9).map(float), min_size=1, max_size=6),
        max_size=8,
    )
)
def test_many_intervals_are_those_of_each_set(sets: list[list[float]]) -> None:
    rows = [summarize(Samples(values)) for values in sets]
    units = own_units([pack_summary(row.to_data() | {"identity": "0" * 16}) for row in rows])
    assert intervals_of(units) == [row.interval() for row in rows]
