"""What holds where nobody set anything."""

MARGIN_PCT = 2.0
"""Changes that surely lie within it to both sides are equivalent."""

SMALLEST_EFFECT_PCT = 2.0
"""The smallest change that is of interest."""

ALONE = 8.0
"""Standard deviations from which on an excursion is told of one series alone, whatever other modes
of its machine say (`webapp.stats.levels.excursions`)."""
