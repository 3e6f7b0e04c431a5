"""What is quick against what is plain: levels of stretches, their scatter, the levels to try."""

import numpy as np
import pytest

from webapp.stats.changes import turns
from webapp.stats.changes.scatter import (
    CLIP,
    FINEST,
    MEDIAN_OF_SQUARES,
    OF_CLIPPED,
    variance_of,
)
from webapp.stats.changes.turns import EFFICIENT, LEFT_OUT, fit_levels, variances_of


def stretches(seed):
    """Values, their scatter, and where stretches of one to many begin."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 200))
    starts = sorted({0, *rng.integers(0, count, int(rng.integers(0, 6))).tolist()})
    values = rng.standard_t(2, count) * 0.01
    if seed % 3 == 0:
        values = np.round(values, 2)
    return values, np.where(np.arange(count) < count // 2, 0.01, 0.02), starts


def level_of(values, scatter):
    """Tukey's biweight from the median on, three times."""
    centre = float(np.median(values))
    for _ in range(3):
        off = (values - centre) / (LEFT_OUT * scatter)
        weights = np.where(np.abs(off) < 1, (1 - off**2) ** 2, 0.0) / scatter**2
        if weights.sum() > 0:
            centre = float(weights @ values / weights.sum())
    return centre


@pytest.mark.parametrize("seed", range(60))
def test_levels_are_those_of_each_stretch_alone(seed):
    values, scatter, starts = stretches(seed)
    fit = fit_levels(values, scatter, starts)
    parts = [np.s_[a:b] for a, b in zip(starts, [*starts[1:], len(values)], strict=True)]
    alone = [level_of(values[part], scatter[part]) for part in parts]
    assert fit.centres == pytest.approx(alone, rel=1e-9, abs=1e-12)
    for part, centre, variance in zip(parts, alone, variances_of(fit, scatter), strict=True):
        off = values[part] - centre
        assert fit.off[part] == pytest.approx(off, abs=1e-12)
        assert fit.residuals[part] == pytest.approx(off / scatter[part], abs=1e-9)
        precise = 1 / scatter[part] ** 2
        kept = precise[np.abs(off) < LEFT_OUT * scatter[part]]
        expected = kept.sum() if len(kept) else precise.max()
        assert variance == pytest.approx(1 / (EFFICIENT * expected))


def plain_variance(squares):
    variance = float(np.median(squares[squares > 0])) / MEDIAN_OF_SQUARES
    for _ in range(8):
        variance = float(np.minimum(squares, CLIP * CLIP * variance).mean()) / OF_CLIPPED
    return max(variance, FINEST**2)


@pytest.mark.parametrize("seed", range(40))
def test_a_variance_is_bit_by_bit_that_of_all_its_turns(seed):
    rng = np.random.default_rng(seed)
    squares = rng.standard_t(3, int(rng.integers(1, 60))) ** 2 * 1e-4
    squares[rng.random(len(squares)) < 0.2 * (seed % 2)] = 0.0
    if not squares.any():
        squares[0] = 1e-4
    assert variance_of(squares) == plain_variance(squares)


def test_the_levels_to_try_lie_beside_every_revision_however_far_apart():
    rng = np.random.default_rng(1)
    for reach in (3, 40, 10 * turns.MOST_CELLS):
        occupied = np.round(rng.uniform(-reach, reach, 25))
        near = occupied[:, None] + np.arange(-turns.BESIDE, turns.BESIDE + 1)
        assert turns._cells(occupied).tolist() == np.unique(near).tolist()
