"""What people triage, one file per part."""

from webapp.alerts.models.alerts import Alert, AlertEvent, AlertQuerySet, FormerAlert
from webapp.alerts.models.assignments import Assignment
from webapp.alerts.models.membership import AlertFinding
from webapp.alerts.models.thresholds import MinEffect, ThresholdChange

__all__ = [
    "Alert",
    "AlertEvent",
    "AlertFinding",
    "AlertQuerySet",
    "Assignment",
    "FormerAlert",
    "MinEffect",
    "ThresholdChange",
]
