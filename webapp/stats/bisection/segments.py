"""Evidence of one level step, or none, from cumulative sums over builds.

Given the noise, builds are independent with mean m and precision w, so a segment of one level
enters by W = Σw, Σwm and Σwm² alone. With a flat prior for the level before and δ ~ N(d, τ²):

    log Z(cut) = ½ Σ log w − ½ RSS − ½ log D − ½ (x − d)² W0·W1/D,   D = W0 + W1 + τ²·W0·W1

where x is the difference of the weighted means of both sides and RSS the scatter around them. The
cut behind the last build is "no step". A constant that all hypotheses share is left out.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Segments:
    """Cumulative Σw, Σwm of B builds, shape (S, B + 1), with Σwm² and the base, shape (S,)."""

    weight: Floats
    moment: Floats
    square: Floats
    base: Floats


def segments_of(mean: Floats, weights: Floats, base: Floats) -> Segments:
    """Cumulative sums over B builds: ``mean`` (B,), ``weights`` (S, B), ``base`` (S,): the log
    evidence of what scatters inside builds.
    """
    moments = weights * mean
    return Segments(
        weight=_from_zero(weights),
        moment=_from_zero(moments),
        square=moments @ mean,
        base=base + 0.5 * np.log(weights).sum(axis=1),
    )


def _from_zero(values: Floats) -> Floats:
    sums = np.zeros((values.shape[0], values.shape[1] + 1))
    np.cumsum(values, axis=1, out=sums[:, 1:])
    return sums


def sides(segments: Segments) -> tuple[Floats, Floats, Floats, Floats]:
    """W0, W1 and the means of both sides (0 for an empty side) of each cut, shape (S, B + 1)."""
    w0, s0 = segments.weight, segments.moment
    w1, s1 = w0[:, -1:] - w0, s0[:, -1:] - s0
    w1[:, -1] = 0.0
    m0 = np.divide(s0, w0, out=np.zeros_like(w0), where=w0 > 0)
    m1 = np.divide(s1, w1, out=np.zeros_like(w1), where=w1 > 0)
    return w0, w1, m0, m1


def log_cuts(segments: Segments, effect: float, spread: float) -> Floats:
    """log Z of one step N(``effect``, ``spread``²) behind the first 0 … B builds: (S, B + 1)."""
    w0, w1, m0, m1 = sides(segments)
    rss = segments.square[:, None] - w0 * m0 * m0 - w1 * m1 * m1
    both = w0 * w1
    d = w0 + w1 + spread * spread * both
    d = np.where(d > 0, d, 1.0)
    off = m1 - m0 - effect
    return np.asarray(segments.base[:, None] - 0.5 * (rss + np.log(d) + off * off * both / d))
