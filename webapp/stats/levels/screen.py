"""What curves can explain beside levels that are given: many fits at once, as rows of one array.

Most curves that could bend a series do not pay. To see that takes no fit of each: all of them, and
all that are left where one level is spared, share sums of products (normal equations). What is told
of a series is never read from here, only which curves are worth a fit of their own.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from webapp.stats.changes.points import FINEST
from webapp.stats.levels.curve import fitted
from webapp.stats.levels.fitting import LEFT_OUT, Fit, biweighted
from webapp.stats.levels.partition import Floats

WELL_POSED = 1e-9
"""Ratio of the least eigenvalue to the largest below which sums of products are not solved: where
levels are short and many, waves can hardly be told from them."""

ALL = [0]
"""No level is spared: the first has none before it that it could be joined to."""


class Screen:
    """Curves beside the levels `alone` of log `locations`, (revisions,), or all of them but one.

    `scatter` is the standard deviation of each revision. `bases` are the curves, each
    (revisions, terms).
    """

    def __init__(
        self, locations: Floats, scatter: Floats, alone: Fit, bases: Sequence[Floats]
    ) -> None:
        self._locations, self._scatter, self._alone, self._bases = locations, scatter, alone, bases
        self._first = np.array(alone.starts)
        self._level = np.repeat(
            np.arange(len(alone.starts)), np.diff([*alone.starts, len(locations)])
        )
        weight = np.where(alone.inside, scatter**-2.0, 0.0)
        columns = np.column_stack([*bases, locations])
        self._mass = np.maximum(np.add.reduceat(weight, self._first), np.finfo(float).tiny)
        sums = np.add.reduceat(columns * weight[:, None], self._first, axis=0)
        self._means = sums / self._mass[:, None]
        columns -= self._means[self._level]
        self._products = (columns * weight[:, None]).T @ columns
        ends = np.cumsum([basis.shape[1] for basis in bases]).tolist()
        self._terms = [slice(*one) for one in pairwise([0, *ends])]
        # With a level spared they only grow.
        self._is_well_posed = [
            _is_well_posed(self._products[terms, terms]) for terms in self._terms
        ]

    def beside_all(self) -> list[float]:
        """Return what each curve leaves unexplained beside all levels (`unexplained`)."""
        curves = [self._curves(number, ALL)[0] for number in range(len(self._bases))]
        left: list[float] = self._unexplained(np.stack(curves), ALL * len(curves)).tolist()
        return left

    def beside_fewer(self, numbers: Sequence[int]) -> list[list[float]]:
        """Return what each of these curves leaves unexplained beside all levels but the first, but
        the second, … (each is joined to the one before it).
        """
        if not numbers:
            return []
        spared = list(range(1, len(self._first)))
        curves = np.concatenate([self._curves(number, spared) for number in numbers])
        left = self._unexplained(curves, spared * len(numbers))
        found: list[list[float]] = left.reshape(len(numbers), -1).tolist()
        return found

    def _curves(self, number: int, spared: list[int]) -> Floats:
        """The curves, (spared, revisions), that fit best without level i each; 0: with all."""
        basis = self._bases[number]
        if not self._is_well_posed[number]:
            return np.stack([self._fitted_alone(basis, i) for i in spared])
        terms = self._terms[number]
        products = self._products[None] if spared == ALL else self._joined(spared)
        solved = np.linalg.solve(products[:, terms, terms], products[:, terms, -1:])
        return np.asarray(solved[:, :, 0] @ basis.T)

    def _joined(self, spared: list[int]) -> Floats:
        """The sums of products without each level: what lay between it and the one before comes on
        top.
        """
        at = np.array(spared)
        apart = self._means[at] - self._means[at - 1]
        share = self._mass[at - 1] / (self._mass[at - 1] + self._mass[at])
        apart *= np.sqrt(share * self._mass[at])[:, None]
        return np.asarray(self._products + apart[:, :, None] * apart[:, None, :])

    def _fitted_alone(self, basis: Floats, spared: int) -> Floats:
        starts = self._alone.starts
        if spared:
            starts = starts[:spared] + starts[spared + 1 :]
        return fitted(self._locations, 1 / self._scatter, basis, starts, self._alone.inside)

    def _unexplained(self, curves: Floats, spared: list[int]) -> Floats:
        """What is left beside each of `curves`, (rows, revisions), without level i each."""
        values = self._locations - curves
        rows = np.flatnonzero(spared)
        joined = np.array(spared)[rows]
        centres = self._medians(values, spared)

        def sums(one: Floats) -> Floats:
            each = np.add.reduceat(one, self._first, axis=1)
            if not len(rows):
                return each
            each[rows, joined] += each[rows, joined - 1]
            each[rows, joined - 1] = each[rows, joined]
            return each

        off = biweighted(values, self._scatter, self._level, centres, sums)
        inside = np.abs(off / self._scatter) < LEFT_OUT
        return unexplained(off, inside)

    def _medians(self, values: Floats, spared: list[int]) -> Floats:
        stops = [*self._alone.starts[1:], values.shape[1]]
        ends = list(zip(self._alone.starts, stops, strict=True))
        medians = np.stack([_median(values[:, start:stop]) for start, stop in ends], axis=1)
        for i in set(spared) - {0}:
            rows = [row for row, one in enumerate(spared) if one == i]
            whole = _median(values[rows, ends[i - 1][0] : ends[i][1]])
            medians[rows, i - 1] = medians[rows, i] = whole
        return medians


def _is_well_posed(products: Floats) -> bool:
    values = np.linalg.eigvalsh(products)
    return bool(values[0] > WELL_POSED * values[-1])


def _median(rows: Floats) -> Floats:
    ordered, size = np.sort(rows, axis=1), rows.shape[1]
    return np.asarray((ordered[:, (size - 1) // 2] + ordered[:, size // 2]) / 2)


def unexplained(off: Floats, inside: NDArray[np.bool_]) -> Floats:
    """Return what levels and the memory around them leave, as twice the negative log likelihood,
    row by row: `off` are the distances from levels, (rows, revisions), those not `inside` left out.

    Of innovations of an AR(1) process whose coefficient is that of the distances.
    """
    pairs = inside[:, 1:] & inside[:, :-1]
    now, before = off[:, 1:] * pairs, off[:, :-1] * pairs
    count = np.add.reduce(pairs, axis=1)
    squares = np.einsum("ij,ij->i", before, before)
    rho = np.einsum("ij,ij->i", now, before) / np.maximum(squares, FINEST**2)
    innovations = now - np.maximum(rho, 0.0)[:, None] * before
    left = np.einsum("ij,ij->i", innovations, innovations) / np.maximum(count, 1)
    return np.asarray(count * np.log(np.maximum(left, FINEST**2)))
