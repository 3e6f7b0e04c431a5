"""Quantiles of the normal distribution that sentences, charts and intervals share."""

TWO_SIDED_95 = 1.959964
"""That of 97.5 %: half the width of a 95 % interval, in standard errors."""

POWER_80 = 0.841621
"""That of 80 %: what a test that sees four effects in five adds to its critical value."""
