"""Which revision to measure next: the largest expected loss of entropy per hour.

One more boot at revision r is a noisy answer to "is r before or after the step?": with
q = P(after) it loses on average I(q, d') = h(q) − E[h(q | answer)] bits, where d' is the distance
of both answers in standard deviations. A build that has weight w already (Σ 1/variance of its
boots) has shown most of its own effect, so that

    d' = |δ| / (1 + σ²build·w) / sqrt(v + σ²build / (1 + σ²build·w))

which is why the fifth boot of a build informs less than the first boot of its neighbour. Measuring
where the expected loss is largest: Lindley 1956; for a search with noisy answers it is the median
of the posterior when all answers are equally good (Horstein 1963; Jedynak, Frazier, Sznitman 2012).
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

from webapp.stats.arrays import Bools, Floats, Indices
from webapp.stats.bisection.confirming import Case, Measure
from webapp.stats.bisection.plan import Plan, Purpose
from webapp.stats.bisection.posterior import Posterior

ANSWER_NODES = 16
"""Gauss-Hermite nodes for the expectation over an answer."""
MOST_BRANCHES = 32
"""Combinations of answers of boots under way that are thought through; the likeliest are kept."""
MOST_REVISIONS = 96
"""Revisions looked at: all of them, or as many quantiles of the posterior."""
POSSIBLE, LIKELY = 0.15, 0.5
"""Chances that the lab did not stay as it was, from which anchors are booted."""
EVERY_POSSIBLE, EVERY_LIKELY = 5, 3
"""One boot in so many is an anchor then."""


@dataclass(frozen=True, slots=True)
class Option:
    """One more boot of revision ``index``, of a new build if ``rebuild``; expected loss in bits."""

    index: int
    rebuild: bool
    bits: float


@dataclass(slots=True)
class Outlook:
    """What is believed after the boots under way, as branches of their possible answers.

    ``chances`` (branches, N + 1): c_1 … c_N, none. ``likely`` (branches,) adds up to 1.
    ``weight`` (N + 1,): Σ 1/variance of the newest build of each revision.
    """

    chances: Floats
    likely: Floats
    weight: Floats
    built: Bools
    variance: float
    build_variance: float
    step: float


def look_ahead(case: Case, now: Posterior) -> Outlook:
    """What ``now`` expects with nothing under way, after the boots that count."""
    plan = case.plan
    chances = np.append(now.candidates, now.none)
    weight = np.zeros(plan.bad + 1)
    newest: dict[int, str] = {}
    for boot in case.data.counted:
        if 0 <= boot.index <= plan.bad:
            if newest.setdefault(boot.index, boot.build) != boot.build:
                newest[boot.index], weight[boot.index] = boot.build, 0.0
            weight[boot.index] += 1 / plan.noise.boot_variance(boot.runs)
    return Outlook(
        chances=(chances / chances.sum())[None, :],
        likely=np.ones(1),
        weight=weight,
        built=weight > 0,
        variance=now.boot_sd**2,
        build_variance=now.build_sd**2,
        step=abs(now.effect),
    )


def expect(outlook: Outlook, index: int, *, rebuild: bool) -> None:
    """Take a boot that is under way into account: each branch splits into both answers."""
    after = outlook.chances[:, :index].sum(axis=1)
    weight = 0.0 if rebuild else float(outlook.weight[index])
    distance = float(_distances(outlook, np.array([weight]))[0])
    drop = np.exp(-0.5 * distance * distance)
    is_after = np.arange(outlook.chances.shape[1]) < index
    branches = [outlook.chances * np.where(is_after == yes, 1.0, drop) for yes in (True, False)]
    chances = np.concatenate(branches)
    likely = np.concatenate([outlook.likely * after, outlook.likely * (1 - after)])
    keep = np.argsort(-likely, kind="stable")[:MOST_BRANCHES]
    keep = keep[likely[keep] > 0]
    outlook.chances = chances[keep] / chances[keep].sum(axis=1, keepdims=True)
    outlook.likely = likely[keep] / likely[keep].sum()
    outlook.weight[index] = weight + 1 / outlook.variance
    outlook.built[index] = True


def best_option(plan: Plan, outlook: Outlook, skipped: frozenset[int]) -> Option | None:
    """The measurement with most bits per hour, the earlier revision of equals; or None."""
    revisions = _revisions(outlook, skipped)
    if not len(revisions):
        return None
    after = np.cumsum(outlook.chances[:, :-1], axis=1)
    after = np.concatenate([np.zeros((len(after), 1)), after], axis=1)[:, revisions]
    built = outlook.built[revisions]
    new = ~built & ~np.isin(revisions, list(plan.cached)) if plan.cached else ~built
    cost: Floats = plan.costs.boot + plan.costs.build * new.astype(np.float64)
    best = _best(outlook, revisions, after, outlook.weight[revisions], cost, rebuild=False)
    if not plan.can_rebuild or not built.any():
        return best[1]
    count = int(built.sum())
    anew = np.full(count, plan.costs.boot + plan.costs.build)
    again = _best(outlook, revisions[built], after[:, built], np.zeros(count), anew, rebuild=True)
    return again[1] if again[0] > best[0] else best[1]


def mutual_information(q: Floats, distance: Floats) -> Floats:
    """I(q, d') in bits between a truth of chance ``q`` and a normal answer at 0 or at ``d'``.

    E over answers by Gauss-Hermite quadrature, half of it from each truth; arrays broadcast.
    """
    scores, weights = _quadrature()
    q, distance = np.broadcast_arrays(q, distance)
    prior = np.clip(q, 1e-300, 1 - 1e-16)
    odds = np.log(prior / (1 - prior))[..., None]
    d = distance[..., None]
    expected: Floats = np.zeros(q.shape)
    for share, log_odds in (
        (prior, odds + d * scores + d * d / 2),
        (1 - prior, odds + d * scores - d * d / 2),
    ):
        expected = expected + share * (_entropy_of_odds(log_odds) @ weights)
    return np.maximum(_entropy_of_odds(odds)[..., 0] - expected, 0.0)


def anchors(case: Case) -> list[Measure]:
    """The anchor that is due, if any: of the two ends the one whose last boot is longer ago."""
    doubt = case.now.lab.unsteady
    if not case.wanted or doubt < POSSIBLE:
        return []
    every = EVERY_LIKELY if doubt >= LIKELY else EVERY_POSSIBLE
    ends = {0: case.measurable(0), case.data.first_bad: case.measurable(case.data.first_bad)}
    order = [case.slot(boot.index) for boot in case.fresh]
    order += [case.slot(measure.index) for measure in case.pending]
    last = {
        slot: max((at for at, each in enumerate(order, 1) if each == slot), default=0)
        for slot, known in ends.items()
        if known
    }
    if not last or len(order) - max(last.values()) < every - 1:
        return []
    oldest = min(last, key=lambda slot: last[slot])
    return [Measure(ends[oldest][0], Purpose.ANCHOR)]


def _best(
    outlook: Outlook,
    revisions: Indices,
    after: Floats,
    weight: Floats,
    cost: Floats,
    *,
    rebuild: bool,
) -> tuple[float, Option]:
    """Bits per hour, and the option; rounded, so that equals stay equal on every machine."""
    bits = _expected_loss(outlook, after, weight)
    rate = np.round(bits / cost, 10)
    first = int(np.argmax(rate))
    return float(rate[first]), Option(int(revisions[first]), rebuild, float(bits[first]))


def _revisions(outlook: Outlook, skipped: frozenset[int]) -> Indices:
    count = outlook.chances.shape[1]
    if count <= MOST_REVISIONS:
        chosen = np.arange(count)
    else:
        mean = outlook.likely @ outlook.chances
        below = np.cumsum(mean[:-1])
        quantiles = np.searchsorted(
            below, (np.arange(MOST_REVISIONS) + 0.5) / MOST_REVISIONS * below[-1]
        )
        chosen = np.unique(
            np.concatenate(
                [quantiles, quantiles + 1, [0, count - 1], np.flatnonzero(outlook.built)]
            )
        )
        chosen = chosen[chosen < count]
    return chosen[~np.isin(chosen, list(skipped))] if skipped else chosen


def _distances(outlook: Outlook, weight: Floats) -> Floats:
    shown = 1 + outlook.build_variance * weight
    return np.asarray(
        outlook.step / shown / np.sqrt(outlook.variance + outlook.build_variance / shown)
    )


def _expected_loss(outlook: Outlook, after: Floats, weight: Floats) -> Floats:
    """Bits lost on average by one boot at each revision: (branches, P), (P,) → (P,)."""
    bits = mutual_information(after, _distances(outlook, weight)[None, :])
    return np.asarray(outlook.likely @ bits)


def _entropy_of_odds(log_odds: Floats) -> Floats:
    """Entropy (bits) of a yes or no whose log odds are given; exact in both tails."""
    size = np.abs(log_odds)
    small = np.exp(-size)
    return np.asarray((np.log1p(small) + size * small / (1 + small)) / np.log(2))


@cache
def _quadrature() -> tuple[Floats, Floats]:
    scores, weights = np.polynomial.hermite_e.hermegauss(ANSWER_NODES)
    return scores, weights / weights.sum()
