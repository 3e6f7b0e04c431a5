"""What people triage, one file per part."""

from webapp.alerts.models.alerts import Alert, AlertEvent, FormerAlert
from webapp.alerts.models.decisions import (
    AlertFinding,
    AlertHold,
    Assignment,
    MinEffect,
    MinEffectChange,
)
