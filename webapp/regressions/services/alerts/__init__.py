"""Alerts: made from findings by the system, triaged by people, watched by the clock."""

from webapp.regressions.services.alerts.clock import pass_time
from webapp.regressions.services.alerts.naming import tell_bisect
from webapp.regressions.services.alerts.reconciling import reconcile_trees
from webapp.regressions.services.alerts.regrouping import merge, move, split
from webapp.regressions.services.alerts.triage import (
    AlertChanged,
    TriageError,
    acknowledge,
    investigate,
    mark_duplicate,
    reopen,
    resolve,
    snooze,
    snooze_until_revision,
    undo,
)

__all__ = [
    "AlertChanged",
    "TriageError",
    "acknowledge",
    "investigate",
    "mark_duplicate",
    "merge",
    "move",
    "pass_time",
    "reconcile_trees",
    "reopen",
    "resolve",
    "snooze",
    "snooze_until_revision",
    "split",
    "tell_bisect",
    "undo",
]
