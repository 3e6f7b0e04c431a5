"""Pages of operators, one file per part, like the models."""

from webapp.results.admin import history, runs, series, subjects

__all__ = ["history", "runs", "series", "subjects"]
