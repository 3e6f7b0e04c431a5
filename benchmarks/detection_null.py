"""Null: how often a series without any change is reported to have one."""

from dataclasses import dataclass

import numpy as np

from benchmarks import cells, intervals
from benchmarks.cells import Cell
from webapp.stats.changes.online import advance_one
from webapp.stats.changes.online_analysis import present
from webapp.stats.changes.online_state import OnlineState
from webapp.stats.changes.points import reduce_points
from webapp.stats.simulate import draw_levels, draw_samples

REVISIONS = 200
CLEAN_GOAL, DIRTY_GOAL = 2.0, 5.0
"""Upper bounds, per 1,000 revisions."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Of one cell: what is left at the end, and what was confirmed on the way."""

    revisions: int
    kept: int
    ever: int
    candidates: int


def count_alerts(cell: Cell, series: int, seed: int, *, candidates: bool = False) -> Counts:
    """Read `series` series without a change; candidates cost a look after every revision."""
    rng = np.random.default_rng(seed)
    kept = ever = alone = 0
    for _ in range(series):
        levels = draw_levels(rng, 1, REVISIONS, cell.scatter)[0]
        values = draw_samples(rng, levels, cells.SAMPLES, cell.scatter)
        state = OnlineState()
        for value in reduce_points(cells.series_of(values)):
            if value is not None:
                advance_one(state, value)
            if candidates:
                alone += _is_candidate(state)
        changes = sum(item.kind == "change" for item in state.breaks)
        kept += changes
        ever += changes + len(state.retracted)
    return Counts(series * REVISIONS, kept, ever, alone)


def _is_candidate(state: OnlineState) -> bool:
    newest = present(state, "more").newest
    return newest is not None and newest.score >= newest.needed


def report(series: int, seed: int) -> str:
    """Return the table of all cells."""
    rows = []
    for cell in cells.ALL:
        counts = count_alerts(cell, series, seed)
        looks = count_alerts(cell, max(series // 50, 1), seed + 1, candidates=True)
        goal = CLEAN_GOAL if cell.is_clean else DIRTY_GOAL
        kept = intervals.rate(counts.kept, counts.revisions)
        ever = intervals.rate(counts.ever, counts.revisions)
        alone = intervals.rate(looks.candidates, looks.revisions)
        rows.append(
            (
                cell.name,
                intervals.with_range(kept),
                intervals.with_range(ever),
                intervals.with_range(alone, 1),
                f"≤ {goal:g}",
                _reached(kept[2], ever[2], goal),
            )
        )
    header = ("cell", "whole", "replayed", "candidates", "goal (upper bound)", "reached")
    return (
        f"{series} series of {REVISIONS} revisions, {cells.SAMPLES} samples each, in every cell; "
        "false alerts per 1,000 revisions. *Whole* is what is found at the end, *replayed* what "
        "was confirmed at any moment (retracted or not), *candidates* rest on one revision and "
        "are shown, never mailed.\n\n" + intervals.table(header, rows)
    )


def _reached(kept: float, ever: float, goal: float) -> str:
    if ever <= goal:
        return "yes"
    return "whole only" if kept <= goal else "**no**"
