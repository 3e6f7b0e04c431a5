"""A against B: the tests that people know, the change with its interval, and the verdict."""

from webapp.stats.compare.comparing import Comparison, Level, Verdict, compare
from webapp.stats.compare.explain import explain
from webapp.stats.compare.levels import BuildNoise, Samples, Summary, pool, summarize
from webapp.stats.compare.many import LEVELS, VERDICTS, Comparisons, Summaries, compare_many

__all__ = [
    "LEVELS",
    "VERDICTS",
    "BuildNoise",
    "Comparison",
    "Comparisons",
    "Level",
    "Samples",
    "Summaries",
    "Summary",
    "Verdict",
    "compare",
    "compare_many",
    "explain",
    "pool",
    "summarize",
]
