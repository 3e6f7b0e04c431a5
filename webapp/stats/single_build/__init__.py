"""One build a side: whether two points alone show a loss that builds hardly ever show by chance.

A rule for the newest pair of a series whose own build noise is not known yet: a prior of
that noise (`NoisePrior`) stands in for it. In words and with figures: docs/statistics.md.
"""

from webapp.stats.single_build.chance import (
    Build,
    Evidence,
    Known,
    Measured,
    NoisePrior,
    at_least,
    build_of,
    chance,
    interval,
    learn,
    level_of,
    percent_of,
    score_of,
    turning_pct,
    weigh,
)
from webapp.stats.single_build.pairs import (
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
    what_settles,
    why_judged,
)
