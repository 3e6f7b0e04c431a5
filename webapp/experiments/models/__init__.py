"""Experiments: a question, the sides that answer it, and what people typed about it."""

from webapp.experiments.models.experiments import (
    QUESTION_MAX,
    SOURCE_MAX,
    Experiment,
    ExperimentEvent,
)
from webapp.experiments.models.parts import Cell, Side

__all__ = [
    "QUESTION_MAX",
    "SOURCE_MAX",
    "Cell",
    "Experiment",
    "ExperimentEvent",
    "Side",
]
