"""One build a side: whether two points alone show a loss that builds hardly ever show by chance.

A rule for the newest pair of a series that cannot tell its own build noise yet: what is believed of
that noise (`Belief`) stands in for it. In words and with figures: docs/statistics.md.
"""

from webapp.stats.decisive.belief import Belief, Known, learn
from webapp.stats.decisive.chance import (
    at_least,
    chance,
    interval,
    level_of,
    percent_of,
    score_of,
    turning_pct,
)
from webapp.stats.decisive.evidence import Build, Evidence, Measured, build_of, weigh
from webapp.stats.decisive.explain import what_settles, why_judged
from webapp.stats.decisive.pairs import (
    GIVES_UP,
    LIMIT,
    LIMIT_OF_COMMIT,
    WAITS,
    YOUNG,
    Figures,
    Judged,
    Pair,
    Step,
    asked_at,
    figures_of,
    judge,
    limit_among,
    pairs_of,
)

__all__ = [
    "GIVES_UP",
    "LIMIT",
    "LIMIT_OF_COMMIT",
    "WAITS",
    "YOUNG",
    "Belief",
    "Build",
    "Evidence",
    "Figures",
    "Judged",
    "Known",
    "Measured",
    "Pair",
    "Step",
    "asked_at",
    "at_least",
    "build_of",
    "chance",
    "figures_of",
    "interval",
    "judge",
    "learn",
    "level_of",
    "limit_among",
    "pairs_of",
    "percent_of",
    "score_of",
    "turning_pct",
    "weigh",
    "what_settles",
    "why_judged",
]
