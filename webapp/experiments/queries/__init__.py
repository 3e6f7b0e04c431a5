"""Experiments read: what they compare, and what was typed about them."""

from webapp.experiments.queries.bench_facts import machine_lines
from webapp.experiments.queries.frozen import FrozenTable, frozen_points, frozen_table
from webapp.experiments.queries.typed_against_data import contradictions

__all__ = [
    "FrozenTable",
    "contradictions",
    "frozen_points",
    "frozen_table",
    "machine_lines",
]
