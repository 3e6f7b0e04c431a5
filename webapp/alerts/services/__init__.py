"""Alerts: made from findings by the system, triaged by people, watched by the clock."""

from webapp.alerts.services.analysing import analyse_dirty_series, pass_time, reconcile_trees
from webapp.alerts.services.events import begin_hold, end_holds, note_bisect, quietly
from webapp.alerts.services.regrouping import (
    alerts_that_join,
    join_excursions,
    join_slow_losses,
    merge,
    move,
    move_conclusions,
    split,
)
from webapp.alerts.services.triage import (
    MinEffectError,
    TriageError,
    acknowledge,
    ensure_percent,
    investigate,
    mark_duplicate,
    reopen,
    resolve,
    set_min_effect,
    snooze,
    snooze_until_revision,
    undo,
    undo_min_effect,
)
