"""The smallest provable change is stated only where the noise is known well enough."""

import random

import pytest

from benchmarks.online import detect
from webapp.stats import changes
from webapp.stats.changes.explain import NO_SCATTER_YET, TOO_FEW, what_helps
from webapp.stats.metrics import worth_telling


def analysed(count: int, percent: float, n: int = 5) -> changes.Analysis:
    """A flat series whose samples scatter by so much."""
    rng = random.Random(1)
    points = [
        changes.Point(
            at,
            f"r{at}",
            [100 * (1 + rng.gauss(0, percent) / 100) for _ in range(n)],
            list(range(n)),
            [f"build {at}"] * n,
        )
        for at in range(count)
    ]
    return detect(points)


@pytest.mark.parametrize("percent", [0.0, 0.5, 30.0])
def test_one_revision_proves_nothing(percent: float) -> None:
    assert analysed(1, percent).smallest is None
    assert what_helps(analysed(1, 0.5)) == TOO_FEW


def test_equal_values_prove_nothing_small() -> None:
    found = analysed(20, 0.0)
    assert found.smallest is None
    assert what_helps(found) == NO_SCATTER_YET


def test_what_only_a_multiple_would_show_is_no_figure() -> None:
    """With two samples of each of six revisions the formula gives hundreds of thousands percent."""
    assert analysed(6, 30.0, n=2).smallest is None


def test_a_series_that_is_known_states_what_it_can_prove() -> None:
    found = analysed(20, 0.5).smallest
    assert found is not None
    assert 0.5 < found.pct < 5


@pytest.mark.parametrize(("percent", "stated"), [(None, None), (99.0, 99.0), (754_445_135.0, None)])
def test_what_is_worth_telling(percent: float | None, stated: float | None) -> None:
    assert worth_telling(percent) == stated
