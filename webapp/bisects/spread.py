"""How far a boot's value may lie from the level of its build."""

from typing import Any

from webapp.bisects.question import noise_from

NORMAL_95 = 1.96
"""Two-sided 95 % of a normal distribution: the interval is a picture, not a test."""


def half_width_pct(noise: dict[str, Any], runs: int) -> float:
    """Half the 95 % interval of the median of ``runs`` runs of a boot, percent of its value."""
    return NORMAL_95 * float(noise_from(noise).boot_variance(runs) ** 0.5)
