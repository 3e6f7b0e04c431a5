"""A against B: the tests that people know, the change with its interval, and the verdict."""

from webapp.stats.compare.comparing import MORE_BUILDS, Comparison, Level, Verdict, compare
from webapp.stats.compare.explain import explain
from webapp.stats.compare.headline import Headline, Look, headline_of, look_at
from webapp.stats.compare.levels import BuildNoise, Samples, Summary, pool, summarize
from webapp.stats.compare.many import VERDICTS, Comparisons, compare_many
from webapp.stats.compare.summaries import LEVELS, Summaries

__all__ = [
    "LEVELS",
    "MORE_BUILDS",
    "VERDICTS",
    "BuildNoise",
    "Comparison",
    "Comparisons",
    "Headline",
    "Level",
    "Look",
    "Samples",
    "Summaries",
    "Summary",
    "Verdict",
    "compare",
    "compare_many",
    "explain",
    "headline_of",
    "look_at",
    "pool",
    "summarize",
]
