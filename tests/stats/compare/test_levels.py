import math

import numpy as np
import pytest

from webapp.stats.compare.levels import (
    BuildNoise,
    Level,
    Samples,
    common_unit,
    summarize_side,
    uncounted_levels,
)
from webapp.stats.errors import NotFiniteError, OutOfRangeError, TooFewSamplesError


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
    runs = Samples([1, 2, 3])
    boots = Samples([1, 2, 3], boots=[0, 0, 1])
    builds = Samples([1, 2, 3], boots=[0, 0, 1], builds=["p", "p", "q"])
    assert common_unit(builds, builds) is Level.BUILD
    assert common_unit(boots, builds) is Level.BOOT
    assert common_unit(runs, builds) is Level.RUN


def test_levels_above_the_unit_are_not_counted_unless_history_knows_them() -> None:
    assert uncounted_levels(Level.RUN, history=False) == (Level.BOOT, Level.BUILD)
    assert uncounted_levels(Level.RUN, history=True) == (Level.BOOT,)
    assert uncounted_levels(Level.BOOT, history=False) == (Level.BUILD,)
    assert uncounted_levels(Level.BUILD, history=False) == ()


def test_a_side_is_the_mean_over_builds_of_boots_of_runs() -> None:
    values = [1.0, 3.0, 8.0, 20.0]
    side = Samples(values, boots=[0, 0, 1, 0], builds=["p", "p", "p", "q"])
    found = summarize_side(side, np.array(values), Level.BUILD)
    assert found.mean == ((2 + 8) / 2 + 20) / 2
    assert found.variance == pytest.approx((20 - 5) ** 2 / 2)
    assert (found.share, found.df, found.units, found.builds) == (0.5, 1, 2, 2)


def test_within_builds_the_scatter_of_boots_is_pooled_over_builds() -> None:
    values = [1.0, 3.0, 10.0, 16.0, 13.0]
    side = Samples(values, boots=range(5), builds=["p", "p", "q", "q", "q"])
    found = summarize_side(side, np.array(values), Level.BOOT)
    assert found.mean == (2 + 13) / 2
    assert found.variance == pytest.approx((2 + 18) / 3)
    assert found.share == pytest.approx((1 / 2 + 1 / 3) / 4)
    assert (found.df, found.units, found.between) == (3, 5, False)


def test_builds_of_one_run_each_scatter_by_their_builds() -> None:
    found = summarize_side(Samples([1, 3], builds="pq"), np.array([1.0, 3.0]), Level.RUN)
    assert (found.variance, found.df, found.between) == (2, 1, True)


def test_a_single_sample_has_no_scatter_to_know() -> None:
    assert summarize_side(Samples([1]), np.array([1.0]), Level.RUN).df == 0


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
