"""A against B: the tests that people know, the change with its interval, and the verdict."""

from webapp.stats.compare.comparing import MORE_BUILDS, Comparison, Level, Verdict, compare
from webapp.stats.compare.explain import explain
from webapp.stats.compare.levels import Samples, Summary, intervals_of, pool, summarize
from webapp.stats.compare.many import VERDICTS, Comparisons, compare_many
from webapp.stats.compare.relative import Estimate, Heterogeneity, estimate_of, heterogeneity
from webapp.stats.compare.summaries import (
    LEVELS,
    Summaries,
    own_units,
    pack_summary,
    unpack_summary,
)
from webapp.stats.compare.sweep import (
    Across,
    Evidence,
    Headline,
    Look,
    Mean,
    Outcome,
    across_machines,
    outcome,
)
from webapp.stats.single_build.chance import BuildNoise
