"""The scale of evidence: what counts as how much, and the calibrated limits.

Evidence is a normal score: how many standard deviations two levels lie apart, after allowing
for an estimated variance (Student's t turned into a normal score) and for neighbours that stray
together. Every limit here was set by `python -m benchmarks.calibration`; see
docs/figures.md for the rates they give.
"""

from functools import cache
from math import erfc, exp, expm1, log, sqrt
from statistics import NormalDist

MOST_PERCENT_LOG, MOST_LOG = 700.0, 709.0
"""A hundred times exp() of more than the first, and exp() of more than the second, is infinite."""

WINDOWS = (2, 3, 4, 6, 8, 12, 18, 30, 54)
"""Numbers of newest revisions that are held against the rest of their regime."""

OFTEN = 4
"""Part of a window after which it is looked at again: neighbouring ones show nearly the same."""

CONFIRM, SUSPECT, KEEP = 3.3, 3.3, 2.5
"""Normal scores at which two or more agreeing revisions confirm a change, at which the newest alone
is a candidate, and below which a confirmed change is retracted."""

REST, ODD = 1.7, 3.3
"""Score that a window must still have without its most extreme revision, and deviations from the
others of its window at which a revision is odd and has no vote."""

LEAST_FREEDOM = 2.0
"""Degrees of freedom below which nothing is reported at all."""

LEAST_REVISIONS = 6
"""Revisions from which on something may be found in a series: before, it has at most one difference
of its own (those of the newest three do not count yet)."""

SCANNED = 3.0
"""Independent looks that one revision's scan over all windows is worth: the share of revisions
without a change that reach a score, over the normal tail (`python -m benchmarks.calibration
scan`)."""

CANDIDATE_ODDS, CONFIRMED_ODDS = (3.6, 0.62), (2.3, 1.1)
"""Score at which a candidate, and a confirmed change, is as likely real as not, and the slope of
its log odds, where a series changes once in sixty revisions
(`python -m benchmarks.calibration odds`)."""

BY_ITSELF = 1e-3
"""Probability of revisions that fail by themselves, one after the other, below which a rate of 0 is
a change: one false alert in a thousand revisions."""

LEAST_CHANCE = 1e-300
"""The smallest probability that has a score."""

MOST_FREEDOM = 400.0
"""Degrees of freedom above which the normal distribution is used."""


def student_factor(freedom: float) -> float:
    """The factor of Wallace (1959) between a squared normal score and log(1 + t²/df)."""
    return ((8.0 * freedom + 3.0) / (8.0 * freedom + 1.0)) ** 2


def as_student(score: float, freedom: float) -> float:
    """Return the squared t with `freedom` degrees of freedom that a normal `score` stands for."""
    if freedom >= MOST_FREEDOM:
        return score * score
    return freedom * (exp(min(score * score * student_factor(freedom) / freedom, 600.0)) - 1.0)


def as_score(square: float, freedom: float) -> float:
    """Return the normal score of a squared t: the inverse of `as_student`."""
    if freedom >= MOST_FREEDOM:
        return sqrt(square)
    return sqrt(freedom * log(1.0 + square / freedom) / student_factor(freedom))


MEMORY_STEPS = 20
LONGEST = 65


@cache
def inflation(step: int) -> tuple[float, ...]:
    """Return, by number of revisions, how much the variance of their mean grows by memory.

    For an AR(1) process with coefficient a = step / MEMORY_STEPS and m values it is
    (1 + a) / (1 - a) - 2 a (1 - a^m) / (m (1 - a)²); index 0 is unused.
    """
    a = step / MEMORY_STEPS
    lead = (1 + a) / (1 - a)
    tail = 2 * a / (1 - a) ** 2
    return (1.0, *(lead - tail * (1 - a**m) / m for m in range(1, LONGEST)))


def exponential(log_value: float) -> float:
    """Return exp(log_value), drawn in to the range of numbers."""
    return exp(min(max(log_value, -MOST_LOG), MOST_LOG))


def p_of_scan(score: float) -> float:
    """Return the probability that the scan at one revision reaches `score` without a change."""
    return min(1.0, SCANNED * erfc(max(score, 0.0) / sqrt(2.0)))


def of_p(chance: float) -> float:
    """Return the normal score that is reached to either side with probability `chance`."""
    return -NormalDist().inv_cdf(max(chance, LEAST_CHANCE) / 2)


def probability(score: float, revisions: int) -> float:
    """Return the calibrated probability that a change with this evidence is real.

    `revisions` are those at the new level; a single one is a candidate.
    """
    middle, slope = CANDIDATE_ODDS if revisions == 1 else CONFIRMED_ODDS
    return 1.0 / (1.0 + exp(-min(slope * (score - middle), 50.0)))


def percent(log: float) -> float:
    """Return a difference of logarithms in percent."""
    return 100.0 * expm1(min(log, MOST_PERCENT_LOG))
