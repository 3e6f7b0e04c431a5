"""What the named commit leaves unexplained: a second change of either sign in the same range.

Once a commit leads, a search boots little else, and a smaller step elsewhere stays among the noise
of a few boots. The chance of two steps (`posterior`) leaves the size of the second open, so that it
hardly falls: a tiny one can never be excluded. Here the question has a size: a sequential
probability ratio test (Wald 1945) of a second step of `SHARE` of the alerted one, of either sign,
in any other gap between measured revisions, against everything with one step at most.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, log

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from webapp.stats.bisection.hypotheses import (
    EFFECT_SPREAD,
    SPREADS,
    WIDE_SPREAD,
    PairPrior,
    Pairs,
    Products,
    mixed,
    two_columns,
)
from webapp.stats.bisection.plan import Plan
from webapp.stats.bisection.tally import Tally
from webapp.stats.bisection.timeline import STATES

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

SHARE = 0.5
"""Of the alerted step: a second change of this size is looked for before one commit is named."""

ERROR = 0.12
"""α and β of that test. It has begun long before a commit leads, so that errors are rarer."""

BOUND = log((1 - ERROR) / ERROR)
"""The log likelihood ratio that decides it, either way."""

NOT_RULED_OUT = 0.95
"""What is said of the size of another change holds with this probability, if there is one."""


@dataclass(frozen=True, slots=True, eq=False)
class Sizes:
    """Of another change, a normal mixture: ``mean`` and ``sd`` (log percent), ``weight`` (K,)."""

    mean: Floats
    sd: Floats
    weight: Floats

    def largest(self) -> float:
        """The size, log percent of either sign, below which it is with `NOT_RULED_OUT`."""
        low, high = 0.0, float((np.abs(self.mean) + 5 * self.sd).max(initial=0.0))
        for _ in range(40):
            size = (low + high) / 2
            below = ndtr((size - self.mean) / self.sd) - ndtr((-size - self.mean) / self.sd)
            low, high = (low, size) if self.weight @ below >= NOT_RULED_OUT else (size, high)
        return high


@dataclass(frozen=True, slots=True, eq=False)
class Remainder:
    """``ratio``: log likelihood ratio of a second step; −∞ where no other gap is open.

    ``between``: the candidates (first, last) of its likeliest gap. ``largest``: how large any other
    change can still be, log percent of either sign (taken at an end alone).
    """

    ratio: float = -inf
    between: tuple[int, int] | None = None
    largest: Callable[[], float] = float

    @property
    def is_open(self) -> bool:
        """Neither a second step nor its absence is decided."""
        return -BOUND < self.ratio < BOUND


NONE = Remainder()


@dataclass(frozen=True, slots=True, eq=False)
class Steady:
    """What the boots of one series say where its machine stayed as it was.

    ``products`` of the columns of its cuts; ``gap_of`` (N,): the gap between measured slots of each
    candidate; ``log_one``: log evidence of all hypotheses with one step at most.
    """

    data: Tally
    products: Products
    gap_of: Indices
    log_one: float


def remainder_of(plan: Plan, seen: Steady, likeliest: int) -> Remainder:
    """What a step at the candidate ``likeliest`` leaves."""
    top, last = int(seen.gap_of[likeliest - 1]), seen.products.square.shape[-1] + 1
    gap_prior = np.bincount(seen.gap_of, seen.data.prior, last + 1)
    others = np.array([gap for gap in range(1, last) if gap != top and gap_prior[gap]], np.intp)
    if not (len(others) and 0 < top < last and gap_prior[top]):
        return NONE
    pairs = Pairs.of(seen.products, others - 1, np.full(len(others), top - 1))
    prior = np.log(gap_prior[others] / gap_prior[others].sum())
    by_place = np.logaddexp(*(_evidence(plan, seen, pairs, sign) for sign in (-1, 1)))
    by_place = by_place - log(2) + prior
    known = log(STATES[0].weight * (1 - plan.doubt) * float(gap_prior[top]))
    ratio = float(np.logaddexp.reduce(by_place)) + known - seen.log_one
    inside = np.flatnonzero(seen.gap_of == others[int(np.argmax(by_place))]) + 1
    between = int(inside[0]), int(inside[-1])
    return Remainder(ratio, between, lambda: _sizes(plan, seen, pairs, prior).largest())


def _evidence(plan: Plan, seen: Steady, pairs: Pairs, sign: int) -> Floats:
    """Log evidence (Q,) of a second step of one sign at the first columns of ``pairs``, with the
    first step at the others; both together are the alerted step, as in `hypotheses.pair_evidence`.
    """
    size = sign * SHARE * abs(plan.effect)
    spread = (EFFECT_SPREAD * size) ** 2
    found = []
    for share, chance in SPREADS:
        total = (share * plan.effect) ** 2
        prior = PairPrior((size, plan.effect - size), spread, -spread, total + spread)
        found.append((chance, two_columns(pairs, prior)))
    log_z = mixed(found).log_z + np.log(seen.data.nodes.weight)[:, None]
    return np.asarray(np.logaddexp.reduce(log_z, axis=0))


def _sizes(plan: Plan, seen: Steady, pairs: Pairs, chance: Floats) -> Sizes:
    """Of a change at each of the first columns, of which nothing is assumed, nor of the step."""
    free = (WIDE_SPREAD * plan.effect) ** 2
    prior = PairPrior((0.0, plan.effect), free, 0.0, free)
    fit = two_columns(pairs, prior)
    log_z = fit.log_z + np.log(seen.data.nodes.weight)[:, None] + chance
    weight = np.exp(log_z - log_z.max())
    return Sizes(fit.mean.ravel(), np.sqrt(fit.variance).ravel(), (weight / weight.sum()).ravel())
