"""What an experiment compares, as it was: the same runs, the same knowledge of their noise."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from webapp.analysis.queries import ComparedRow, ComparedTable, SeriesFacts, compare_sides
from webapp.experiments.models import Cell, Experiment
from webapp.results.models import Series
from webapp.stats.compare import BuildNoise
from webapp.stats.defaults import MARGIN_PCT

Key = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class FrozenTable:
    """The rows of ``table`` are those of ``cells``, one by one; ``lost`` are the cells that have no
    row any more."""

    table: ComparedTable
    cells: tuple[Cell, ...]
    lost: tuple[Cell, ...]


def frozen_table(experiment: Experiment) -> FrozenTable:
    """In the order of its cells, its sets by the lab's own labels. The number of statements depends
    on the number of sides only. Needs `with_subjects`.

    Raises:
        webapp.analysis.queries.SideError: what was measured of a side is gone.
    """
    cells = list(experiment.cells.all())
    known = {(cell.hardware_id, cell.mode_id, cell.metric_id): cell for cell in cells}

    def judged_by(series: Iterable[Series]) -> Mapping[int, SeriesFacts]:
        return {one.pk: _facts(one, known.get(_key(one))) for one in series}

    sides = [side.compared for side in experiment.sides.all()]
    table = compare_sides(sides, experiment.asof, judged_by)
    rows = {_key_of(row): row for row in table.rows}
    found = [(cell, rows[key]) for key, cell in known.items() if key in rows]
    return FrozenTable(
        table=replace(table, rows=tuple(_labelled(row, cell) for cell, row in found)),
        cells=tuple(cell for cell, _ in found),
        lost=tuple(cell for key, cell in known.items() if key not in rows),
    )


def _key(series: Series) -> Key:
    return series.hardware_id, series.mode_id, series.metric_id


def _key_of(row: ComparedRow) -> Key:
    base = row.sets[0]
    return base.hardware.pk, base.mode.pk, row.metric.pk


def _facts(series: Series, cell: Cell | None) -> SeriesFacts:
    if cell is None:  # measured by then, and not kept: its row is dropped
        return SeriesFacts(series.better, MARGIN_PCT, None)
    noise = None
    if cell.build_noise_pct is not None and cell.build_noise_df is not None:
        noise = BuildNoise(cell.build_noise_pct, cell.build_noise_df)
    return SeriesFacts(series.better, cell.margin_pct, noise)


def _labelled(row: ComparedRow, cell: Cell) -> ComparedRow:
    if not cell.labels:
        return row
    sets = zip(row.sets, cell.labels, strict=True)
    return replace(row, sets=tuple(replace(one, label=label) for one, label in sets))
