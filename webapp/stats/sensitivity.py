"""What a two-sided t-test can see: critical values and the shifts found with a given power."""

from functools import cache
from math import isfinite

import numpy as np
from scipy import special

from webapp.stats.arrays import Floats
from webapp.stats.errors import OutOfRangeError

CONFIDENCES = (80.0, 90.0, 95.0, 98.0, 99.0)
"""Two-sided levels, percent, for verdicts; ministat's 99.5 is not the level it names and is left
out."""


DEFAULT_CONFIDENCE = 95.0
DEFAULT_POWER = 80.0
"""Percent of repetitions in which an effect of the stated size is seen."""

# Linear interpolation over 1/df: relative errors below 1e-6 and 1e-5 (tests hold them to it).
_CRITICAL_NODES = 4097
_SHIFT_NODES = 1025


def require_confidence(confidence: float) -> float:
    """``confidence`` itself when it is one of `CONFIDENCES`; else raises `OutOfRangeError`."""
    if confidence not in CONFIDENCES:
        offered = ", ".join(f"{level:g}" for level in CONFIDENCES)
        raise OutOfRangeError(f"no verdict at confidence {confidence:g}: use {offered}")
    return confidence


def require_margin(margin: float) -> float:
    """``margin`` itself when it is a finite percentage ≥ 0; else raises `OutOfRangeError`."""
    if not (isfinite(margin) and margin >= 0):
        raise OutOfRangeError(f"margin {margin:g} %: it must be 0 or more")
    return margin


def critical_t(df: float, confidence: float) -> float:
    """Two-sided critical value of Student's t for ``df`` (≥ 1, need not be whole)."""
    return float(special.stdtrit(df, 0.5 + confidence / 200))


def two_sided_p(t: float, df: float) -> float:
    """The chance that Student's t for ``df`` (≥ 1) lies at least ``t`` (≥ 0) from zero."""
    return 2 * float(special.stdtr(df, -t))


def visible_shift(df: float, confidence: float, power: float = DEFAULT_POWER) -> float:
    """The true shift, in standard errors, that a two-sided t-test sees with ``power`` percent.

    It is the non-centrality δ with P(T'(df, δ) > t) = power for the critical t, and not the usual
    sum of two quantiles, which is a seventh too small for one degree of freedom. The far tail
    (4e-5 at 95 % and 50 % power, 5e-3 at 80 %) is left out.
    """
    return float(special.nctdtrinc(df, 1 - power / 100, critical_t(df, confidence)))


def critical_ts(df: Floats, confidence: float) -> Floats:
    """`critical_t` for an array of degrees of freedom ≥ 1, from a table."""
    return _look_up(_critical_table(confidence), 1 / df)


def visible_shifts(df: Floats, confidence: float) -> Floats:
    """`visible_shift` with the default power for an array of degrees of freedom, from a table."""
    return _look_up(_shift_table(confidence), 1 / df)


def _look_up(table: Floats, fraction: Floats) -> Floats:
    """Interpolate in a table over equal steps of 0…1; `numpy.interp` takes ten times as long."""
    steps = len(table) - 1
    scaled = fraction * steps
    left = np.minimum(scaled.astype(np.intp), steps - 1)
    low = table[left]
    between: Floats = low + (scaled - left) * (table[left + 1] - low)
    return between


@cache
def _critical_table(confidence: float) -> Floats:
    df = 1 / _inverse_df(_CRITICAL_NODES)
    return np.asarray(special.stdtrit(df, 0.5 + confidence / 200), np.float64)


@cache
def _shift_table(confidence: float) -> Floats:
    df = 1 / _inverse_df(_SHIFT_NODES)
    critical = special.stdtrit(df, 0.5 + confidence / 200)
    shifts = special.nctdtrinc(df, 1 - DEFAULT_POWER / 100, critical)
    return np.asarray(shifts, np.float64)


def _inverse_df(nodes: int) -> Floats:
    """0 to 1 in equal steps; infinitely many degrees of freedom are a billion."""
    return np.maximum(np.linspace(0, 1, nodes), 1e-9)
