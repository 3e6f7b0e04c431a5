"""Boots reduced to what the posterior needs: one line a build, in the order of the tree."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from math import log, sqrt
from statistics import median

import numpy as np

from webapp.stats import OutOfRangeError
from webapp.stats.arrays import Bools, Floats, Indices
from webapp.stats.bisection.noise import NoiseNodes, noise_nodes
from webapp.stats.bisection.plan import LEAST_WEIGHT, PERSON, Boot, Evidence, Plan, Purpose

OUTLIER_SCORE = 6.0
"""Standard deviations beyond both levels; chance reaches that once in a billion boots."""
LEAST_BOOTS = 3
"""Of an end, before its median is a level that one odd boot does not move."""
SHARES = np.array([0.01, 0.03, 0.1, 0.2])
SHARES_PRIOR = np.array([0.5, 0.3, 0.15, 0.05])
"""Possible shares of boots that go wrong, and their prior: most labs have few."""
STRANGE_BUILD = 3e-3
"""Prior chance that a build has a level far beyond both ends'."""
MOST_SHARE = 1 / 3
"""Of the bisect's own boots: beyond it nothing is set aside, and the noise shows what is wrong."""
MAD_TO_SD = 1.4826
"""A normal standard deviation over the median absolute deviation."""


@dataclass(frozen=True, slots=True)
class Tally:
    """Sufficient statistics of B builds, sorted by slot, for S nodes of the noise.

    ``by_history`` are the nodes as its history gives them, ``nodes`` the same and builds that
    scatter by more.

    ``slot[b]``: the last candidate that can matter up to the build's revision (0: none, the
    level is the good one). ``boots[b]`` and ``mean[b]``, from that of all. ``base[s]`` is the log
    evidence of the scatter inside builds, ``weights[s, b]`` the precision of a build's mean around
    its level. ``prior[j − 1]`` adds up to 1, as does ``equal``, without the plan's
    weights. ``slots``: the slot of each revision 0 … N. ``counted`` are the boots behind it all,
    ``odd`` the numbers of those in the evidence that were set aside.
    """

    slot: Indices
    boots: Indices
    mean: Floats
    base: Floats
    weights: Floats
    by_history: NoiseNodes
    nodes: NoiseNodes
    prior: Floats
    equal: Floats
    slots: Indices
    first_bad: int
    counted: tuple[Boot, ...]
    odd: tuple[int, ...]


def tally(plan: Plan, evidence: Evidence) -> Tally:
    """Reduce ``evidence``; raises `OutOfRangeError` for a build whose revisions could differ."""
    prior, equal = _prior_weights(plan, evidence)
    slots = _slots(prior)
    odd = outlier_boots(plan, evidence.boots, int(np.searchsorted(slots, slots[-1])))
    counted = tuple(boot for i, boot in enumerate(evidence.boots) if i not in odd)
    places = {index: slot_of(slots, index) for index in {boot.index for boot in counted}}
    rows = build_rows(plan, counted, places.__getitem__)
    slot, boots, precision, mean, _, _ = rows.T
    by_history = noise_nodes(plan.noise, 0.0)
    origin = float(precision @ mean / precision.sum()) if len(mean) else 0.0
    return Tally(
        slot=slot.astype(np.intp),
        boots=boots.astype(np.intp),
        mean=mean - origin,
        base=inside_builds(rows, by_history),
        weights=precisions(rows, by_history),
        by_history=by_history,
        nodes=noise_nodes(plan.noise, plan.effect),
        prior=prior / prior.sum(),
        equal=equal / equal.sum(),
        slots=slots,
        first_bad=int(slots[-1]),
        counted=counted,
        odd=odd,
    )


def slot_of(slots: Indices, index: int) -> int:
    """The slot of a revision, history's neighbours included."""
    return int(slots[min(max(index, 0), len(slots) - 1)])


def precisions(rows: Floats, nodes: NoiseNodes) -> Floats:
    """Of the mean of each of B builds around its level, for S nodes of the noise: (S, B)."""
    return np.asarray(1 / (nodes.build[:, None] + nodes.within[:, None] / rows[None, :, 2]))


def inside_builds(rows: Floats, nodes: NoiseNodes) -> Floats:
    """Log evidence (S,) of the scatter inside builds, for S nodes of the noise."""
    scale = nodes.within[:, None]
    _, boots, precision, _, rss, log_variance = rows.T
    scatter = log_variance + boots * np.log(scale) + rss / scale + np.log(precision / scale)
    return np.asarray(-0.5 * scatter.sum(axis=1))


def build_rows(plan: Plan, boots: Sequence[Boot], position_of: Callable[[int], int]) -> Floats:
    """Position, boots, precision, mean, Σ(y − mean)²/v and Σ log v of each build, (B, 6), in order.

    ``position_of`` gives the position along the tree at which a revision counts. Raises
    `OutOfRangeError` for a build that stands for revisions of two positions.
    """
    variance_of = cache(plan.noise.boot_variance)
    sums: dict[tuple[str, int], list[float]] = {}
    for boot in boots:
        slot = position_of(boot.index)
        row = sums.setdefault(boot.of_build, [slot, 0, 0, 0, 0, 0, boot.value])
        if row[0] != slot:
            raise OutOfRangeError(
                f"build {boot.build}: it stands for revisions between which a candidate lies: "
                "give the candidates of identical builds the weight 0"
            )
        variance = variance_of(boot.runs)
        off = boot.value - row[6]
        row[1] += 1
        row[2] += 1 / variance
        row[3] += off / variance
        row[4] += off * off / variance
        row[5] += log(variance)
    rows = [
        (slot, n, w, shift + s / w, max(q - s * s / w, 0.0), log_v)
        for slot, n, w, s, q, log_v, shift in sums.values()
    ]
    return np.array(sorted(rows), np.float64).reshape(-1, 6)


def outlier_boots(plan: Plan, boots: Sequence[Boot], bad: int) -> tuple[int, ...]:
    """Indices in ``boots`` of those to be set aside; ``bad``: the first revision of the bad end.

    None while neither end has `LEAST_BOOTS`; one known end has the other an alerted step away.
    """
    good_values = [boot.value for boot in boots if boot.index <= 0]
    bad_values = [boot.value for boot in boots if boot.index >= bad]
    levels = _levels(good_values, bad_values, plan.effect)
    if not levels:
        return ()
    low, high = min(levels), max(levels)
    seen = _seen_sd(boots, levels)
    reach = {
        runs: max(outlier_reach(plan, runs), OUTLIER_SCORE * seen)
        for runs in {b.runs for b in boots}
    }
    suspects = [
        i
        for i, boot in enumerate(boots)
        if not low - reach[boot.runs] <= boot.value <= high + reach[boot.runs]
    ]
    odd = tuple(i for i in suspects if not _is_like_that(plan, boots, suspects, i))
    return () if _are_too_many(boots, odd) else odd


def outlier_reach(plan: Plan, runs: int) -> float:
    """How far beyond a level a boot may lie, log percent; half a step is never far."""
    sd = sqrt(plan.noise.boot_variance(runs) + plan.noise.build**2)
    return max(OUTLIER_SCORE * sd, abs(plan.effect) / 2)


def _prior_weights(plan: Plan, evidence: Evidence) -> tuple[Floats, Floats]:
    """Prior weights of c_1 … c_N after what people report, which evidence can overrule, and after
    what builds showed, which nothing does; and the same if no candidate had been less likely by the
    plan, where 0 stays 0.
    """
    candidates, weights = np.arange(1, plan.bad + 1), np.array(plan.weights, np.float64)

    def is_in(chosen: frozenset[int]) -> Bools:
        return np.isin(candidates, list(chosen))

    usual = weights.max()
    raised = np.where(weights > 0, np.maximum(weights, LEAST_WEIGHT * usual), 0.0)
    raised[is_in(evidence.allowed)] = usual
    doubted = is_in(evidence.excluded) | (bool(evidence.forced) & ~is_in(evidence.forced))
    given = np.where(is_in(evidence.identical), 0.0, np.where(doubted, PERSON, 1.0))
    return raised * given, np.where(raised > 0, given, 0.0)


def _slots(prior: Floats) -> Indices:
    """For revisions 0 … N: the last candidate with any weight up to there."""
    numbers = np.arange(1, len(prior) + 1)
    return np.concatenate(([0], np.maximum.accumulate(np.where(prior > 0, numbers, 0))))


def _are_too_many(boots: Sequence[Boot], odd: tuple[int, ...]) -> bool:
    """Whether so many of the bisect's own boots would go that the lab, not they, is odd."""
    fresh = sum(boot.purpose is not Purpose.HISTORY for boot in boots)
    gone = sum(boots[i].purpose is not Purpose.HISTORY for i in odd)
    return gone >= LEAST_BOOTS and gone > MOST_SHARE * fresh


def _levels(good: list[float], bad: list[float], effect: float) -> list[float]:
    levels = []
    if len(good) >= LEAST_BOOTS:
        levels += [median(good), median(good) + effect]
    if len(bad) >= LEAST_BOOTS:
        levels += [median(bad), median(bad) - effect]
    return levels


def _seen_sd(boots: Sequence[Boot], levels: list[float]) -> float:
    """Scatter around the nearest level, which a minority of odd boots does not move."""
    return MAD_TO_SD * median(min(abs(boot.value - level) for level in levels) for boot in boots)


def _is_like_that(plan: Plan, boots: Sequence[Boot], suspects: list[int], index: int) -> bool:
    """Whether it is likelier that the whole build lies there than that its boots went wrong."""
    boot = boots[index]
    near = OUTLIER_SCORE * sqrt(2 * plan.noise.boot_variance(boot.runs))
    own = [
        i for i, each in enumerate(boots) if (each.build, each.index) == (boot.build, boot.index)
    ]
    agree = [i for i in own if i in suspects and abs(boots[i].value - boot.value) <= near]
    others = len(boots) - len(own)
    wrong = len(suspects) - sum(i in suspects for i in own)
    share = SHARES_PRIOR * SHARES**wrong * (1 - SHARES) ** (others - wrong)
    share /= share.sum()
    usual = len(own) - len(agree)
    went_wrong = float(share @ (SHARES ** len(agree) * (1 - SHARES) ** usual))
    is_strange = float(share @ (SHARES**usual * (1 - SHARES) ** len(agree)))
    return STRANGE_BUILD * is_strange > went_wrong
