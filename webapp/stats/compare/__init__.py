"""A against B: the tests that people know, the change with its interval, and the verdict."""

from webapp.stats.compare.comparing import Comparison, Level, Verdict, compare
from webapp.stats.compare.explain import explain
from webapp.stats.compare.levels import BuildNoise, Samples
from webapp.stats.compare.many import VERDICTS, Comparisons, Moments, compare_many

__all__ = [
    "VERDICTS",
    "BuildNoise",
    "Comparison",
    "Comparisons",
    "Level",
    "Moments",
    "Samples",
    "Verdict",
    "compare",
    "compare_many",
    "explain",
]
