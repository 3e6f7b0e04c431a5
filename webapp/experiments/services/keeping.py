"""An experiment from what a page compares, its rows with what was known of the noise at that time,
another of its sides as the baseline, and what people state of it: notes, what counts as equivalent,
and how it ended.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from math import isfinite
from typing import TypeVar

from django.db import transaction

from webapp.accounts.models import User
from webapp.analysis import queries
from webapp.experiments.directories import index_of
from webapp.experiments.models import QUESTION_MAX, Cell, Experiment, ExperimentEvent, Side
from webapp.experiments.queries import frozen_table
from webapp.results.models import Hardware, Metric, Mode, Series
from webapp.results.services import Problem, Unprocessable
from webapp.stats.metrics import MARGIN_PCT

Kind = ExperimentEvent.Kind
LARGEST_MARGIN_PCT = 100.0

Row = TypeVar("Row", Hardware, Mode, Metric)


@transaction.atomic
def keep_comparison(
    *, sides: Sequence[queries.Side], asof: datetime, owner: User | None, question: str = ""
) -> Experiment:
    """Keep what two to seven sides show at ``asof`` as a draft. Raises SideError: a side cannot be
    found, or nothing was measured on every one.
    """
    table = queries.compare_sides(sides, asof)
    if table.rows and any(row.metric.is_cost for row in table.rows):
        raise queries.SideError(
            "what an option costs is computed from two series and changes with either: keep the "
            "comparison of the mode with and without the option instead"
        )
    if not table.rows:
        raise queries.SideError("nothing was measured on every side: there is nothing to keep")
    experiment = Experiment.objects.create(
        question=(question.strip() or title_of(sides))[:QUESTION_MAX],
        is_typed=bool(question.strip()),
        tree=table.revisions[0].tree,
        owner=owner,
        margin_pct=MARGIN_PCT,
        asof=asof,
    )
    add_parts(experiment, table, [TypedCell(row) for row in table.rows])
    ExperimentEvent.objects.create(
        experiment=experiment, kind=ExperimentEvent.Kind.KEPT, actor=owner
    )
    return experiment


def title_of(sides: Sequence[queries.Side]) -> str:
    """``r303643 against r303642``: a question nobody typed."""
    base, *others = map(short, sides)
    return f"{', '.join(others)} against {base}"


def short(side: queries.Side) -> str:
    """``r303643+VIMAGE``, ``r303643 pf``: kernel and mode."""
    mode = str(side.workload or side.mode)
    return side.kernel + (mode if side.options else f" {mode}" if mode else "")


def add_note(*, experiment: Experiment, actor: User, text: str) -> None:
    """A line of the log; nothing else changes."""
    ExperimentEvent.objects.create(experiment=experiment, kind=Kind.NOTE, actor=actor, text=text)


@transaction.atomic
def set_margin(*, experiment: Experiment, actor: User, margin_pct: float) -> None:
    """Judge every cell by this margin from now on; the log has by which before. Raises
    Unprocessable: it is no percentage between 0 and 100.
    """
    if not (isfinite(margin_pct) and 0 < margin_pct <= LARGEST_MARGIN_PCT):
        message = f"more than 0 and at most {LARGEST_MARGIN_PCT:g} percent, for example 2"
        raise Unprocessable([Problem("margin", message)])
    locked = Experiment.objects.select_for_update().get(pk=experiment.pk)
    before = sorted({locked.margin_pct, *locked.cells.values_list("margin_pct", flat=True)})
    if before == [margin_pct]:
        return
    locked.cells.update(margin_pct=margin_pct)
    locked.margin_pct = margin_pct
    locked.save(update_fields=["margin_pct"])
    old = ", ".join(f"{one:g}" for one in before)
    text = f"{old} % → {margin_pct:g} %"
    ExperimentEvent.objects.create(experiment=locked, kind=Kind.MARGIN, actor=actor, text=text)


def conclude(*, experiment: Experiment, actor: User, text: str) -> None:
    """Decide an experiment: ``text`` is people's conclusion."""
    _end(experiment, actor, Experiment.State.DECIDED, Kind.CONCLUDED, text)


def give_up(*, experiment: Experiment, actor: User, text: str) -> None:
    """Nobody goes on with it, and ``text`` is why."""
    _end(experiment, actor, Experiment.State.GIVEN_UP, Kind.GIVEN_UP, text)


@transaction.atomic
def _end(
    experiment: Experiment, actor: User, state: Experiment.State, kind: Kind, text: str
) -> None:
    experiment.state = state
    experiment.conclusion = text
    experiment.save(update_fields=["state", "conclusion"])
    ExperimentEvent.objects.create(experiment=experiment, kind=kind, actor=actor, text=text)


@transaction.atomic
def set_baseline(*, experiment: Experiment, actor: User | None, order: int) -> None:
    """Compare with its side ``order`` from now on, by the noise of builds that is known of that
    side today; the log names both. Raises Unprocessable: it has no such side;
    webapp.analysis.queries.SideError: what it compares is gone.
    """
    Experiment.objects.select_for_update().get(pk=experiment.pk)
    locked = Experiment.objects.with_subjects().get(pk=experiment.pk)
    sides = list(locked.sides.all())
    if not 0 <= order < len(sides):
        raise Unprocessable([Problem("baseline", "this report has no such side")])
    if order == 0:
        return
    frozen = frozen_table(locked)
    _rebase_cells(list(zip(frozen.cells, frozen.table.rows, strict=True)), order)
    text = f"{_title(sides[0])} → {_title(sides[order])}"
    _reorder(locked, [sides[order], *sides[:order], *sides[order + 1 :]])
    kind = ExperimentEvent.Kind.BASELINE
    ExperimentEvent.objects.create(experiment=locked, kind=kind, actor=actor, text=text)


def set_named_baseline(experiment: Experiment, name: str) -> None:
    """The same of the side that an uploader calls ``name``. Raises as `set_baseline`."""
    sides = list(Side.objects.filter(experiment=experiment).select_related(*SUBJECTS))
    order = index_of([one.compared for one in sides], name, [one.label for one in sides])
    if order is None:
        titles = ", ".join(map(_title, sides))
        raise Unprocessable([Problem("baseline", NOT_CALLED.format(name=name, sides=titles))])
    set_baseline(experiment=experiment, actor=None, order=order)


NOT_CALLED = "no side, or more than one, is called {name}; the sides are {sides}"
SUBJECTS = ("revision__tree", "variant", "hardware", "mode", "metric")


def _title(side: Side) -> str:
    return side.label or short(side.compared)


def _rebase_cells(found: list[tuple[Cell, queries.ComparedRow]], order: int) -> None:
    bases = {cell.pk: row.sets[order] for cell, row in found}
    series = Series.objects.select_related("metric").in_bulk(
        [one.series_id for one in bases.values()]
    )
    facts = queries.facts_of(series.values())
    for cell, _ in found:
        base, its = bases[cell.pk], facts[bases[cell.pk].series_id]
        noise = its.build_noise
        cell.hardware_id, cell.mode_id = base.hardware.pk, base.mode.pk
        cell.metric_id = series[base.series_id].metric_id
        cell.build_noise_pct = noise.percent if noise else None
        cell.build_noise_df = noise.df if noise else None
        cell.belief = asdict(its.belief)
        if cell.labels:
            cell.labels.insert(0, cell.labels.pop(order))
    fields = ["hardware", "mode", "metric", "build_noise_pct", "build_noise_df", "belief", "labels"]
    Cell.objects.bulk_update([cell for cell, _ in found], fields)


def _reorder(experiment: Experiment, sides: list[Side]) -> None:
    """Written anew: no two sides of an experiment have one place, even for a moment."""
    experiment.sides.all().delete()
    for order, side in enumerate(sides):
        side.pk, side.order = None, order
    Side.objects.bulk_create(sides)


@dataclass(frozen=True, slots=True)
class TypedCell:
    """A row, and what the lab typed about it; empty where it typed nothing."""

    row: queries.ComparedRow
    heading: str = ""
    labels: tuple[str, ...] = ()
    printed_by: queries.BlockOptions | None = None


def add_parts(
    experiment: Experiment,
    table: queries.ComparedTable,
    cells: Sequence[TypedCell],
    labels: Sequence[str] = (),
) -> None:
    """The sides of ``table`` and ``cells``, in their order, as parts of a stored experiment.
    ``labels`` are what the lab calls the sides."""
    Side.objects.bulk_create(_sides(experiment, table, labels))
    bases = [cell.row.sets[0].series_id for cell in cells]
    series = Series.objects.select_related("metric").in_bulk(bases)
    facts = queries.facts_of(series.values())
    Cell.objects.bulk_create(
        _cell(experiment, order, cell, series[base], facts[base])
        for order, (cell, base) in enumerate(zip(cells, bases, strict=True))
    )


def _sides(
    experiment: Experiment, table: queries.ComparedTable, labels: Sequence[str]
) -> list[Side]:
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
    side: queries.Side, row: queries.ComparedRow, order: int, modes: dict[str, Mode]
) -> Mode | None:
    """Under a former name of its mode, or by its workload, a side was found by what it measured."""
    if not side.mode or side.options:
        return None
    return modes.get(side.mode_name) or row.sets[order].mode


def _named(model: type[Row], names: Sequence[str]) -> dict[str, Row]:
    wanted = {name for name in names if name}
    return {row.name: row for row in model.objects.filter(name__in=wanted)} if wanted else {}


def _cell(
    experiment: Experiment, order: int, cell: TypedCell, base: Series, facts: queries.SeriesFacts
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
