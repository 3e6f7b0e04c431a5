"""What people triage, one file per part."""

from webapp.alerts.models.alerts import Alert, AlertEvent, FormerAlert
from webapp.alerts.models.membership import AlertFinding, AlertHold, Assignment
from webapp.alerts.models.min_effects import MinEffect, MinEffectChange
