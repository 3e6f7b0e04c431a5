"""An experiment from a directory of an archive: its runs, and what its README says of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from django.db import IntegrityError, transaction

from webapp.analysis.queries import (
    SESSION_MARK,
    BlockOptions,
    ComparedRow,
    ComparedTable,
    Side,
    compare_sides,
)
from webapp.experiments.arranging import Measured, arrange
from webapp.experiments.models import QUESTION_MAX, Experiment, ExperimentEvent
from webapp.experiments.models.parts import SESSION_MAX
from webapp.experiments.services.freezing import TypedCell, add_parts
from webapp.experiments.services.keeping import title_of
from webapp.experiments.typed import (
    Figures,
    Typed,
    TypedBlock,
    read_typed,
    same_text,
    shared_label,
)
from webapp.labs.models import Lab
from webapp.results.models import Run
from webapp.results.services import Problem, Unprocessable
from webapp.stats.defaults import MARGIN_PCT

NEWEST_FIRST = ("current", "2016", "2016-onepass", "2015")
"""The flavours of ministat: where several print a block so, the newest is the likeliest."""

LIKELY_OPTIONS = tuple(
    BlockOptions(flavour=flavour, separate_bars=separate)
    for flavour in NEWEST_FIRST
    for separate in (True, False)
)

NO_SIDES = (
    "these runs are no two sides: no two kernels, sets of options or workloads of one tree that "
    "were measured on the same machine, or more than seven of them"
)


@dataclass(frozen=True, slots=True)
class Directory:
    """What an agent says of one: where it lies, or what it is to be called, its README and runs.
    ``question`` is its title where the README has none."""

    source: str
    readme: str
    runs: Sequence[UUID]
    question: str = ""


def import_directory(*, lab: Lab, directory: Directory, now: datetime) -> tuple[Experiment, bool]:
    """The experiment that a directory holds, and whether it is new: sent twice it is stored once,
    as it was first.

    Raises:
        Unprocessable: the runs that are stored of it are no two sides.
    """
    known = Experiment.objects.filter(lab=lab, source=directory.source)
    if found := known.first():
        return found, False
    try:
        with transaction.atomic():
            return _imported(lab, directory, now), True
    except IntegrityError:  # another upload of the same directory was quicker
        return known.get(), False


def _imported(lab: Lab, directory: Directory, now: datetime) -> Experiment:
    measured = _measured(lab, directory.runs)
    sides = arrange(measured)
    if not sides:
        raise Unprocessable([Problem("runs", NO_SIDES)])
    typed = read_typed(directory.readme)
    table = _of_runs(_as_typed(compare_sides(sides, now), typed, now), measured)
    if not table.rows:
        raise Unprocessable([Problem("runs", NO_SIDES)])
    cells, unmatched = _cells(table, typed)
    experiment = Experiment.objects.create(
        question=(typed.title or directory.question or title_of(table.sides))[:QUESTION_MAX],
        is_typed=bool(typed.title or directory.question),
        tree=table.revisions[0].tree,
        lab=lab,
        margin_pct=MARGIN_PCT,
        state=Experiment.State.IMPORTED,
        asof=now,
        bullets=list(typed.bullets),
        closing=typed.closing,
        source=directory.source,
    )
    add_parts(experiment, table, cells, _labels(table, cells))
    ExperimentEvent.objects.create(
        experiment=experiment,
        kind=ExperimentEvent.Kind.IMPORTED,
        text="\n".join(f"typed, not in the data: {', '.join(one.names)}" for one in unmatched),
    )
    return experiment


def _measured(lab: Lab, runs: Sequence[UUID]) -> list[Measured]:
    """What the stored runs of the lab measured; those that wait or were withdrawn are left out."""
    found = list(
        Run.objects.current()
        .counted()
        .placed()
        .filter(uuid__in=runs, agent__lab=lab)
        .select_related("revision__tree", "hardware", "mode", "variant")
        .defer("facts", "sources", "warnings")
    )
    session = _sessions_of(found)
    return [
        Measured(
            tree=run.revision.tree.name,
            revision=run.revision.name,
            position=run.revision.position,
            variant=run.variant.name if run.variant else "",
            hardware=run.hardware.name,
            mode=run.mode.parts,
            session=session,
        )
        for run in found
    ]


def _sessions_of(runs: Iterable[Run]) -> str:
    """Those of the runs, as a side writes them; empty, which takes all, where a run names none or
    they are too long to be kept."""
    names = sorted({run.session for run in runs})
    text = SESSION_MARK.join(names)
    return text if all(names) and len(text) <= SESSION_MAX else ""


def _of_runs(table: ComparedTable, measured: Sequence[Measured]) -> ComparedTable:
    """The rows that these runs measured: directories of other machines may bear the same name."""
    measured_names = {(one.hardware, str(one.mode)) for one in measured}
    rows = (row for row in table.rows if _names_of(row) in measured_names)
    return replace(table, rows=tuple(rows))


def _names_of(row: ComparedRow) -> tuple[str, str]:
    base = row.sets[0]
    return base.hardware.name, base.mode.name


def _as_typed(table: ComparedTable, typed: Typed, now: datetime) -> ComparedTable:
    """The table with its sides in the order of the first typed block that the data have."""
    orders = (_order(table, index, block) for block in typed.blocks for index in _rows(table))
    order = next((found for found in orders if found), None)
    if order is None or order == tuple(range(len(table.sides))):
        return table
    sides: list[Side] = [table.sides[index] for index in order]
    return compare_sides(sides, now)


def _rows(table: ComparedTable) -> range:
    return range(len(table.rows))


def _order(table: ComparedTable, index: int, block: TypedBlock) -> tuple[int, ...] | None:
    return block.order_among([Figures.of(one.samples) for one in table.rows[index].sets])


def _cells(table: ComparedTable, typed: Typed) -> tuple[list[TypedCell], list[TypedBlock]]:
    """The rows with what was typed above them, in the README's order, then those it does not have;
    and the blocks that no row is of."""
    left = dict(enumerate(table.rows))
    cells: list[TypedCell] = []
    unmatched: list[TypedBlock] = []
    for block in typed.blocks:
        found = next((index for index in left if _order(table, index, block)), None)
        if found is None:
            unmatched.append(block)
            continue
        order = _order(table, found, block) or ()
        named = dict(zip(order, block.names, strict=True))
        labels = tuple(named[index] for index in range(len(table.sides)))
        cell = TypedCell(left.pop(found), block.heading, labels)
        cells.append(replace(cell, printed_by=_printed_by(cell, block)))
    return [*cells, *(TypedCell(row) for row in left.values())], unmatched


def _printed_by(cell: TypedCell, block: TypedBlock) -> BlockOptions | None:
    """The ministat that printed the block; None where none of ours prints it so."""
    if not cell.row.can_render:
        return None
    samples = [one.samples for one in cell.row.sets]
    sets = list(zip(cell.labels, samples, strict=True))
    found = (one for one in LIKELY_OPTIONS if same_text(one.render(sets), block.text))
    return next(found, None)


def _labels(table: ComparedTable, cells: Sequence[TypedCell]) -> list[str]:
    typed = [cell.labels for cell in cells if cell.labels]
    columns = [[labels[index] for labels in typed] for index in range(len(table.sides))]
    return [shared_label(column) for column in columns]
