"""What the measurements of a series say, one file per part."""

from webapp.analysis.models.analysis import (
    Checkpoint,
    Comparison,
    Flag,
    SeriesAnalysis,
    SeriesSettings,
    Tally,
    Verdict,
)
from webapp.analysis.models.findings import Finding, FindingEvent, FindingQuerySet
