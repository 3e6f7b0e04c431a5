"""Evidence of linear hypotheses in normal noise, levels and sizes integrated out.

For boots y ~ N(Nλ + M·δ, V) with a flat prior for the levels λ of q series, whose rows the columns
of N tell apart, and δ ~ N(m, K), with the inner product ⟨a, b⟩ = a'V⁻¹b − a'V⁻¹N (N'V⁻¹N)⁻¹ N'V⁻¹b:

    log Z = −½ log|V| − ½ log|N'V⁻¹N| − ½⟨r, r⟩ − ½ log|I + KG| + ½ b'(K⁻¹ + G)⁻¹b

where r = y − Mm, b = ⟨M, r⟩ and G = ⟨M, M⟩ (Rasmussen and Williams 2006, §2.7). A constant that
all hypotheses share is left out. All arrays have one line for each of C covariances.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Products:
    """⟨·, ·⟩ of the values and of P columns: ``base`` (C,) is log Z without any column.

    ``square`` (C, P, P), ``moment`` (C, P).
    """

    base: Floats
    square: Floats
    moment: Floats

    def of(self, columns: slice) -> "Products":
        """The same for some of the columns."""
        return Products(self.base, self.square[:, columns, columns], self.moment[:, columns])


def products(
    covariance: Floats, factors: Floats, values: Floats, columns: Floats, levels: Floats
) -> Products:
    """From (C, T, T), (F,), (T,), (T, P) and (T, q): of every covariance times every factor.

    The F · C lines are ordered by factor first.
    """
    count, known = levels.shape
    sides = np.column_stack([levels, values, columns])
    _, log_det = np.linalg.slogdet(covariance)
    gram = np.matmul(sides.T, np.linalg.solve(covariance, sides))
    gram, log_level = _without_levels(gram, known)
    scale = factors[:, None]
    base = log_det + log_level + gram[:, 0, 0] / scale + (count - known) * np.log(scale)
    lines, shape = base.size, gram.shape[1] - 1
    return Products(
        base=-0.5 * base.ravel(),
        square=(gram[None, :, 1:, 1:] / scale[..., None, None]).reshape(lines, shape, shape),
        moment=(gram[None, :, 1:, 0] / scale[..., None]).reshape(lines, shape),
    )


def _without_levels(gram: Floats, known: int) -> tuple[Floats, Floats]:
    """The products of what is behind the first ``known`` sides, these taken out; log|N'V⁻¹N|."""
    log_level = np.zeros(len(gram))
    for _ in range(known):
        level = gram[:, 0, 0]
        log_level = log_level + np.log(level)
        gram = gram[:, 1:, 1:] - gram[:, 1:, :1] * gram[:, :1, 1:] / level[:, None, None]
    return gram, log_level


@dataclass(frozen=True, slots=True)
class Fit:
    """``log_z`` of each hypothesis, with ``mean`` and ``variance`` of the size of its (first)
    column.
    """

    log_z: Floats
    mean: Floats
    variance: Floats


def one_column(made: Products, size: float, spread: float) -> Fit:
    """Each column on its own with the size N(``size``, ``spread``²): (C, P)."""
    g = np.maximum(np.diagonal(made.square, axis1=1, axis2=2), 0.0)
    b = made.moment - size * g
    shrink = 1 + spread**2 * g
    rss = size * size * g - 2 * size * made.moment
    log_z = made.base[:, None] - 0.5 * (rss + np.log(shrink) - spread**2 * b * b / shrink)
    return Fit(log_z, size + spread**2 * b / shrink, spread**2 / shrink)


@dataclass(frozen=True, slots=True)
class PairPrior:
    """Of two sizes: means, and covariance [[``own``, ``shared``], [``shared``, ``second``]]."""

    means: tuple[float, float]
    own: float
    shared: float
    second: float


def two_columns(
    made: Products, first: NDArray[np.intp], second: NDArray[np.intp], prior: PairPrior
) -> Fit:
    """Pairs of columns: ``first`` and ``second`` (Q,) are their numbers; (C, Q)."""
    d, e = prior.means
    g, h = made.square[:, first, first], made.square[:, second, second]
    c = made.square[:, first, second]
    y, z = made.moment[:, first], made.moment[:, second]
    b1, b2 = y - d * g - e * c, z - d * c - e * h
    rss = d * d * g + e * e * h + 2 * d * e * c - 2 * (d * y + e * z)
    det_prior = prior.own * prior.second - prior.shared**2
    k11, k22, k12 = prior.second, prior.own, -prior.shared
    a11, a22, a12 = k11 / det_prior + g, k22 / det_prior + h, k12 / det_prior + c
    det = np.maximum(a11 * a22 - a12 * a12, np.finfo(np.float64).tiny)
    size1, size2 = (a22 * b1 - a12 * b2) / det, (a11 * b2 - a12 * b1) / det
    gain = b1 * size1 + b2 * size2
    log_z = made.base[:, None] - 0.5 * (rss + np.log(det * det_prior) - gain)
    return Fit(log_z, d + size1, a22 / det)


def columns_apart(made: Products, chosen: NDArray[np.intp], means: Floats, spreads: Floats) -> Fit:
    """Sets of k columns, ``chosen`` (Q, k), with independent sizes N(``means``, ``spreads``²),
    each (k,): (C, Q).

    K⁻¹ + G is eliminated column by column from the last one, for all sets at once: what is left of
    the first is the precision of its size.
    """
    count = chosen.shape[1]
    square = [
        [made.square[:, chosen[:, a], chosen[:, b]] for b in range(a + 1)] for a in range(count)
    ]
    moment = [made.moment[:, chosen[:, a]] for a in range(count)]
    rss: Floats = np.zeros(moment[0].shape)
    for a, b in [(a, b) for a in range(count) for b in range(count) if means[b]]:
        shift = square[max(a, b)][min(a, b)] * means[b]
        rss += means[a] * (shift - 2 * made.moment[:, chosen[:, a]]) if a == b else means[a] * shift
        moment[a] = moment[a] - shift
    rest = rss + 2 * float(np.log(spreads).sum())
    for last in reversed(range(count)):
        pivot = square[last][last] + 1 / spreads[last] ** 2
        rest += np.log(pivot) - moment[last] * moment[last] / pivot
        for a in range(last):
            share = square[last][a] / pivot
            moment[a] = moment[a] - share * moment[last]
            for b in range(a + 1):
                square[a][b] = square[a][b] - share * square[last][b]
    return Fit(made.base[:, None] - 0.5 * rest, means[0] + moment[0] / pivot, 1 / pivot)
