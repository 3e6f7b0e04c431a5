"""What curves leave unexplained, fitted as rows of one array, against one fit after the other."""

from math import log

import numpy as np
import pytest

from webapp.stats.changes import curves as screens
from webapp.stats.changes.curves import NEEDED, SPARED, Screen, curves_of, fitted
from webapp.stats.changes.points import FINEST
from webapp.stats.changes.turns import fit_levels


def series(seed, most=260):
    """Values, their scatter, and where their levels begin."""
    rng = np.random.default_rng([7, seed])
    count = int(rng.integers(40, most))
    starts = sorted({0, *rng.integers(3, count - 3, int(rng.integers(1, 8))).tolist()})
    values = rng.standard_t(3, count) * 0.01
    for first in starts[1:]:
        values[first:] += rng.normal(0.0, 0.05)
    return values, np.where(np.arange(count) < count // 2, 0.01, 0.02), starts


def left_of(fit):
    """Twice the negative log likelihood of AR(1) innovations, pair by pair."""
    pairs = [
        (fit.off[i], fit.off[i - 1])
        for i in range(1, len(fit.off))
        if fit.inside[i] and fit.inside[i - 1]
    ]
    squares = max(sum(before**2 for _, before in pairs), FINEST**2)
    rho = max(sum(now * before for now, before in pairs) / squares, 0.0)
    left = sum((now - rho * before) ** 2 for now, before in pairs) / max(len(pairs), 1)
    return len(pairs) * log(max(left, FINEST**2))


def one_by_one(values, scatter, alone, basis, spared):
    starts = [start for i, start in enumerate(alone.starts) if not spared or i != spared]
    curve = fitted(values, 1 / scatter, basis, starts, alone.inside)
    return left_of(fit_levels(values - curve, scatter, starts))


def held_against_each(seed):
    values, scatter, starts = series(seed)
    alone = fit_levels(values, scatter, starts)
    priced = curves_of(values, 1 / scatter, alone.inside, len(starts) - 1)
    curves = [basis for basis, _ in priced]
    screen = Screen(values, scatter, alone, curves)
    for number, (basis, whole) in enumerate(zip(curves, screen.beside_all(), strict=True)):
        assert whole == pytest.approx(one_by_one(values, scatter, alone, basis, 0), rel=1e-9)
        each = [one_by_one(values, scatter, alone, basis, i) for i in range(1, len(starts))]
        assert screen.beside_fewer(number) == pytest.approx(each, rel=1e-9)


@pytest.mark.parametrize("seed", range(40))
def test_all_fits_at_once_leave_what_each_alone_does(seed):
    held_against_each(seed)


def test_where_sums_of_squares_need_every_level_no_curve_spares_one():
    sure = 0
    for seed in range(60):
        values, scatter, starts = series(seed, most=500)
        alone = fit_levels(values, scatter, starts)
        curves = curves_of(values, 1 / scatter, alone.inside, len(starts) - 1)
        screen = Screen(values, scatter, alone, [basis for basis, _ in curves])
        for number, whole in enumerate(screen.beside_all()):
            if screen.least_loss(number) >= NEEDED:
                sure += 1
                assert min(screen.beside_fewer(number)) - whole >= SPARED
    assert sure


def test_waves_that_can_hardly_be_distinguished_from_levels_are_fitted_alone(monkeypatch):
    fits = []

    def counted(*args):
        fits.append(args)
        return fitted(*args)

    monkeypatch.setattr(screens, "fitted", counted)
    held_against_each(3)
    assert not fits

    monkeypatch.setattr(screens, "WELL_POSED", 1.0)
    held_against_each(3)
    assert fits
