import numpy as np
import pytest
from scipy import integrate, stats

from webapp.stats import OutOfRangeError
from webapp.stats.compare.significance import (
    CONFIDENCES,
    critical_t,
    critical_ts,
    require_confidence,
    visible_shift,
    visible_shifts,
)

DFS = np.concatenate([np.linspace(1, 30, 300), np.geomspace(30, 1e7, 50)])


def power_by_quadrature(shift: float, df: float, t: float) -> float:
    """P(Z + shift > t·S) with S² a chi-square over its degrees of freedom."""

    def seen(u: float) -> float:
        return stats.norm.cdf(shift - t * np.sqrt(stats.chi2.ppf(u, df) / df))

    return integrate.quad(seen, 0, 1, limit=200)[0]


@pytest.mark.parametrize("df", [1, 2.5, 8, 60])
@pytest.mark.parametrize("power", [50, 80, 95])
def test_the_visible_shift_is_seen_with_the_power_it_names(df: float, power: float) -> None:
    shift = visible_shift(df, 95, power)
    assert power_by_quadrature(shift, df, critical_t(df, 95)) == pytest.approx(
        power / 100, abs=1e-5
    )


@pytest.mark.parametrize("confidence", CONFIDENCES)
def test_tables_agree_with_the_functions(confidence: float) -> None:
    critical = [critical_t(df, confidence) for df in DFS]
    shifts = [visible_shift(df, confidence) for df in DFS]
    assert critical_ts(DFS, confidence) == pytest.approx(critical, rel=1e-6)
    assert visible_shifts(DFS, confidence) == pytest.approx(shifts, rel=1e-5)


def test_levels_that_are_not_offered_are_refused() -> None:
    for level in (0.95, 99.5, 100, float("nan")):
        with pytest.raises(OutOfRangeError, match="use 80, 90, 95, 98, 99"):
            require_confidence(level)
