"""What the measurements of a series say, one file per part."""

from webapp.analysis.models.analysis import (
    Checkpoint,
    SeriesAnalysis,
    SeriesSettings,
)
from webapp.analysis.models.comparisons import Comparison, Flag, Tally, Verdict
from webapp.analysis.models.findings import Finding, FindingEvent, FindingQuerySet
