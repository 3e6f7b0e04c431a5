"""A against B: the tests that people know, the change with its interval, and the verdict."""

from webapp.stats.compare.across import (
    Across,
    Estimate,
    Heterogeneity,
    across_machines,
    estimate_of,
    heterogeneity,
)
from webapp.stats.compare.comparing import MORE_BUILDS, Comparison, Level, Verdict, compare
from webapp.stats.compare.explain import explain
from webapp.stats.compare.headline import Headline, Look, headline_of, look_at
from webapp.stats.compare.levels import (
    BuildNoise,
    Samples,
    Summary,
    intervals_of,
    pool,
    summarize,
)
from webapp.stats.compare.many import VERDICTS, Comparisons, compare_many
from webapp.stats.compare.summaries import LEVELS, Summaries

__all__ = [
    "LEVELS",
    "MORE_BUILDS",
    "VERDICTS",
    "Across",
    "BuildNoise",
    "Comparison",
    "Comparisons",
    "Estimate",
    "Headline",
    "Heterogeneity",
    "Level",
    "Look",
    "Samples",
    "Summaries",
    "Summary",
    "Verdict",
    "across_machines",
    "compare",
    "compare_many",
    "estimate_of",
    "explain",
    "headline_of",
    "heterogeneity",
    "intervals_of",
    "look_at",
    "pool",
    "summarize",
]
