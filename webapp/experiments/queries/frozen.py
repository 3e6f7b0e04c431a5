"""What an experiment compares, as it was: the same runs, the same knowledge of their noise."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from webapp.analysis.queries import (
    ComparedRow,
    ComparedTable,
    PointTable,
    SeriesFacts,
    Side,
    SidePoint,
    as_points,
    compare_points,
    compare_sides,
)
from webapp.experiments.models import Cell, Experiment
from webapp.results.models import Series
from webapp.stats.better import Better
from webapp.stats.compare import BuildNoise
from webapp.stats.decisive import Belief
from webapp.stats.defaults import MARGIN_PCT

Key = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class FrozenTable:
    """The rows of ``table`` are those of ``cells``, one by one; ``lost`` are the cells that have no
    row any more."""

    table: ComparedTable
    cells: tuple[Cell, ...]
    lost: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class FrozenPoints:
    """The same without samples."""

    table: PointTable
    cells: tuple[Cell, ...]
    lost: tuple[Cell, ...]


def frozen_table(experiment: Experiment, only: Collection[int] | None = None) -> FrozenTable:
    """In the order of its cells, its sets by the lab's own labels; with ``only`` the cells of these
    series (ids), and what is else there is lost. The number of statements depends on the number of
    sides only. Needs `with_subjects`.

    Raises:
        webapp.analysis.queries.SideError: what was measured of a side is gone.
    """
    cells = list(experiment.cells.all())
    known = {(cell.hardware_id, cell.mode_id, cell.metric_id): cell for cell in cells}

    def judged_by(series: Iterable[Series]) -> Mapping[int, SeriesFacts]:
        return {one.pk: _facts(one.better, known.get(_key(one))) for one in series}

    table = compare_sides(_sides(experiment), experiment.asof, judged_by, only)
    rows = {_key_of(row): row for row in table.rows}
    found = [(cell, rows[key]) for key, cell in known.items() if key in rows]
    return FrozenTable(
        table=replace(table, rows=tuple(_labelled(row, cell) for cell, row in found)),
        cells=tuple(cell for cell, _ in found),
        lost=tuple(cell for key, cell in known.items() if key not in rows),
    )


def frozen_points(experiment: Experiment) -> FrozenPoints:
    """All cells, by what points keep of their samples; where a point pools other runs now than
    then, by the samples. As `frozen_table`.
    """
    cells = list(experiment.cells.all())
    known = {(cell.hardware_id, cell.mode.name, cell.metric.name): cell for cell in cells}

    def judged_by(base: SidePoint) -> SeriesFacts:
        return _facts(base.better, known.get((base.hardware.pk, base.mode, base.metric)))

    table = compare_points(_sides(experiment), experiment.asof, judged_by)
    if table is None:
        frozen = frozen_table(experiment)
        return FrozenPoints(as_points(frozen.table), frozen.cells, frozen.lost)
    bases = ((row.base, row) for row in table.rows)
    rows = {(base.hardware.pk, base.mode, base.metric): row for base, row in bases}
    found = [(cell, rows[key]) for key, cell in known.items() if key in rows]
    return FrozenPoints(
        table=replace(table, rows=tuple(row for _, row in found)),
        cells=tuple(cell for cell, _ in found),
        lost=tuple(cell for key, cell in known.items() if key not in rows),
    )


def _sides(experiment: Experiment) -> list[Side]:
    return [side.compared for side in experiment.sides.all()]


def _key(series: Series) -> Key:
    return series.hardware_id, series.mode_id, series.metric_id


def _key_of(row: ComparedRow) -> Key:
    base = row.sets[0]
    return base.hardware.pk, base.mode.pk, row.metric.pk


def _facts(better: Better, cell: Cell | None) -> SeriesFacts:
    if cell is None:  # measured by then, and not kept: its row is dropped
        return SeriesFacts(better, MARGIN_PCT, None)
    noise = None
    if cell.build_noise_pct is not None and cell.build_noise_df is not None:
        noise = BuildNoise(cell.build_noise_pct, cell.build_noise_df)
    belief = Belief(**cell.belief) if cell.belief else Belief()
    return SeriesFacts(better, cell.margin_pct, noise, belief)


def _labelled(row: ComparedRow, cell: Cell) -> ComparedRow:
    if not cell.labels:
        return row
    sets = zip(row.sets, cell.labels, strict=True)
    return replace(row, sets=tuple(replace(one, label=label) for one, label in sets))
