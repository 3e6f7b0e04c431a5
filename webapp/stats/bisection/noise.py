"""The noise of a boot and of a build, as a history knows it: with its uncertainty.

An estimated variance is not a variance. With s² on f degrees of freedom the one inside builds is
believed to be s²·f/χ²(f) (scaled inverse χ², Box and Tiao 1973, §2.3). What a history shows of
builds is the scatter t² of revisions, whose true value is τ² = σ²build + σ²within/n: σbuild has a
flat prior (Gelman 2006) and the likelihood τ^-f exp(-f·t²/2τ²). So a history that shows no scatter
of builds does not prove that there is none. Both are integrated over a few nodes, which makes the
evidence Student-like instead of Gaussian.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import inf, isfinite, pi, sqrt

import numpy as np

from webapp.stats import OutOfRangeError, TooFewSamplesError
from webapp.stats.arrays import Floats

NO_NOISE = 1e-3
"""Percent. Nothing is believed to scatter less than this between boots: without a floor one
rounding of a noiseless series would be infinitely strong evidence."""

MOST_DF = 8.0
"""Degrees of freedom that the noise of a history counts at most. It was measured at other times,
by other builds, often before other work in the lab; what the bisect sees corrects it."""

WITHIN_FACTORS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
"""Nodes: factors on the variance inside builds, evenly apart in their logarithm."""

BUILD_SHARES = (0.25, 0.5, 0.25)
"""Shares of the belief in σbuild that one node each stands for, from low to high."""

LARGER_BUILDS = ((0.125, 0.1), (0.25, 0.1), (0.5, 0.05))
"""Scatter of builds, as shares of the alerted step, that is possible beside the estimate from a
history, and its chance: a history may be of other builders, compilers or link orders."""

BUILD_STEPS, BUILD_REACH = 600, 10.0
"""The belief in σbuild is taken on so many steps from 0 to so many times the scatter shown."""


@dataclass(frozen=True, slots=True)
class Noise:
    """Standard deviations in log percent, and how well they are known.

    ``run`` lies inside a boot, ``boot`` inside a build, ``build`` between builds. ``within_df``
    are the degrees of freedom of what is inside a build, ``build_df`` those of the scatter of
    revisions from which ``build`` was taken, and ``history_boots`` how many boots each of these
    revisions had: with few of them ``build`` = 0 is weak evidence. Infinite degrees of freedom:
    known. Raises `OutOfRangeError`.
    """

    run: float
    boot: float = 0.0
    build: float = 0.0
    within_df: float = inf
    build_df: float = inf
    history_boots: float = inf

    def __post_init__(self) -> None:
        if not all(isfinite(sd) and sd >= 0 for sd in (self.run, self.boot, self.build)):
            raise OutOfRangeError("noise must be a finite percentage ≥ 0")
        if not (self.within_df > 0 and self.build_df > 0):
            raise OutOfRangeError("noise needs more than 0 degrees of freedom")
        if not self.history_boots >= 1:
            raise OutOfRangeError("each revision of a history has at least one boot")

    def boot_variance(self, runs: int) -> float:
        """Variance of the median of ``runs`` runs of one boot, around its build."""
        return max(self.boot**2 + self.run**2 * median_share(runs), NO_NOISE**2)


@dataclass(frozen=True, slots=True)
class NoiseNodes:
    """The believed noise as S nodes: arrays of shape (S,).

    ``within`` multiplies the variance of a boot, ``build`` is the variance between builds (log
    percent, squared), ``weight`` adds up to 1.
    """

    within: Floats
    build: Floats
    weight: Floats


def median_share(runs: int) -> float:
    """Variance of the median of ``runs`` normal values, as a share of the variance of one.

    1 and 1/2 for one and two; else π/(2n + π − 2), within 2 % (the large-sample π/2n, moved so
    that it holds for n = 1). Raises `OutOfRangeError` below one run.
    """
    if runs < 1:
        raise OutOfRangeError(f"{runs} runs in a boot: at least 1 is needed")
    return 0.5 if runs == 2 else pi / (2 * runs + pi - 2)


@cache
def noise_nodes(noise: Noise, effect: float) -> NoiseNodes:
    """The nodes over which evidence is to be integrated, for an alerted step of ``effect``."""
    factors, shares = _within_nodes(min(noise.within_df, MOST_DF))
    per_boot = noise.boot**2 + noise.run**2
    build, weight = _with_larger(*_build_nodes(noise, per_boot / noise.history_boots), effect)
    return NoiseNodes(
        within=np.repeat(factors, len(build)),
        build=np.outer(factors, build).ravel(),
        weight=np.outer(shares, weight).ravel(),
    )


def build_ratios(nodes: NoiseNodes) -> Floats:
    """Variances between builds at the noise's estimate: every factor has the same ones."""
    count = len(nodes.build) // len(WITHIN_FACTORS)
    return np.asarray(nodes.build[:count] / nodes.within[0])


def _build_nodes(noise: Noise, inside: float) -> tuple[Floats, Floats]:
    """Variances between builds, and their weights (sum 1), as a history believes them.

    ``inside``: what the scatter inside builds adds to that of a history's revisions.
    """
    shown = noise.build**2 + inside
    if noise.build_df == inf or shown == 0:
        return np.array([noise.build**2]), np.ones(1)
    sd = np.linspace(0, BUILD_REACH * sqrt(shown), BUILD_STEPS)[1:]
    ratio = (sd**2 + inside) / shown
    belief = np.cumsum(np.exp(-0.5 * noise.build_df * (np.log(ratio) + 1 / ratio - 1)))
    middles = np.cumsum(BUILD_SHARES) - np.array(BUILD_SHARES) / 2
    return np.interp(middles, belief / belief[-1], sd) ** 2, np.array(BUILD_SHARES)


def _with_larger(build: Floats, weight: Floats, effect: float) -> tuple[Floats, Floats]:
    """The same, and that builds scatter by more than any history shows (`LARGER_BUILDS`)."""
    larger = np.array([(share * effect) ** 2 for share, _ in LARGER_BUILDS])
    chances = np.array([chance for _, chance in LARGER_BUILDS])
    usual = float(build @ weight)
    return (
        np.concatenate([build, usual + larger]),
        np.concatenate([weight * (1 - chances.sum()), chances]),
    )


def estimate_noise(revisions: Sequence[Sequence[float] | Floats]) -> Noise:
    """Noise from the history of one regime: the values (log percent) of each revision's boots.

    One value a boot, one build a revision, in order along the tree. Inside builds: the pooled
    variance. Between them: half the mean squared difference of neighbours (von Neumann 1941), so
    that a step in the history hardly counts, less what boots explain; its degrees of freedom are
    2(n − 1)²/(3n − 4). What a boot and its runs add is not separated: it is called ``run``.
    Where no revision has two boots, boots of a build are taken to scatter as revisions do, which is
    the most that they can; what the bisect measures corrects it. Raises `TooFewSamplesError`
    below three revisions.
    """
    groups = [np.asarray(revision, np.float64) for revision in revisions if len(revision)]
    if len(groups) < 3:
        raise TooFewSamplesError(len(groups), 3)
    n = len(groups)
    means = np.array([group.mean() for group in groups])
    shown, shown_df = float((np.diff(means) ** 2).mean()) / 2, 2 * (n - 1) ** 2 / (3 * n - 4)
    boots = n / sum(1 / len(group) for group in groups)
    within, within_df = shown, shown_df
    if (repeated := sum(len(group) for group in groups) - n) > 0:
        within_df = repeated
        within = sum(float(((group - group.mean()) ** 2).sum()) for group in groups) / within_df
    return Noise(
        run=sqrt(within),
        build=sqrt(max(shown - within / boots, 0.0)),
        within_df=within_df,
        build_df=shown_df,
        history_boots=boots,
    )


def _within_nodes(df: float) -> tuple[Floats, Floats]:
    """Factors on an estimated variance and their weights: the density of f/χ²(f) over its log."""
    factors = np.array(WITHIN_FACTORS)
    density = np.exp(-0.5 * df * (np.log(factors) + 1 / factors - 1))
    return factors, density / density.sum()
