"""What we conclude from the measurements, one file per part."""

from webapp.regressions.models.analysis import Checkpoint, SeriesAnalysis, SeriesSettings
from webapp.regressions.models.comparisons import (
    Comparison,
    ComparisonQuerySet,
    Flag,
    Tally,
    Verdict,
)
from webapp.regressions.models.findings import Finding, FindingEvent, FindingQuerySet

__all__ = [
    "Checkpoint",
    "Comparison",
    "ComparisonQuerySet",
    "Finding",
    "FindingEvent",
    "FindingQuerySet",
    "Flag",
    "SeriesAnalysis",
    "SeriesSettings",
    "Tally",
    "Verdict",
]
