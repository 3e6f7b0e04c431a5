"""Rows of an experiment from a comparison, with what was known of the noise at that time."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TypeVar

from webapp.analysis.queries import BlockOptions, ComparedRow, ComparedTable, SeriesFacts, facts_of
from webapp.analysis.queries import Side as ComparedSide
from webapp.experiments.models import Cell, Experiment, Side
from webapp.results.models import Hardware, Metric, Mode, Series

Row = TypeVar("Row", Hardware, Mode, Metric)


@dataclass(frozen=True, slots=True)
class TypedCell:
    """A row, and what the lab typed about it; empty where it typed nothing."""

    row: ComparedRow
    heading: str = ""
    labels: tuple[str, ...] = ()
    printed_by: BlockOptions | None = None


def add_parts(
    experiment: Experiment,
    table: ComparedTable,
    cells: Sequence[TypedCell],
    labels: Sequence[str] = (),
) -> None:
    """The sides of ``table`` and ``cells``, in their order, as parts of a stored experiment.
    ``labels`` are what the lab calls the sides."""
    Side.objects.bulk_create(_sides(experiment, table, labels))
    bases = [cell.row.sets[0].series_id for cell in cells]
    series = Series.objects.select_related("metric").in_bulk(bases)
    facts = facts_of(series.values())
    Cell.objects.bulk_create(
        _cell(experiment, order, cell, series[base], facts[base])
        for order, (cell, base) in enumerate(zip(cells, bases, strict=True))
    )


def _sides(experiment: Experiment, table: ComparedTable, labels: Sequence[str]) -> list[Side]:
    hardware = _named(Hardware, [side.hardware for side in table.sides])
    modes = _named(Mode, [side.mode_name for side in table.sides])
    metrics = _named(Metric, [side.metric for side in table.sides])
    first = table.rows[0].sets
    return [
        Side(
            experiment=experiment,
            order=order,
            label=labels[order] if labels else "",
            revision=table.revisions[order],
            variant=first[order].variant,
            hardware=hardware.get(side.hardware),
            mode=_mode_of(side, table.rows[0], order, modes),
            metric=metrics.get(side.metric),
            every_traffic=side.workload is not None,
            options=list(side.options),
            session=side.session,
        )
        for order, side in enumerate(table.sides)
    ]


def _mode_of(
    side: ComparedSide, row: ComparedRow, order: int, modes: dict[str, Mode]
) -> Mode | None:
    """Under a former name of its mode, or by its workload, a side was found by what it measured."""
    if not side.mode or side.options:
        return None
    return modes.get(side.mode_name) or row.sets[order].mode


def _named(model: type[Row], names: Sequence[str]) -> dict[str, Row]:
    wanted = {name for name in names if name}
    return {row.name: row for row in model.objects.filter(name__in=wanted)} if wanted else {}


def _cell(
    experiment: Experiment, order: int, cell: TypedCell, base: Series, facts: SeriesFacts
) -> Cell:
    noise = facts.build_noise
    return Cell(
        experiment=experiment,
        order=order,
        hardware_id=base.hardware_id,
        mode_id=base.mode_id,
        metric_id=base.metric_id,
        margin_pct=facts.margin_pct,
        build_noise_pct=noise.percent if noise else None,
        build_noise_df=noise.df if noise else None,
        belief=asdict(facts.belief),
        heading=cell.heading,
        labels=list(cell.labels),
        flavour=cell.printed_by.flavour if cell.printed_by else "",
        separate_bars=cell.printed_by.separate_bars if cell.printed_by else True,
    )
