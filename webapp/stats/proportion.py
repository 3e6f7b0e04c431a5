"""A share that was counted, with the interval of Wilson."""

from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

from webapp.stats.errors import OutOfRangeError

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Proportion:
    """``count`` of ``total``; ``low`` and ``high`` bound the share behind it, from 0 to 1."""

    count: int
    total: int
    low: float
    high: float

    @property
    def share(self) -> float:
        """The share observed, from 0 to 1."""
        return self.count / self.total


def proportion(count: int, total: int, confidence: float = CONFIDENCE) -> Proportion | None:
    """The share of ``count`` in ``total`` with its interval; None of nothing: it is unknown.

    Wilson's score interval (1927, JASA 22, 209-212): the shares p with
    ``|count/total - p| <= z sqrt(p (1 - p) / total)``. Unlike Wald's it stays within 0 and 1 and
    has a width when all or none were counted. Raises OutOfRangeError.
    """
    if not 0 <= count <= total:
        raise OutOfRangeError(f"{count} of {total} is no share")
    if not 0 < confidence < 1:
        raise OutOfRangeError(f"{confidence} is no confidence between 0 and 1")
    if not total:
        return None
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share, spread = count / total, z * z / total
    centre = (share + spread / 2) / (1 + spread)
    half = z / (1 + spread) * sqrt(share * (1 - share) / total + spread / (4 * total))
    return Proportion(count, total, max(0.0, centre - half), min(1.0, centre + half))
