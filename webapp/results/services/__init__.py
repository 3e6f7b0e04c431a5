"""Writes to what was measured, one file per matter."""

from webapp.results.services.names import forget_names
from webapp.results.services.pooling import mark_dirty
from webapp.results.services.recording import record_runs
from webapp.results.services.refusals import note_refused_replacement
from webapp.results.services.reshaping import begin_writing
from webapp.results.services.tree_locks import lock_trees
from webapp.results.services.withdrawing import restore_run, withdraw_run

__all__ = [
    "begin_writing",
    "forget_names",
    "lock_trees",
    "mark_dirty",
    "note_refused_replacement",
    "record_runs",
    "restore_run",
    "withdraw_run",
]
