"""What we conclude from the measurements, one file per part."""

from webapp.regressions.models.alerts import Alert, AlertEvent, AlertQuerySet, FormerAlert
from webapp.regressions.models.analysis import Checkpoint, SeriesAnalysis, SeriesSettings
from webapp.regressions.models.assignments import Assignment
from webapp.regressions.models.comparisons import (
    Comparison,
    ComparisonQuerySet,
    Flag,
    Tally,
    Verdict,
)
from webapp.regressions.models.findings import Finding, FindingEvent, FindingQuerySet
from webapp.regressions.models.subscriptions import Match, Subscription, SubscriptionQuerySet
from webapp.regressions.models.thresholds import MinEffect, ThresholdChange

__all__ = [
    "Alert",
    "AlertEvent",
    "AlertQuerySet",
    "Assignment",
    "Checkpoint",
    "Comparison",
    "ComparisonQuerySet",
    "Finding",
    "FindingEvent",
    "FindingQuerySet",
    "Flag",
    "FormerAlert",
    "Match",
    "MinEffect",
    "SeriesAnalysis",
    "SeriesSettings",
    "Subscription",
    "SubscriptionQuerySet",
    "Tally",
    "ThresholdChange",
    "Verdict",
]
