"""Pages of operators, one file per part, like the models."""

from webapp.results.admin import (
    history,
    pooling_decisions,
    runs,
    sample_decisions,
    series,
    subjects,
    waiting,
)
from webapp.results.admin.history import RevisionAdmin
from webapp.results.admin.subjects import HardwareAdmin, ModeAdmin

__all__ = [
    "HardwareAdmin",
    "ModeAdmin",
    "RevisionAdmin",
    "history",
    "pooling_decisions",
    "runs",
    "sample_decisions",
    "series",
    "subjects",
    "waiting",
]
