"""One build a side: whether two points alone show a loss that builds hardly ever show by chance.

A rule for the newest pair of a series that cannot tell its own build noise yet: what is believed of
that noise (`Belief`) stands in for it. In words and with figures: docs/statistics.md.
"""

from webapp.stats.decisive.chance import (
    Belief,
    Build,
    Evidence,
    Known,
    Measured,
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
    what_settles,
    why_judged,
)
