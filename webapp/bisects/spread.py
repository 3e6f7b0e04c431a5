"""How far a boot's value may lie from the level of its build."""

from typing import Any

from webapp.bisects.question import noise_from
from webapp.stats.normal import TWO_SIDED_95


def half_width_pct(noise: dict[str, Any], runs: int) -> float:
    """Half the 95 % interval of the median of ``runs`` runs of a boot, in percent of its value.

    That of a normal distribution: it is a picture, not a test.
    """
    return TWO_SIDED_95 * float(noise_from(noise).boot_variance(runs) ** 0.5)
