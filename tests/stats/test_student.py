import pytest
from scipy import stats

from webapp.stats import OutOfRangeError
from webapp.stats.intervals import LEVELS, critical_value, true_level

UPPER = {80.0: 0.9, 90.0: 0.95, 95.0: 0.975, 98.0: 0.99, 99.0: 0.995, 99.5: 0.999}
QUIRKS = {1: 318.313, 7: 4.782, 8: 4.499, 9: 4.296, 10: 4.143, 11: 4.024, 12: 3.929}


@pytest.mark.parametrize("level", LEVELS)
def test_each_tabulated_value_is_scipys_quantile_to_three_decimals(level: float) -> None:
    for df in range(1, 101):
        expected = round(float(stats.t.ppf(UPPER[level], df)), 3)
        if level == 99.5:
            expected = QUIRKS.get(df, expected)
        assert critical_value(df, level) == expected, df


def test_the_seven_odd_values_of_the_99_5_column_are_kept() -> None:
    assert {df: critical_value(df, 99.5) for df in QUIRKS} == QUIRKS


def test_above_100_degrees_of_freedom_the_normal_row_is_used() -> None:
    assert [critical_value(101, level) for level in LEVELS] == [
        1.282, 1.645, 1.960, 2.326, 2.576, 3.090,
    ]  # fmt: skip
    assert critical_value(100, 95.0) == 1.984


def test_the_level_called_99_5_is_really_99_8() -> None:
    assert [true_level(level) for level in LEVELS] == [80, 90, 95, 98, 99, 99.8]


def test_an_unknown_level_names_the_known_ones() -> None:
    with pytest.raises(OutOfRangeError, match=r"use 80, 90, 95, 98, 99, 99\.5"):
        critical_value(8, 97.0)
    with pytest.raises(OutOfRangeError, match="97"):
        true_level(97.0)


def test_no_degrees_of_freedom_are_refused() -> None:
    with pytest.raises(OutOfRangeError, match="at least 1"):
        critical_value(0, 95.0)
