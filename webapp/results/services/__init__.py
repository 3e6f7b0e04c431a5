"""Writes to what was measured, one file per matter."""

from webapp.results.documents import MetricDocument, Recorded, RunDocument
from webapp.results.errors import Conflict, Forbidden, Problem, ResultsError, Unprocessable
from webapp.results.identity import Evidence
from webapp.results.services.bulk import fetch_rows, insert_rows
from webapp.results.services.hardware_names import (
    foreign_hardware,
    hardware_named,
    unknown_hardware,
)
from webapp.results.services.known_revisions import ensure_revision
from webapp.results.services.merging import (
    begin_merge,
    end_subject,
    hand_over,
    move_runs,
    move_series,
)
from webapp.results.services.names import forget_names
from webapp.results.services.pooling import mark_dirty
from webapp.results.services.pooling_decisions import count_together, undo_pooling_decision
from webapp.results.services.recording import record_runs
from webapp.results.services.refusals import note_refused_replacement
from webapp.results.services.reshaping import begin_writing
from webapp.results.services.subjects import register_hardware
from webapp.results.services.tree_locks import lock_trees
from webapp.results.services.twins import dismiss_twins, suggest_again, suggested_twins
from webapp.results.services.waiting import decide_waiting, reopen_waiting
from webapp.results.services.withdrawing import restore_run, withdraw_run

__all__ = [
    "Conflict",
    "Evidence",
    "Forbidden",
    "MetricDocument",
    "Problem",
    "Recorded",
    "ResultsError",
    "RunDocument",
    "Unprocessable",
    "begin_merge",
    "begin_writing",
    "count_together",
    "decide_waiting",
    "dismiss_twins",
    "end_subject",
    "ensure_revision",
    "fetch_rows",
    "foreign_hardware",
    "forget_names",
    "hand_over",
    "hardware_named",
    "insert_rows",
    "lock_trees",
    "mark_dirty",
    "move_runs",
    "move_series",
    "note_refused_replacement",
    "record_runs",
    "register_hardware",
    "reopen_waiting",
    "restore_run",
    "suggest_again",
    "suggested_twins",
    "undo_pooling_decision",
    "unknown_hardware",
    "withdraw_run",
]
