"""What follows from the measurements of a series, one file per part."""

from webapp.analysis.models.analysis import (
    Checkpoint,
    Flag,
    NotedPoint,
    Repeated,
    SeriesAnalysis,
    SeriesSettings,
    Tally,
    Verdict,
)
from webapp.analysis.models.findings import Finding, FindingEvent, FindingQuerySet
