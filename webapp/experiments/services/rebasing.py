"""Another of its sides as the baseline of an experiment."""

from dataclasses import asdict

from django.db import transaction

from webapp.accounts.models import User
from webapp.analysis.queries import ComparedRow, facts_of
from webapp.experiments.arranging import index_of
from webapp.experiments.models import Cell, Experiment, ExperimentEvent, Side
from webapp.experiments.queries import frozen_table
from webapp.experiments.services.keeping import short
from webapp.results.models import Series
from webapp.results.services import Problem, Unprocessable


@transaction.atomic
def set_baseline(*, experiment: Experiment, actor: User | None, order: int) -> None:
    """Compare with its side ``order`` from now on, by the noise of builds that is known of that
    side today; the log names both.

    Raises:
        Unprocessable: it has no such side.
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


def _rebase_cells(found: list[tuple[Cell, ComparedRow]], order: int) -> None:
    bases = {cell.pk: row.sets[order] for cell, row in found}
    series = Series.objects.select_related("metric").in_bulk(
        [one.series_id for one in bases.values()]
    )
    facts = facts_of(series.values())
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
