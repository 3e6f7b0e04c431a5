"""Experiments read: what they compare, and what was typed about them."""

from webapp.experiments.queries.bench_facts import machine_lines
from webapp.experiments.queries.frozen import FrozenTable, frozen_points, frozen_table
from webapp.experiments.queries.typed_against_data import AsTyped, as_typed, contradictions

__all__ = [
    "AsTyped",
    "FrozenTable",
    "as_typed",
    "contradictions",
    "frozen_points",
    "frozen_table",
    "machine_lines",
]
