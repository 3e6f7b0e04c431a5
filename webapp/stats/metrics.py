"""What a metric's numbers mean: which way is better, which can be samples, the default margins.

Nothing that a lab measures lies beyond the limits of a sample: 10¹⁵ is a petabit a second or 31
years in microseconds, and 10⁻¹⁵ a femtosecond. Within them no figure leaves the range of a double
(1e308): the square of a ratio of two samples is at most 1e60, the fourth powers of Welch's degrees
of freedom and the squares summed over 10¹⁰ samples far below 1e150.
"""

import re
from typing import Final, Literal

Better = Literal["more", "less"]


def is_gain(change: float, better: Better) -> bool:
    """Whether a change, in any unit or in percent, is for the better. No change is none."""
    return change > 0 if better == "more" else change < 0


LARGEST_SAMPLE: Final = 1e15
SMALLEST_SAMPLE: Final = 1e-15
RANGE: Final = f"0, or from {SMALLEST_SAMPLE:g} to {LARGEST_SAMPLE:g} with either sign"

MARGIN_PCT = 2.0
"""Changes that surely lie within it to both sides are equivalent."""

SMALLEST_EFFECT_PCT = 2.0
"""The smallest change that is of interest."""

ALONE = 8.0
"""Standard deviations from which on an excursion is reported of one series alone, whatever other
modes of its machine show (`webapp.stats.changes.level_findings`)."""


def is_sample(value: float) -> bool:
    """Whether ``value`` is 0 or has a magnitude within the limits."""
    return value == 0 or SMALLEST_SAMPLE <= abs(value) <= LARGEST_SAMPLE


COUNTED = re.compile(
    r"(allocs|allocations|B|bytes|calls|connections|crashes|drops|errors|events|failures|faults"
    r"|frames|interrupts|messages|migrations|misses|packets|requests|retries|retransmits|segments"
    r"|switches|syscalls|tests|timeouts|wakeups)(/op)?"
)
"""Units of what is counted in whole things."""

LEAST_COUNT, LEAST_PERCENT = 1.0, 0.01


def least_of(unit: str) -> float:
    """The value, in ``unit``, that a sample between 0 and it counts as in the history of a series;
    0: none.

    Where things are counted a sample of 0 is a result (no segment was sent again) which has no
    logarithm; in other units it is a measurement that failed. With 1 rather than one half for a 0,
    series of rare counts (Poisson, 0.2 a sample) have no false changes in place of 0.3 in 60
    revisions, and steps from 0 to 5 or 200 are found in 92 to 100 % of series in place of 72 to 78;
    the price is a step from 0 to 1, which is none.
    """
    if unit == "%":
        return LEAST_PERCENT
    return LEAST_COUNT if COUNTED.fullmatch(unit) else 0.0


MOST_TOLD = 100.0
"""Percent. A test that sees nothing below a doubling sees nothing: its figure grows with the
uncertainty of the noise itself (two samples a side make it millions), and means no more than that.
"""


def worth_telling(percent: float | None) -> float | None:
    """A smallest change, percent, as it may be shown to people; None where it is no use to them."""
    return percent if percent is not None and percent <= MOST_TOLD else None
