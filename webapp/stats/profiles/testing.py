"""The test of a function's change: of its share of the samples, and of what it costs per packet.

A boot is one observation. Shares are tested on the scale u = arcsin √p, on which samples alone
give the variance 1/(4 N) whatever the share p; var(p) = 4 p (1 − p) var(u). The cost of a function
is p c, with c the cost of a packet, so that

    var(p c) = c² var(p) + p² var(c) + 2 p c cov(p, c),

in which var(u) is moderated (`webapp.stats.profiles.testing`) and the others come from the
sides' own boots; degrees of freedom add up by Satterthwaite's formula. A negative covariance is
not used.

Variances of many functions, each from few boots, moderated towards functions of like share.

The empirical Bayes of Smyth (2004), "Linear models and empirical Bayes methods for assessing
differential expression in microarray experiments", with a prior that follows the share as in the
``limma-trend`` of Law et al. (2014): a variance s² of d degrees of freedom estimates a true one
that is a scaled inverse chi-squared variable, of d₀ degrees of freedom, around a trend s₀². The
moderated variance (d₀ s₀² + d s²) / (d₀ + d) has d₀ + d degrees of freedom.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import digamma, fdtri, polygamma, stdtr, stdtrit

from webapp.stats.arrays import Bools, Floats, Ints
from webapp.stats.profiles.costs import Basis, Rates

MOST_FREEDOM = 60.0
"""The most degrees of freedom that functions of like share lend: they scatter together.

Nor more than all of theirs over the parameters of the trend, which is itself an estimate.
"""

FEWEST = 8
"""With fewer functions to learn from, each has its own variance alone."""

CURVED = 40
"""From so many functions on the logarithm of the trend is a parabola, else a line."""


@dataclass(frozen=True, slots=True)
class Prior:
    """The trend of log variance on log share (a polynomial), and its degrees of freedom."""

    trend: tuple[float, ...]
    freedom: float
    inside: tuple[float, float]

    def at(self, share: Floats) -> Floats:
        """The variance expected at each share."""
        position = np.clip(_log(share), *self.inside)
        found: Floats = np.exp(np.polyval(np.array(self.trend), position))
        return found


def learned(variance: Floats, freedom: Floats, share: Floats, chosen: Bools) -> Prior:
    """The prior that ``chosen`` functions suggest.

    All are (F): variances, their degrees of freedom, shares (0 to 1). The degrees of freedom of
    the prior are 0 where there are too few functions to learn from.
    """
    use = chosen & (freedom > 0) & (variance > 0) & (share > 0)
    count = int(use.sum())
    if count < FEWEST:
        return Prior((0.0,), 0.0, (0.0, 0.0))
    half = freedom[use] / 2
    logs = np.log(variance[use]) - digamma(half) + np.log(half)
    position = _log(share[use])
    degree = 2 if count >= CURVED else 1
    trend = np.polyfit(position, logs, degree)
    rest = logs - np.polyval(trend, position)
    spread = float((rest**2).sum() / (count - degree - 1) - polygamma(1, half).mean())
    most = min(MOST_FREEDOM, float(freedom[use].sum()) / (degree + 1))
    lent = min(2 * _trigamma_inverse(spread), most) if spread > 0 else most
    trend[-1] += float(digamma(lent / 2) - np.log(lent / 2))
    return Prior(tuple(trend.tolist()), lent, (float(position.min()), float(position.max())))


def moderated(variance: Floats, freedom: Floats, expected: Floats, lent: float) -> Floats:
    """The moderated variances; where nothing is known at all, NaN."""
    total = freedom + lent
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Floats = (lent * expected + freedom * variance) / total
    return found


def _log(share: Floats) -> Floats:
    position: Floats = np.log(np.maximum(share, 1e-9))
    return position


def _trigamma_inverse(value: float) -> float:
    """The x with trigamma(x) = ``value`` > 0, by Newton's method (Smyth 2004, appendix)."""
    if value > 1e7:
        return float(1 / np.sqrt(value))
    at = 0.5 + 1 / value
    for _ in range(50):
        found = float(polygamma(1, at))
        step = found * (1 - found / value) / float(polygamma(2, at))
        at += step
        if -step / at < 1e-8:
            break
    return at


TESTED = 0.002
"""Functions are tested whose share on both sides' sum reaches it (0.2 %)."""

LEVEL = 0.95
"""Of intervals."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What one side shows: the share of F functions in each of n boots, as (n, F).

    ``floor`` is the variance of arcsin √share that samples alone give in a mean boot.
    """

    shares: Floats
    rates: Rates
    floor: float

    @property
    def boots(self) -> int:
        """How many boots."""
        return len(self.shares)

    @property
    def share(self) -> Floats:
        """The mean share of each function (F)."""
        mean: Floats = self.shares.mean(axis=0)
        return mean

    @property
    def cost(self) -> Floats:
        """The mean cost of each function (F), in percent of side A's packet."""
        mean: Floats = (self.shares * self.rates.cost[:, None]).mean(axis=0)
        return mean

    def residuals(self) -> Floats:
        """Deviations of arcsin √share from its mean over boots (n, F)."""
        angles = np.arcsin(np.sqrt(np.clip(self.shares, 0, 1)))
        rest: Floats = angles - angles.mean(axis=0)
        return rest

    def joined(self, groups: Sequence[Ints]) -> "Seen":
        """The same of groups of functions, each as one."""
        shares = [self.shares[:, group].sum(axis=1) for group in groups]
        return Seen(np.stack(shares, axis=1), self.rates, self.floor)


@dataclass(frozen=True, slots=True)
class Tested:
    """Of each function (F): change in percent of A's packet, its standard error and interval.

    ``freedom`` are the degrees of freedom of ``error``; ``p_value`` is that of the claim that
    cost and share both changed, in the same direction (NaN where they did not).
    """

    change: Floats
    error: Floats
    freedom: Floats
    p_value: Floats

    def interval(self) -> tuple[Floats, Floats]:
        """The 95 % interval of the change."""
        half = stdtrit(self.freedom, 0.5 + LEVEL / 2) * self.error
        return self.change - half, self.change + half


@dataclass(frozen=True, slots=True)
class Scatter:
    """How functions scatter between boots: of arcsin √share, moderated (F)."""

    variance: Floats
    freedom: Floats
    prior: Prior


def own_scatter(sides: Sequence[Seen]) -> tuple[Floats, Floats]:
    """Variances of arcsin √share between the boots of a side, and their degrees of freedom (F).

    A side that never shows a function does not inform on how it scatters.
    """
    squares = sum((side.residuals() ** 2).sum(axis=0) for side in sides)
    freedom = sum((side.boots - 1) * (side.share > 0) for side in sides) + np.zeros(1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(freedom > 0, squares / freedom, 0.0), freedom


def scatter_of(
    a: Seen, b: Seen, history: tuple[Floats, Floats] | None, chosen: Bools, prior: Prior | None
) -> Scatter:
    """The scatter between boots of functions on two sides.

    ``history`` are variances and degrees of freedom of the same functions in earlier profiles of
    the machine, ``chosen`` (F) the functions to learn a prior from where none is given.
    """
    variance, freedom = own_scatter([a, b])
    if history is not None:
        variance, freedom = _with_history(variance, freedom, history, chosen)
    share = (a.share + b.share) / 2
    floor = (a.floor * a.boots + b.floor * b.boots) / (a.boots + b.boots)
    prior = prior or learned(np.maximum(variance, floor / 100), freedom, share, chosen)
    found = moderated(variance, freedom, prior.at(share), prior.freedom)
    return Scatter(np.maximum(found, floor), freedom + prior.freedom, prior)


def _with_history(
    variance: Floats, freedom: Floats, history: tuple[Floats, Floats], chosen: Bools
) -> tuple[Floats, Floats]:
    """Add a history's degrees of freedom; where boots scatter more today, its variances grow."""
    past, years = history
    both = chosen & (freedom > 0) & (years > 0) & (past > 0)
    by_chance = fdtri(freedom[both], years[both], 0.5)
    ratios = variance[both] / past[both] / by_chance
    grown = max(float(np.median(ratios)), 1.0) if both.any() else 1.0
    total = freedom + years
    with np.errstate(invalid="ignore", divide="ignore"):
        mixed = (freedom * variance + years * past * grown) / total
    return np.where(total > 0, mixed, 0.0), total


def tested(a: Seen, b: Seen, scatter: Scatter, basis: Basis, chosen: Bools) -> Tested:
    """Test each function (F); ``chosen`` are those that a typical function is sought among."""
    of_share = _spread(a, b, scatter)
    change = b.cost - a.cost
    freedom = scatter.freedom
    p_share = _p_value(b.share - a.share, np.sqrt(sum(of_share)), freedom)
    if basis.is_cost:
        error, total = _cost_error(a, b, of_share, scatter)
        p_other, other = _p_value(change, error, total), change
        same = np.sign(b.share - a.share) == np.sign(change)
    else:
        error, total = 100 * np.sqrt(sum(of_share)), freedom
        p_other, other = _relative(a, b, of_share, freedom, chosen)
        same = np.sign(other) == np.sign(change)
    p_value = np.where(same, np.maximum(p_share, p_other), np.nan)
    return Tested(change, error, total, p_value)


def _spread(a: Seen, b: Seen, scatter: Scatter) -> tuple[Floats, Floats]:
    """The variances of both sides' mean shares."""
    found = [4 * one.share * (1 - one.share) * scatter.variance / one.boots for one in (a, b)]
    return found[0], found[1]


def _p_value(change: Floats, error: Floats, freedom: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Floats = 2 * stdtr(freedom, -np.abs(change) / error)
    return np.where(error > 0, found, np.nan)


def _cost_error(
    a: Seen, b: Seen, of_share: tuple[Floats, Floats], scatter: Scatter
) -> tuple[Floats, Floats]:
    """Standard errors of changes of cost, and their degrees of freedom by Satterthwaite."""
    moved, freedom = _rate_scatter(a, b)
    parts = []
    for side, share in ((a, of_share[0]), (b, of_share[1])):
        cost = float(side.rates.cost.mean())
        lean = 2 * np.sqrt(np.clip(side.share * (1 - side.share), 0, None)) * side.share
        boots = cost**2 * (side.share**2 * moved[0] + 2 * lean * moved[1]) / side.boots
        parts.append((cost**2 * share, scatter.freedom))
        parts.append((boots, np.full_like(boots, max(freedom, 1.0))))
        common = side.cost**2 * side.rates.common
        parts.append((common, np.full_like(common, max(side.rates.freedom, 1.0))))
    shares = parts[0][0] + parts[3][0]
    rates = parts[1][0] + parts[4][0]
    terms = [(shares, parts[0][1]), (rates, parts[1][1]), parts[2], parts[5]]
    total = sum(term for term, _ in terms) + np.zeros(1)
    with np.errstate(invalid="ignore", divide="ignore"):
        below = sum(term**2 / degrees for term, degrees in terms)
        degrees = np.where(below > 0, total**2 / below, scatter.freedom)
    return np.sqrt(total), degrees


def _rate_scatter(a: Seen, b: Seen) -> tuple[tuple[float, Floats], float]:
    """Between boots: the variance of the logarithm of a packet's cost, its covariance with
    arcsin √share (F; not below 0), and the degrees of freedom of both.
    """
    freedom = a.boots + b.boots - 2
    logs = []
    for side in (a, b):
        cost = np.log(side.rates.cost)
        logs.append(cost - cost.mean())
    rest = [side.residuals() for side in (a, b)]
    if freedom < 1:
        return (0.0, np.zeros(a.shares.shape[1])), 0.0
    variance = sum(float((one**2).sum()) for one in logs) / freedom
    together = sum((one[:, None] * of).sum(axis=0) for one, of in zip(logs, rest, strict=True))
    return (variance, np.maximum(together / freedom, 0.0)), float(freedom)


def _relative(
    a: Seen, b: Seen, of_share: tuple[Floats, Floats], freedom: Floats, chosen: Bools
) -> tuple[Floats, Floats]:
    """Without rates: p-values and changes against the typical function, whose cost is taken for
    unchanged (the median of ratios: Anders and Huber 2010). Else every function would gain share
    when another loses it.
    """
    use = chosen & (a.share > 0) & (b.share > 0)
    if not use.any():
        return np.ones_like(freedom), b.share - a.share
    ratios = np.log(b.share[use] / a.share[use])
    typical = float(np.median(ratios))
    spread = 1.4826 * float(np.median(np.abs(ratios - typical)))
    common = np.pi / 2 * spread**2 / use.sum()
    back = float(np.exp(-typical))
    change = b.share * back - a.share
    variance = of_share[0] + back**2 * (of_share[1] + b.share**2 * common)
    return _p_value(change, np.sqrt(variance), freedom), change
