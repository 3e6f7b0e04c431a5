"""Several commits that made what was alerted as one step: how likely that is, and which they are.

How likely is `posterior.TWO_STEPS_PRIOR` and what boots make of it. How many they are and how the
loss is shared nothing tells beforehand: see `Culprits`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from webapp.stats.bisection.believed import Believed
from webapp.stats.bisection.hypotheses import EFFECT_SPREAD
from webapp.stats.bisection.posterior import TWO_STEPS_PRIOR, Posterior
from webapp.stats.bisection.remainder import SHARE

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

THREE = 0.5
"""Chance that several are three and not two. A rough guess: nothing is known of it."""

LEAST_SHARE = SHARE / 2
"""Of the loss, for a commit to share it: less is nearer to no second change than to the one that is
looked for before a commit is named."""

OPPOSITE = 1 / 3
"""Share of draws, once boots tell anything, in which one commit undoes a part of the other's loss.
Beforehand it is left out: it makes one step larger than alerted, which is found soon."""

DRAWS = 4000
"""Sets of commits that are weighed against the boots, of which forecasts draw theirs."""


def chance_of_several(now: Posterior, prior: Floats) -> float:
    """``now.two``, and that another one lies in the gap of the first, where no boot tells them
    apart so far. ``prior`` (N,) of the candidates, of sum 1.
    """
    gaps = np.bincount(now.gap_of, now.candidates)
    near = float(gaps @ np.bincount(now.gap_of, prior))
    return now.two + (1 - now.two) * TWO_STEPS_PRIOR * near


@dataclass(frozen=True, slots=True, eq=False)
class Culprits:
    """Q sets of up to three commits: ``indices`` (Q, 3), behind the candidates where there are two;
    ``sizes``: for each series (Q, 3) in log percent; ``chance`` (Q,) by the prior and all boots.
    """

    indices: Indices
    sizes: tuple[Floats, ...]
    chance: Floats

    @classmethod
    def of(
        cls,
        series: Sequence[Believed],
        now: Posterior,
        moves: Sequence[float],
        rng: np.random.Generator,
    ) -> "Culprits | None":
        """``moves``: the chance, before any boot, that the commits move each series. Those that
        move none are left out. None with one candidate only.
        """
        prior = series[0].data.prior
        if int((prior > 0).sum()) < 2:
            return None
        indices, log_chance = _indices(prior, now, rng)
        shares = _shares(indices, len(prior), any(one.begin for one in series), rng)
        sizes = []
        moved = rng.random((len(series), DRAWS)) < np.array(moves)[:, None]
        log_chance = np.where(moved.any(axis=0), log_chance, -np.inf)
        for one, its in zip(series, moved, strict=True):
            spread = EFFECT_SPREAD * rng.standard_normal(DRAWS)
            total = one.plan.effect * (1 + spread) * its
            sizes.append(total[:, None] * shares)
            log_chance = log_chance + np.logaddexp.reduce(
                one.log_steady(indices, sizes[-1]), axis=0
            )
        chance = np.exp(log_chance - log_chance.max())
        return cls(indices, tuple(sizes), chance / chance.sum())

    def draw(self, rng: np.random.Generator) -> tuple[Indices, tuple[Floats, ...]]:
        """The indices of one set, and for each series the sizes."""
        number = int(rng.choice(len(self.chance), p=self.chance))
        return self.indices[number], tuple(sizes[number] for sizes in self.sizes)


def _indices(prior: Floats, now: Posterior, rng: np.random.Generator) -> tuple[Indices, Floats]:
    """Commits by the prior, and the logarithm of what their draws are to be weighed with.

    Half of the first ones are drawn where one commit would be looked for, so that boots agree with
    more of the draws.
    """
    lead = now.candidates + np.finfo(np.float64).tiny
    drawn_from = (prior + lead / lead.sum()) / 2
    first = rng.choice(len(prior), DRAWS, p=drawn_from / drawn_from.sum())
    others = rng.choice(len(prior), (DRAWS, 2), p=prior)
    third = np.where(rng.random(DRAWS) < THREE, others[:, 1], len(prior))
    indices = np.column_stack([first, others[:, 0], third])
    a, b, c = indices.T
    with np.errstate(divide="ignore"):
        log_chance = np.log(prior[first] / drawn_from[first])
    same = (a == b) | (a == c) | (b == c)
    return indices + 1, np.where(same, -np.inf, log_chance)


def _shares(indices: Indices, commits: int, measured: bool, rng: np.random.Generator) -> Floats:
    """What each of a set has of the whole loss, (DRAWS, 3): any split is as likely as another."""
    three = indices[:, 2] <= commits
    rest = 1 - 3 * LEAST_SHARE
    shares = LEAST_SHARE + rest * rng.dirichlet(np.ones(3), DRAWS)
    first = LEAST_SHARE + (1 - 2 * LEAST_SHARE) * rng.random(DRAWS)
    if measured:
        undone = rng.random(DRAWS) < OPPOSITE
        larger = 1 + LEAST_SHARE + (1 - LEAST_SHARE) * rng.random(DRAWS)
        first = np.where(undone, np.where(rng.random(DRAWS) < 0.5, larger, 1 - larger), first)
    two = np.column_stack([first, 1 - first, np.zeros(DRAWS)])
    return np.where(three[:, None], shares, two)
