"""Ranges of revisions compared: intervals and verdicts against simulated truth."""

import numpy as np
import pytest

from tests.stats.series import worlds
from webapp.stats.arrays import Floats
from webapp.stats.ranges import FEWEST, compare_ranges, verdicts

RUN, BUILD = 0.01 / 5**0.5, 0.02


def revisions(rng: np.random.Generator, series: int, count: int, memory: float) -> Floats:
    """Means of five runs of 1 %, builds of 2 % with AR(1) ``memory``, (series, count)."""
    builds = rng.normal(0, 1, (series, count))
    for i in range(1, count):
        builds[:, i] = memory * builds[:, i - 1] + (1 - memory**2) ** 0.5 * builds[:, i]
    return np.asarray(1e6 * np.exp(BUILD * builds + RUN * rng.normal(0, 1, (series, count))))


@pytest.mark.parametrize("memory", [0.0, 0.5])
@pytest.mark.parametrize(("a", "b"), worlds((5, 30), (5, 5), (10, 10), (40, 40)))
def test_intervals_hold_the_truth_with_builds_twice_the_runs_and_memory(
    a: int, b: int, memory: float
) -> None:
    rng = np.random.default_rng(16)
    held = 0
    for values in revisions(rng, 400, a + b, memory):
        (one,) = compare_ranges([(values[:a], 0.9 * values[a:])])
        assert one is not None
        held += one.low_pct <= -10 <= one.high_pct
    assert held / 400 >= 0.93


@pytest.mark.parametrize("memory", [0.0, 0.5])
@pytest.mark.parametrize(("count", "series"), worlds((5, 3), (5, 30), (20, 30)))
def test_no_change_gives_a_false_verdict_in_at_most_five_of_a_hundred_comparisons(
    count: int, series: int, memory: float
) -> None:
    rng = np.random.default_rng(16)
    false, trials = 0, 200 if series < 10 else 60
    for _ in range(trials):
        values = revisions(rng, series, 2 * count, memory)
        changes = compare_ranges([(row[:count], row[count:]) for row in values])
        found = verdicts(changes, [True] * series, 2.0)
        false += "better" in found or "worse" in found
    assert false / trials <= 0.05


def test_a_real_loss_is_reported_and_an_equal_level_is_equivalent() -> None:
    rng = np.random.default_rng(18)
    values = revisions(rng, 2, 160, 0.0)
    pairs = [(row[:80], by * row[80:]) for row, by in zip(values, (0.92, 1.0), strict=True)]

    changes = compare_ranges(pairs)

    assert verdicts(changes, [False, False], 2.0) == ["worse", "equivalent"]
    assert changes[0] is not None
    assert changes[0].pct == pytest.approx(-8, abs=1)
    assert changes[0].a.level == pytest.approx(1e6, rel=0.01)


def test_one_odd_revision_is_left_out_and_named() -> None:
    values = revisions(np.random.default_rng(19), 1, 40, 0.0)[0]
    plain = compare_ranges([(values[:20], values[20:])])[0]
    values[25] *= 0.4

    odd = compare_ranges([(values[:20], values[20:])])[0]

    assert plain is not None
    assert odd is not None
    assert (odd.b.left_out, odd.b.count) == (1, 19)
    assert odd.pct == pytest.approx(plain.pct, abs=1)


@pytest.mark.parametrize("short", [[], [1.0] * (FEWEST - 1), [1.0, 2.0, 3.0, 4.0, 0.0]])
def test_too_few_revisions_cannot_be_judged(short: list[float]) -> None:
    changes = compare_ranges([(short, [1.0] * 9)])
    assert changes == [None]
    assert verdicts(changes, [False], 2.0) == ["cannot tell"]


def test_equal_values_give_an_interval_and_no_error() -> None:
    (one,) = compare_ranges([([5.0] * 6, [5.0] * 6)])
    assert one is not None
    assert one.low_pct <= 0 <= one.high_pct
    assert verdicts([one], [False], 2.0) == ["equivalent"]
