"""Pages of operators, one file per part, like the models."""

from webapp.results.admin import history, runs, subjects
from webapp.results.admin.history import RevisionAdmin
from webapp.results.admin.subjects import HardwareAdmin, ModeAdmin
