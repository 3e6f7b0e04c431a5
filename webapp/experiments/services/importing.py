"""An experiment from a directory of an archive, by its runs and its README's text on them; and
from directories that lie beside one another (`X` and `X.D58513`, RSS and no RSS).
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.db.models.fields.json import KeyTextTransform

from webapp.analysis import queries
from webapp.experiments import directories
from webapp.experiments.models import (
    QUESTION_MAX,
    SESSION_MAX,
    SOURCE_MAX,
    Experiment,
    ExperimentEvent,
)
from webapp.experiments.services import keeping
from webapp.labs.models import Lab
from webapp.results.models import Run
from webapp.results.services import Problem, Unprocessable
from webapp.stats.metrics import MARGIN_PCT

NEWEST_FIRST = ("current", "2016", "2016-onepass", "2015")
"""The flavours of ministat: where several print a block so, the newest is the likeliest."""

LIKELY_OPTIONS = tuple(
    queries.BlockOptions(flavour=flavour, separate_bars=separate)
    for flavour in NEWEST_FIRST
    for separate in (True, False)
)

NOT_COUNTED = "{count} of its {all} runs have no sample that counts"
NOTHING_SHARED = "nothing was measured in the same metric on every side"
NOT_THERE = "{count} of its {all} runs wait for a decision, were withdrawn or are not stored"


@dataclass(frozen=True, slots=True)
class Directory:
    """An agent's description of one: where it lies, or what it is to be called, its README and
    runs. ``question`` is its title where the README has none, ``baseline`` what it calls the side
    that the others are compared with; empty: as `arrange` has it."""

    source: str
    readme: str
    runs: Sequence[UUID]
    question: str = ""
    baseline: str = ""


def import_directory(*, lab: Lab, directory: Directory, now: datetime) -> tuple[Experiment, bool]:
    """The experiment that a directory holds, and whether it is new: sent twice it is stored once,
    as it was first, but for a baseline that is named. Raises Unprocessable: the runs that are
    stored of it are no two sides, or none is called so.
    """
    known = Experiment.objects.filter(lab=lab, source=directory.source)
    if found := known.first():
        if directory.baseline:
            keeping.set_named_baseline(found, directory.baseline)
        return found, False
    try:
        with transaction.atomic():
            return _imported(lab, directory, now), True
    except IntegrityError:  # another upload of the same directory was quicker
        return known.get(), False


def _imported(lab: Lab, directory: Directory, now: datetime) -> Experiment:
    measured = sides_measured(lab, directory.runs)
    typed = directories.read_typed(directory.readme)
    table = _compared(arranged(measured), measured, typed, directory.baseline, now)
    read = _read(table, typed)
    experiment = Experiment.objects.create(
        question=(typed.title or directory.question or keeping.title_of(table.sides))[
            :QUESTION_MAX
        ],
        is_typed=bool(typed.title or directory.question),
        tree=table.revisions[0].tree,
        lab=lab,
        margin_pct=MARGIN_PCT,
        state=Experiment.State.IMPORTED,
        asof=now,
        bullets=list(typed.bullets),
        closing=read.closing,
        source=directory.source,
        readme=directory.readme,
    )
    keeping.add_parts(experiment, table, read.cells, _labels(table, read.cells))
    ExperimentEvent.objects.create(
        experiment=experiment,
        kind=ExperimentEvent.Kind.IMPORTED,
        text="\n".join(f"typed, not in the data: {', '.join(one.names)}" for one in read.unmatched),
    )
    return experiment


@dataclass(frozen=True, slots=True)
class Stored:
    """What the runs of a directory measured, and why some take no part."""

    measured: Sequence[directories.Measured]
    left_out: Sequence[str]


def arranged(stored: Stored) -> list[queries.Side]:
    """Raises Unprocessable: they are no two sides; the message is the reason."""
    try:
        return directories.arrange(stored.measured)
    except directories.NoSides as error:
        reasons = "; ".join([*stored.left_out, *([str(error)] if stored.measured else [])])
        raise Unprocessable([Problem("runs", reasons)]) from error


def _compared(
    sides: Sequence[queries.Side],
    stored: Stored,
    typed: directories.Typed,
    baseline: str,
    now: datetime,
) -> queries.ComparedTable:
    """The rows that these runs measured, the baseline first: as it was asked for, else as the first
    typed block that the data have, else as the sides were arranged."""
    table = queries.compare_sides(sides, now)
    asked = _asked(table, baseline) if baseline else ()
    order = asked or _typed_order(table, typed) or _built_on(table)
    if order != tuple(range(len(sides))):
        table = queries.compare_sides([table.sides[index] for index in order], now)
    found = _of_runs(table, stored.measured)
    if not found.rows:
        raise Unprocessable([Problem("runs", NOTHING_SHARED)])
    return found


def _asked(table: queries.ComparedTable, name: str) -> tuple[int, ...]:
    base = directories.index_of(table.sides, name)
    if base is None:
        titles = ", ".join(map(keeping.short, table.sides))
        raise Unprocessable(
            [Problem("baseline", keeping.NOT_CALLED.format(name=name, sides=titles))]
        )
    return _first(base, len(table.sides))


def _first(base: int, count: int) -> tuple[int, ...]:
    return base, *(index for index in range(count) if index != base)


def _built_on(table: queries.ComparedTable) -> tuple[int, ...]:
    """Fast forwarding first, where others are built on it: they forward more than forwarding does.
    Firewalls add work to what they are built on."""
    count = len(table.sides)
    names = [side.workload or side.mode for side in table.sides]
    workloads = [str(name).partition(queries.OPTION_MARK)[0] for name in names]
    if (
        workloads[0] != directories.PLAIN_WORKLOADS[0]
        or directories.PLAIN_WORKLOADS[1] not in workloads
    ):
        return _first(0, count)
    fast = workloads.index(directories.PLAIN_WORKLOADS[1])
    faster = [
        one.mean > row.sets[0].mean
        for row in table.rows
        for index, one in enumerate(row.sets)
        if index not in {0, fast}
    ]
    return _first(fast if any(faster) else 0, count)


def sides_measured(lab: Lab, runs: Sequence[UUID]) -> Stored:
    """What the stored runs of the lab measured; those that wait, were withdrawn or have no sample
    that counts are left out."""
    found = list(
        Run.objects.current()
        .counted()
        .placed()
        .filter(uuid__in=runs, agent__lab=lab)
        .select_related("revision__tree", "hardware", "mode", "variant")
        .prefetch_related("measurements")
        .annotate(configuration=KeyTextTransform("cfg", "facts"))
        .defer("facts", "sources", "warnings")
    )
    counted = [run for run in found if any(one.counted[0] for one in run.measurements.all())]
    session = _sessions_of(counted)
    counts = ((NOT_THERE, len(runs) - len(found)), (NOT_COUNTED, len(found) - len(counted)))
    return Stored(
        [_measured(run, session) for run in counted],
        [text.format(count=count, all=len(runs)) for text, count in counts if count],
    )


def _measured(run: Run, session: str) -> directories.Measured:
    return directories.Measured(
        tree=run.revision.tree.name,
        revision=run.revision.name,
        position=run.revision.position,
        variant=run.variant.name if run.variant else "",
        hardware=run.hardware.name,
        mode=run.mode.parts,
        session=session,
        configuration=getattr(run, "configuration") or "",  # noqa: B009 (annotated above)
    )


def _sessions_of(runs: Iterable[Run]) -> str:
    """Those of the runs, as a side writes them; empty, which takes all, where a run names none or
    they are too long to be kept."""
    names = sorted({run.session for run in runs})
    text = queries.SESSION_MARK.join(names)
    return text if all(names) and len(text) <= SESSION_MAX else ""


def _of_runs(
    table: queries.ComparedTable, measured: Sequence[directories.Measured]
) -> queries.ComparedTable:
    """The rows that these runs measured: directories of other machines may bear the same name."""
    measured_names = {(one.hardware, str(one.mode)) for one in measured}
    rows = (row for row in table.rows if _names_of(row) in measured_names)
    return replace(table, rows=tuple(rows))


def _names_of(row: queries.ComparedRow) -> tuple[str, str]:
    base = row.sets[0]
    return base.hardware.name, base.mode.name


def _typed_order(table: queries.ComparedTable, typed: directories.Typed) -> tuple[int, ...]:
    """That of the sets of the first typed block that the data have; empty: they have none."""
    orders = (_order(table, index, block) for block in typed.blocks for index in _rows(table))
    return next((found for found in orders if found), ())


def _rows(table: queries.ComparedTable) -> range:
    return range(len(table.rows))


def _order(
    table: queries.ComparedTable, index: int, block: directories.TypedBlock
) -> tuple[int, ...] | None:
    return block.order_among(
        [directories.Figures.of(one.samples) for one in table.rows[index].sets]
    )


@dataclass(frozen=True, slots=True)
class _Read:
    """The cells of a table in the README's order, then those that it does not have; the blocks that
    no row is of; and the prose behind the last block that one is of."""

    cells: Sequence[keeping.TypedCell]
    unmatched: Sequence[directories.TypedBlock]
    closing: str


def _read(table: queries.ComparedTable, typed: directories.Typed) -> _Read:
    """Prose above a block that no row is of stays, above what follows."""
    left = dict(enumerate(table.rows))
    cells: list[keeping.TypedCell] = []
    unmatched: list[directories.TypedBlock] = []
    prose: list[str] = []
    for block in typed.blocks:
        prose.append(block.heading)
        found = next((index for index in left if _order(table, index, block)), None)
        if found is None:
            unmatched.append(block)
            continue
        order = _order(table, found, block) or ()
        named = dict(zip(order, block.names, strict=True))
        labels = tuple(named[index] for index in range(len(table.sides)))
        cell = keeping.TypedCell(left.pop(found), _joined(prose), labels)
        cells.append(replace(cell, printed_by=_printed_by(cell, block)))
        prose = []
    rest = [keeping.TypedCell(row) for row in left.values()]
    return _Read([*cells, *rest], unmatched, _joined([*prose, typed.closing]))


def _joined(prose: Sequence[str]) -> str:
    return "\n\n".join(filter(None, prose))


def _printed_by(
    cell: keeping.TypedCell, block: directories.TypedBlock
) -> queries.BlockOptions | None:
    """The ministat that printed the block; None where none of ours prints it so."""
    if not cell.row.can_render:
        return None
    samples = [one.samples for one in cell.row.sets]
    sets = list(zip(cell.labels, samples, strict=True))
    found = (one for one in LIKELY_OPTIONS if directories.same_text(one.render(sets), block.text))
    return next(found, None)


def _labels(table: queries.ComparedTable, cells: Sequence[keeping.TypedCell]) -> list[str]:
    typed = [cell.labels for cell in cells if cell.labels]
    columns = [[labels[index] for labels in typed] for index in range(len(table.sides))]
    return [directories.shared_label(column) for column in columns]


MOST_EXTRA = 2
"""Parts that a name may have more than that of the directory beside it."""

TOGETHER = " + "
"""Between the names of two directories in that of the report of both."""

_PART_ENDS = re.compile(r"[._-]")


@dataclass(frozen=True, slots=True)
class Beside:
    """A directory beside that of a report, and the report of both; None: it may be made."""

    sibling: Experiment
    both: Experiment | None


def beside(experiment: Experiment) -> list[Beside]:
    """The reports of directories that can be joined with that of ``experiment``. Needs
    `with_subjects`."""
    parent, slash, name = experiment.source.rpartition("/")
    if not slash or experiment.lab is None:
        return []
    found = (
        Experiment.objects.filter(lab=experiment.lab, source__startswith=f"{parent}/")
        .exclude(pk=experiment.pk)
        .with_subjects()
    )
    siblings = [one for one in found if are_beside(name, one.source.removeprefix(f"{parent}/"))]
    made = {one.source: one for one in found}
    return [
        Beside(one, both)
        for one in siblings
        if (both := made.get(_source(experiment, one))) or _can_be_joined(experiment, one)
    ]


def combine(*, experiment: Experiment, sibling: Experiment, now: datetime) -> Experiment:
    """One report of both directories, with the README of the longer name. Both need
    `with_subjects`. Raises Unprocessable: they do not lie beside one another, or are no two sides
    together.
    """
    if experiment.lab is None or sibling.pk not in {one.sibling.pk for one in beside(experiment)}:
        raise Unprocessable([Problem("sibling", "these directories cannot be one report")])
    _, longer = _ordered(experiment, sibling)
    runs = _runs(experiment.lab, (experiment, sibling))
    directory = Directory(_source(experiment, sibling), longer.readme, runs)
    return import_directory(lab=experiment.lab, directory=directory, now=now)[0]


def are_beside(one: str, other: str) -> bool:
    """Whether one name is the other with a part or two more, or with ``no`` before a part."""
    a, b = ([part.lower() for part in _PART_ENDS.split(name)] for name in (one, other))
    more_a, more_b = [part for part in a if part not in b], [part for part in b if part not in a]
    if not (more_a and more_b):
        return 1 <= len(more_a) + len(more_b) <= MOST_EXTRA
    is_one_each = len(more_a) == len(more_b) == 1
    return is_one_each and (f"no{more_a[0]}" == more_b[0] or f"no{more_b[0]}" == more_a[0])


def _ordered(one: Experiment, other: Experiment) -> tuple[Experiment, Experiment]:
    first, second = sorted((one, other), key=lambda each: (len(each.source), each.source))
    return first, second


def _source(one: Experiment, other: Experiment) -> str:
    first, second = _ordered(one, other)
    return f"{first.source}{TOGETHER}{second.source.rpartition('/')[2]}"[-SOURCE_MAX:]


def _can_be_joined(one: Experiment, other: Experiment) -> bool:
    assert one.lab is not None
    try:
        sides = arranged(sides_measured(one.lab, _runs(one.lab, (one, other))))
    except Unprocessable:
        return False
    own = {str(side.compared) for each in (one, other) for side in each.sides.all()}
    return bool({str(side) for side in sides} - own)


def _runs(lab: Lab, experiments: Sequence[Experiment]) -> list[UUID]:
    """Those of the directories."""
    where = Q()
    for one in experiments:
        where |= Q(evidence__directory=one.source)
        where |= Q(evidence__directory__startswith=f"{one.source}/")
    revisions = {side.revision_id for one in experiments for side in one.sides.all()}
    machines = {cell.hardware_id for one in experiments for cell in one.cells.all()}
    found = Run.objects.current().filter(
        where, agent__lab=lab, revision__in=revisions, hardware__in=machines
    )
    return list(found.order_by("pk").values_list("uuid", flat=True))
