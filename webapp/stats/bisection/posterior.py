"""What the evidence says: chances of each candidate, of no step, and of two steps.

H_j, "c_j is the first bad one": one level before, another from c_j on. H_j has the evidence of the
cut between measured builds that it falls into (`segments`), summed over the nodes of the noise;
so candidates between which nothing was measured share what the cut gains, by their priors.
"""

from dataclasses import dataclass
from math import exp, inf, log, sqrt

import numpy as np
from numpy.typing import NDArray

from webapp.stats.bisection.plan import Evidence, Plan
from webapp.stats.bisection.segments import Segments, log_cuts, segments_of, sides
from webapp.stats.bisection.tally import Tally, tally
from webapp.stats.bisection.two_steps import TwoSteps, two_steps

Floats = NDArray[np.float64]

EFFECT_SPREAD = 0.25
"""Prior standard deviation of the step as a share of the alerted effect. Alerts pick large
estimates (the winner's curse), so the true step is often smaller; but a step far below the
alerted one is not what the search is for, and would hide among the noise of any candidate."""

WIDE_SPREAD, WIDE_CHANCE = 4.0, 0.02
"""The same for an alert whose size says nothing, and the chance of that. Without it a step of
four times the alerted size looks like two steps, and one of half of it is placed badly."""

TWO_STEPS_PRIOR = 0.05
"""Chance that the interval holds two steps, given that there is any."""

TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, slots=True, eq=False)
class Posterior:
    """Chances: ``candidates`` (N,) + ``none`` = 1, as if there were at most one step.

    ``two``: the chance of two steps, against all else. ``two_gaps``: their most probable places,
    each the candidates (first, last) between two measured builds; None where fewer than two gaps
    are open. ``effect`` with its standard deviation, and ``good_level``: log percent.
    ``boot_sd``, ``build_sd``: the noise as believed now. ``gap_of`` (N,): candidates with the same
    number are told apart by no boot so far.
    """

    candidates: Floats
    none: float
    two: float
    effect: float
    effect_sd: float
    good_level: float
    boot_sd: float
    build_sd: float
    two_gaps: tuple[tuple[int, int], tuple[int, int]] | None
    gap_of: NDArray[np.intp]

    @property
    def top(self) -> int:
        """The most probable candidate, 1 … N; the earlier one of equals."""
        return int(np.argmax(self.candidates)) + 1

    @property
    def entropy(self) -> float:
        """Bits that are still missing to know which candidate, or none, it is."""
        chances = np.append(self.candidates, self.none)
        chances = chances[chances > 0] / chances.sum()
        return float(-(chances * np.log2(chances)).sum())


def posterior(plan: Plan, evidence: Evidence) -> Posterior:
    """The posterior from the raw evidence; without any boot, the prior.

    Raises `OutOfRangeError` for a build that stands for revisions between which a candidate lies.
    """
    return posterior_of(plan, tally(plan, evidence))


def posterior_of(plan: Plan, data: Tally) -> Posterior:
    """`posterior` of evidence that is reduced already."""
    segments = segments_of(data)
    gap_of = np.searchsorted(data.slot, np.arange(1, plan.bad + 1))
    gap_prior = np.bincount(gap_of, data.prior, len(data.slot) + 1).astype(np.float64)
    spread, log_z = _evidence(plan, data, segments, gap_prior)
    top = float(log_z.max())
    z = data.nodes.weight[:, None] * np.exp(log_z - top)
    by_gap = (1 - plan.doubt) * z * gap_prior
    by_node = by_gap.sum(axis=1) + plan.doubt * z[:, -1]
    node = int(np.argmax(by_node))
    log_node = top + log(by_node[node] / data.nodes.weight[node])
    two = two_steps(segments, node, gap_prior, plan.effect, spread)
    total = float(by_node.sum())
    gaps = (1 - plan.doubt) * z.sum(axis=0)
    return Posterior(
        candidates=gaps[gap_of] * data.prior / total,
        none=plan.doubt * float(z[:, -1].sum()) / total,
        two=_chance_of_two(plan, two, log_node),
        two_gaps=_gaps(two, gap_of),
        gap_of=gap_of,
        **_figures(plan, data, segments, by_gap, spread),
    )


def _evidence(
    plan: Plan, data: Tally, segments: Segments, gap_prior: Floats
) -> tuple[float, Floats]:
    """The prior's width that the evidence supports more, log percent, and log Z (S, B + 1)."""
    ranked = []
    for share, chance in ((EFFECT_SPREAD, 1 - WIDE_CHANCE), (WIDE_SPREAD, WIDE_CHANCE)):
        spread = share * abs(plan.effect)
        log_z = log_cuts(segments, plan.effect, spread)
        top = float(log_z.max())
        total = float(data.nodes.weight @ np.exp(log_z - top) @ gap_prior)
        ranked.append((top + log(max(chance * total, TINY)), spread, log_z))
    _, spread, log_z = max(ranked, key=lambda each: each[0])
    return spread, log_z


def _chance_of_two(plan: Plan, two: TwoSteps, log_one: float) -> float:
    if two.log_z == -inf:
        return 0.0
    share = (1 - plan.doubt) * TWO_STEPS_PRIOR
    odds = two.log_z + log(share / (1 - share)) - log_one
    return 1 / (1 + exp(-odds)) if odds > -700 else 0.0


def _gaps(
    two: TwoSteps, gap_of: NDArray[np.intp]
) -> tuple[tuple[int, int], tuple[int, int]] | None:
    if two.cuts is None:
        return None
    first, second = (np.flatnonzero(gap_of == cut) + 1 for cut in two.cuts)
    return (int(first[0]), int(first[-1])), (int(second[0]), int(second[-1]))


def log_ratio(plan: Plan, data: Tally, step: float) -> float:
    """Log of how much better a step of ``step`` explains both ends than no step does.

    Uses the builds at the good and the bad end alone (Wald's λ, with the levels and the noise
    integrated out). 0 while one end was not measured.
    """
    ends = (data.slot == 0) | (data.slot == data.first_bad)
    segments = segments_of(data, ends)
    cut = int((data.slot == 0).sum())
    log_z = [log_cuts(segments, effect, 0.0)[:, cut] for effect in (step, 0.0)]
    top = max(float(z.max()) for z in log_z)
    with_step, without = (float(data.nodes.weight @ np.exp(z - top)) for z in log_z)
    return log(max(with_step, TINY)) - log(max(without, TINY))


def _figures(
    plan: Plan, data: Tally, segments: Segments, by_gap: Floats, spread: float
) -> dict[str, float]:
    """Means over one-step hypotheses and noise nodes, ``by_gap`` of shape (S, B + 1)."""
    chance = by_gap / by_gap.sum()
    w0, w1, m0, m1 = sides(segments)
    total = np.where(w0 + w1 > 0, w0 + w1, 1.0)
    known = w0 * w1 / total
    prior = 1 / spread**2
    mean = (known * (m1 - m0) + prior * plan.effect) / (known + prior)
    effect = float((chance * mean).sum())
    variance = float((chance * (1 / (known + prior) + (mean - effect) ** 2)).sum())
    level = (w0 * m0 + w1 * (m1 - mean)) / total
    node = chance.sum(axis=1)
    return {
        "effect": effect,
        "effect_sd": sqrt(variance),
        "good_level": data.origin + float((chance * level).sum()),
        "boot_sd": sqrt(plan.noise.boot_variance(plan.runs) * float(node @ data.nodes.within)),
        "build_sd": sqrt(float(node @ data.nodes.build)),
    }
