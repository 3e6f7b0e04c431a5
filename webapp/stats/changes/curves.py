"""Series that move by and by: a trend or a slow wave, where it explains more than steps do.

Most curves that could bend a series do not pay. To see that takes no fit of each: all of them, and
all that are left where one level is spared, share sums of products (normal equations). Nothing is
reported from those sums: they only show which curves are worth a fit of their own.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate, pairwise
from math import inf, log, log1p

import numpy as np
from numpy.typing import NDArray

from webapp.stats.changes import turns
from webapp.stats.changes.points import FINEST, Floats, medians_of

TREND_PRICE, TERM_PRICE = 6.0, 6.0
"""What a trend, and each term of a wave, must save in twice the log likelihood. A step costs twice
as much, for it also has a place. With 12 for a trend, one in four series that lose 5 % over 200
revisions is not found by the 120th (`slow`); `stepping` guards the other side."""

BEND_PRICE = 3 * TERM_PRICE
"""What a trend that bends once costs: two slopes, and a place. A line alone makes a step of a bend:
where a series lost by and by from its ninth revision on, up to 85 % had a gain before that."""

BENDS, LEAST_BESIDE = 64, 4
"""Places of a bend that are tried, at most, and revisions that there must be on either side."""

TERMS, REVISIONS_A_TERM = (4, 8, 12), 12
"""Numbers of cosines that are tried (with n revisions the k-th has a period of 2 n / k), and the
revisions that there must be for each: shorter waves are levels."""

KEPT = 64
"""Lengths of series whose curves are kept: at most 75 kB each."""

WAVE_PRICE = 38.0
"""What a wave of one period costs: more than its terms and a place for the period (25), for levels
that return at equal distances look like one. With 30 one in four changes between levels of
thirty revisions is no longer found (`returning`); with 40 more is found in waves (`slow`)."""

A_WAVE, LEAST_PERIODS = 3, 2
"""What is estimated of it (two terms, and the period), and times that it must have been there: a
single hump is a level that came and went."""

FINER = 8
"""Periods that are tried for each one more in the whole series: at most 1/16 of a period is missed
in all, which leaves 1/78 of the wave's variance."""

LEAST_STEPS = 2
"""Steps from which on a wave may explain them better; a trend may explain one."""

WELL_POSED = 1e-9
"""Ratio of the least eigenvalue to the largest below which sums of products are not solved: where
levels are short and many, waves can hardly be distinguished from them."""

ALL = [0]
"""No level is spared: the first has none before it that it could be joined to."""

CURVE_PASSES = 3
"""Times that a curve and the levels beside it are fitted, at most."""

HOPELESS = 6 * turns.PENALTY
"""What a wave may cost more, after a turn, than the best that is known, to have another turn. Of
400 series, a third of them with waves or odd revisions, none ends otherwise than without; with four
times it are 3, with twice it 9."""

SPARED = 2 * turns.PENALTY
"""What a curve with one level less may leave unexplained more than with all of them, for fewer
levels to be looked for beside it. Of 800 series, half of them with slopes or waves, none ends
otherwise than where they are always looked for; with half of it two do."""

NEEDED = 3 * SPARED
"""The same by sums of squares alone (`Screen.least_loss`), which take a tenth of the time, from
which on no level is spared: in 3,392 cases of 510 series none with more than 64 was."""

FREED = 4 * turns.PENALTY
"""What steps that a curve does not need may make it cost, at most, beside the best that is known,
for them to be looked for. Of 600 series with slopes, waves, steps and walks, two waves beside many
steps end otherwise than where this and `SPARED` are no limits."""


def curves_of(
    values: Floats, weights: Floats, kept: NDArray[np.bool_], steps: int
) -> list[tuple[Floats, float]]:
    """Return the curves, (revisions, terms), to try for `values` that have so many steps, each with
    its price: a trend, one that bends, and where the series is long enough a wave of one period and
    slow waves.

    `weights` are reciprocals of standard deviations; revisions that are not `kept` do not count.
    """
    if not steps:
        return []
    (trend, *waves), bend = _bases(len(values)), bend_of(values, weights, kept)
    curves = [trend] if bend is None else [trend, (bend, BEND_PRICE)]
    if steps < LEAST_STEPS:
        return curves
    wave = wave_of(values, weights, kept)
    return [*curves, *waves] if wave is None else [*curves, (wave, WAVE_PRICE), *waves]


def bend_of(values: Floats, weights: Floats, kept: NDArray[np.bool_]) -> Floats | None:
    """Return the trend with the bend that explains most of `values`, (revisions, 2): a line, and
    what comes on top of it from the bend on. None for too few revisions.

    Arguments are those of `curves_of`.
    """
    count = len(values)
    places = np.arange(LEAST_BESIDE, count - LEAST_BESIDE, -(-count // BENDS))
    weight = np.where(kept, weights * weights, 0.0)
    index = (np.arange(count) + 0.5) / count
    bends = np.maximum(index[:, None] - index[places], 0.0)
    columns = np.column_stack([index, values, bends])
    columns -= weight @ columns / max(float(weight.sum()), np.finfo(float).tiny)
    # What the line explains is taken out of both sides, as in `fitted`.
    line, others = columns[:, 0], columns[:, 1:]
    along = float(weight @ (line * line))
    if not len(places) or not along:
        return None
    others -= np.outer(line, (weight * line) @ others / along)
    squares = np.maximum(weight @ (others[:, 1:] ** 2), WELL_POSED * along)
    explained = ((weight * others[:, 0]) @ others[:, 1:]) ** 2 / squares
    return np.column_stack([index - 0.5, bends[:, int(explained.argmax())]])


def index_of_bend(basis: Floats | None) -> int | None:
    """Return the revision at which a trend bends; None for other curves, or none."""
    if basis is None or basis.shape[1] != 2 or basis[:LEAST_BESIDE, 1].any():
        return None
    return int(np.flatnonzero(basis[:, 1])[0]) - 1


def wave_of(values: Floats, weights: Floats, kept: NDArray[np.bool_]) -> Floats | None:
    """Return cosine and sine, (revisions, 2), of the period that explains most of `values`.

    It is the highest peak of the periodogram (Schuster 1898). None where the series does not hold
    two of the shortest ones that are tried. Arguments are those of `curves_of`.
    """
    count = len(values)
    most = count * FINER // (A_WAVE * REVISIONS_A_TERM)
    least = LEAST_PERIODS * FINER
    weight = np.where(kept, weights * weights, 0.0)
    total = float(weight.sum())
    if most < least or not total:
        return None
    centred = weight * (values - float(weight @ values) / total)
    power = np.abs(np.fft.rfft(centred, FINER * count)[least : most + 1])
    often = (least + int(power.argmax())) / FINER
    angle = 2 * np.pi * often * np.arange(count) / count
    return np.column_stack([np.cos(angle), np.sin(angle)])


@lru_cache(maxsize=KEPT)
def _bases(count: int) -> list[tuple[Floats, float]]:
    """The trend, then the waves. Nobody writes to them."""
    index = (np.arange(count) + 0.5) / count
    curves = [((index - 0.5)[:, None], TREND_PRICE)]
    for terms in TERMS:
        if terms * REVISIONS_A_TERM <= count:
            waves = np.cos(np.pi * index[:, None] * np.arange(1, terms + 1))
            curves.append((waves, terms * TERM_PRICE))
    for curve, _ in curves:
        curve.setflags(write=False)
    return curves


def fitted(
    values: Floats, weights: Floats, basis: Floats, starts: list[int], kept: NDArray[np.bool_]
) -> Floats:
    """Return the curve of `basis` that fits values best beside levels that begin at `starts`.

    `weights` are reciprocals of standard deviations; revisions that are not `kept` do not count.
    """
    weight = np.where(kept, weights * weights, 0.0)
    # Levels are taken out of both sides first (Frisch and Waugh 1933): one column for each would
    # make a series of many levels cost a hundred times as much.
    both, _ = within_levels(np.column_stack([basis, values]), weight, starts)
    both *= np.sqrt(weight)[:, None]
    solution = np.linalg.lstsq(both[:, :-1], both[:, -1], rcond=None)[0]
    return np.asarray(basis @ solution)


def variances_of_gaps(weights: Floats, basis: Floats, starts: list[int]) -> Floats:
    """Return what the error of a curve of `basis` adds to the variance of each gap between levels.

    `weights` are reciprocals of standard deviations, 0 where a revision does not count. The means
    of levels are independent of the curve's coefficients, which are estimated inside levels: the
    gap of two has the variance of both means and that of what the curve makes of their distance.
    """
    within, means = within_levels(basis, weights * weights, starts)
    within *= weights[:, None]
    covariance = np.linalg.pinv(within.T @ within)
    apart = np.diff(means, axis=0)
    return np.asarray(np.einsum("ij,jk,ik->i", apart, covariance, apart))


def within_levels(columns: Floats, weight: Floats, starts: list[int]) -> tuple[Floats, Floats]:
    """Return columns less their weighted mean of each level, and those means, (levels, columns)."""
    level = turns.numbers_of(starts, len(columns))
    total = np.maximum(np.bincount(level, weight), np.finfo(float).tiny)
    means = np.stack([np.bincount(level, weight * one) / total for one in columns.T], axis=1)
    return columns - means[level], means


class Screen:
    """Curves beside the levels `alone` of log `locations`, (revisions,), or all of them but one.

    `scatter` is the standard deviation of each revision. `bases` are the curves, each
    (revisions, terms).
    """

    def __init__(
        self, locations: Floats, scatter: Floats, alone: turns.Fit, bases: Sequence[Floats]
    ) -> None:
        self._locations, self._scatter, self._alone, self._bases = locations, scatter, alone, bases
        self._first = np.array(alone.starts)
        self._level = turns.numbers_of(alone.starts, len(locations))
        weight = np.where(alone.inside, scatter**-2.0, 0.0)
        columns = np.column_stack([*bases, locations])
        self._mass = np.maximum(np.add.reduceat(weight, self._first), np.finfo(float).tiny)
        sums = np.add.reduceat(columns * weight[:, None], self._first, axis=0)
        self._means = sums / self._mass[:, None]
        columns -= self._means[self._level]
        self._products = (columns * weight[:, None]).T @ columns
        ends = accumulate((basis.shape[1] for basis in bases), initial=0)
        self._terms = [slice(*one) for one in pairwise(ends)]
        # With a level spared they only grow.
        self._is_well_posed = [
            _is_well_posed(self._products[terms, terms]) for terms in self._terms
        ]

    def beside_all(self) -> list[float]:
        """Return what each curve leaves unexplained beside all levels (`unexplained`)."""
        curves = [self._curves(number, ALL)[0] for number in range(len(self._bases))]
        left: list[float] = self._unexplained(np.stack(curves), ALL * len(curves)).tolist()
        return left

    def beside_fewer(self, number: int) -> list[float]:
        """Return the same of one curve with each level after the first joined to the one before."""
        spared = list(range(1, len(self._first)))
        left: list[float] = self._unexplained(self._curves(number, spared), spared).tolist()
        return left

    def least_loss(self, number: int) -> float:
        """Return a guess of what a curve leaves unexplained more, at least, without one level: by
        sums of squares, as if what it explained were memory. 0 where they do not show it.

        White noise to which something slow of v times its variance is added is nearly an AR(1)
        process whose innovations have (1 + 2 v) / (1 + v) times that variance, twice at most.
        """
        count = int(self._alone.inside.sum())
        if not self._is_well_posed[number] or count * log(2) < NEEDED:
            return 0.0
        terms, joined = self._terms[number], self._joined(list(range(1, len(self._first))))
        products = np.concatenate((self._products[None], joined))
        sides = products[:, terms, -1:]
        fitted_sides = np.linalg.solve(products[:, terms, terms], sides)
        left = products[:, -1, -1] - np.einsum("ijk,ijk->i", sides, fitted_sides)
        more = max(float((left[1:] - left[0]).min()), 0.0) / max(float(left[0]), FINEST**2)
        return count * log1p(more / (1 + more))

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

        off = turns.biweighted(values, self._scatter, self._level, centres, sums)
        inside = np.abs(off / self._scatter) < turns.LEFT_OUT
        return turns.unexplained(off, inside)

    def _medians(self, values: Floats, spared: list[int]) -> Floats:
        stops = [*self._alone.starts[1:], values.shape[1]]
        ends = list(zip(self._alone.starts, stops, strict=True))
        medians = np.array([medians_of(values[:, start:stop]) for start, stop in ends]).T
        for i in set(spared) - {0}:
            rows = [row for row, one in enumerate(spared) if one == i]
            whole = medians_of(values[rows, ends[i - 1][0] : ends[i][1]])
            medians[rows, i - 1] = medians[rows, i] = whole
        return medians


def _is_well_posed(products: Floats) -> bool:
    if len(products) == 1:
        return bool(products[0, 0] > 0)
    values = np.linalg.eigvalsh(products)
    return bool(values[0] > WELL_POSED * values[-1])


def unexplained(fit: turns.Fit) -> float:
    """What levels leave unexplained, and what they cost."""
    left = turns.unexplained(fit.off[None], fit.inside[None])
    return float(left[0]) + turns.PENALTY * (len(fit.starts) - 1)


def best_curve(
    locations: Floats, state: turns.NoiseState, alone: turns.Fit, known: float
) -> tuple[Floats, Floats | None]:
    """The curve that explains the series better than the levels `alone`, and than what is `known`
    to cost less, and its basis; 0 and None where none does.
    """
    chosen: tuple[Floats, Floats | None] = np.zeros(len(locations)), None
    best = min(unexplained(alone), known) - turns.LEAD
    curves = curves_of(locations, 1 / state.scatter, alone.inside, len(alone.starts) - 1)
    if not curves:
        return chosen
    everything = np.ones(len(locations), dtype=bool)
    screen = Screen(locations, state.scatter, alone, [basis for basis, _ in curves])
    mosts, of_steps = screen.beside_all(), turns.PENALTY * (len(alone.starts) - 1)
    for number, ((basis, price), most) in enumerate(zip(curves, mosts, strict=True)):
        # With all the levels it explains the most that it can.
        if most + price >= best:
            continue
        pays = most + of_steps + price < best
        if not pays and (
            screen.least_loss(number) >= NEEDED or min(screen.beside_fewer(number)) - most >= SPARED
        ):
            continue
        # A slope against the steps hides without them; a wave hides beside too many.
        search, is_trend = _Search(locations, state, basis), price <= BEND_PRICE
        for first, kept in (([0], everything), (alone.starts, alone.inside)):
            worst = inf if is_trend else best - price + HOPELESS
            curve, left = search.beside(first, kept, worst)
            cost = unexplained(left) + price
            # Half of a wave with a step either way beside it would pass for a wave and a half.
            if is_trend and cost - min(turns.PENALTY * (len(left.starts) - 1), FREED) < best:
                curve, left = search.spared(curve, left)
                cost = unexplained(left) + price
            if cost < best:
                best, chosen = cost, (curve, basis)
    return chosen


@dataclass(frozen=True, slots=True)
class _Search:
    """Curves of a basis and the levels beside them, and those that are known by now: by levels and
    revisions they were fitted to (another first guess may come to them).
    """

    locations: Floats
    state: turns.NoiseState
    basis: Floats
    known: dict[tuple[tuple[int, ...], bytes], tuple[Floats, turns.Fit]] = field(
        default_factory=dict
    )

    def spared(self, curve: Floats, fit: turns.Fit) -> tuple[Floats, turns.Fit]:
        """The trend and its levels, without those that cost more than they explain.

        By turns curve and levels share between them what either could explain: a slope that was
        fitted beside steps too many stays too flat, and keeps them.
        """
        while len(fit.starts) > 1:
            screen = Screen(self.locations, self.state.scatter, fit, [self.basis])
            joined = screen.beside_fewer(0)
            at = int(np.argmin(joined)) + 1
            if joined[at - 1] + turns.PENALTY * (len(fit.starts) - 2) >= unexplained(fit) + SPARED:
                break
            other, fewer = self.beside([*fit.starts[:at], *fit.starts[at + 1 :]], fit.inside, inf)
            if unexplained(fewer) >= unexplained(fit):
                break
            curve, fit = other, fewer
        return curve, fit

    def beside(
        self, starts: list[int], kept: NDArray[np.bool_], most: float
    ) -> tuple[Floats, turns.Fit]:
        """The curve, and the levels that are left with it.

        It is fitted first beside levels that begin at `starts`, to the revisions that are `kept`.
        What leaves more than `most` unexplained after a turn has no other.
        """
        for _ in range(CURVE_PASSES):
            key = tuple(starts), kept.tobytes()
            if key not in self.known:
                scatter = self.state.scatter
                curve = fitted(self.locations, 1 / scatter, self.basis, starts, kept)
                flat = self.locations - curve
                fit = turns.fit_levels(flat, scatter, turns.starts_of(flat, self.state))
                self.known[key] = curve, fit
            curve, fit = self.known[key]
            is_settled = fit.starts == starts and np.array_equal(fit.inside, kept)
            starts, kept = fit.starts, fit.inside
            if is_settled or (most < inf and unexplained(fit) > most):
                break
        return curve, fit
