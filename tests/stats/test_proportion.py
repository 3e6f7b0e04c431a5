import pytest
from scipy.stats import binomtest

from webapp.stats import OutOfRangeError
from webapp.stats.intervals import proportion


@pytest.mark.parametrize(("count", "total"), [(0, 1), (1, 1), (3, 8), (81, 263), (263, 263)])
@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.99])
def test_the_interval_is_that_of_scipy(count: int, total: int, confidence: float) -> None:
    found = proportion(count, total, confidence)
    expected = binomtest(count, total).proportion_ci(confidence, method="wilson")
    assert found is not None
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert found.share == count / total


def test_of_nothing_no_share_is_stated() -> None:
    assert proportion(0, 0) is None


@pytest.mark.parametrize(("count", "total"), [(2, 1), (-1, 3)])
def test_what_is_no_share_is_refused(count: int, total: int) -> None:
    with pytest.raises(OutOfRangeError):
        proportion(count, total)
