"""Experiments read: what they compare, and what was typed about them."""

from webapp.experiments.queries.bench_facts import AsTyped, as_typed, contradictions, machine_lines
from webapp.experiments.queries.frozen import FrozenTable, frozen_points, frozen_table

__all__ = [
    "AsTyped",
    "FrozenTable",
    "as_typed",
    "contradictions",
    "frozen_points",
    "frozen_table",
    "machine_lines",
]
