"""What an experiment compares, as it was (the same runs, the same knowledge of their noise), and
its bullets: facts of its machines, kernels and traffic, and where typed ones contradict what was
measured.
"""

import re
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from ipaddress import AddressValueError, IPv4Address

from webapp.analysis import queries
from webapp.experiments.directories import key_of, read_typed
from webapp.experiments.models import QUESTION_MAX, Cell, Experiment
from webapp.results.models import Run, Series
from webapp.stats.compare import BuildNoise
from webapp.stats.metrics import MARGIN_PCT, Better
from webapp.stats.single_build import NoisePrior

MOST_MACHINES = 20
MOST_SETTINGS = 20
LONGEST = 200
"""Characters of a fact that are shown."""

_RANGE = re.compile(r"(?:^|\s)-([sd])\s+(\S+)")
_RATE = re.compile(r"(?:^|\s)-R\s+(\d{1,12})\b", re.ASCII)
_LENGTH = re.compile(r"(?:^|\s)-l\s+(\d{1,5})\b", re.ASCII)
_FACTS = ("release", "senders", "sender_command", "routes", "sysctl")

Key = tuple[int, int, int]


def machine_lines(experiment: Experiment, table: queries.PointTable) -> list[str]:
    """Machines, kernels, traffic and tuning; what no fact has is left out. One statement."""
    machines = dict.fromkeys(str(row.base.hardware) for row in table.rows)
    shown = list(machines)[:MOST_MACHINES]
    more = len(machines) - len(shown)
    facts = _facts(experiment, table)
    kernels = dict.fromkeys(side.kernel for side in table.sides)
    releases = " and ".join(_values(facts, 0))
    return [
        *shown,
        *([f"{more} more machines"] if more else []),
        " ".join(filter(None, [releases, experiment.tree.name, ", ".join(kernels)])),
        *_traffic(facts),
        *_tuning(facts),
        *(f"Session {one}" for one in _sessions(table)),
    ]


def _facts(experiment: Experiment, table: queries.PointTable) -> list[tuple[object, ...]]:
    """The facts that its runs have, each combination once."""
    runs = Run.objects.filter(
        revision__in=table.revisions,
        hardware__in={one.hardware.pk for row in table.rows for one in row.points},
        received_at__lte=experiment.asof,
    )
    if all(side.session for side in table.sides):
        runs = runs.filter(session__in={one for side in table.sides for one in side.sessions})
    return list(runs.order_by().values_list(*(f"facts__{name}" for name in _FACTS)).distinct())


def _values(facts: Sequence[tuple[object, ...]], column: int) -> list[str]:
    return sorted({str(row[column]) for row in facts if row[column] is not None})


def _sessions(table: queries.PointTable) -> list[str]:
    """Each that a side names, once; where it names several, they alone."""
    several = (one for side in table.sides for one in side.session.split(queries.SESSION_MARK))
    return list(filter(None, dict.fromkeys(several)))


def _traffic(facts: Sequence[tuple[object, ...]]) -> list[str]:
    """Senders, flows and frames, and the rate where the senders were held to one."""
    senders, commands = _values(facts, 1), _values(facts, 2)
    count = f"{senders[0]} sender{'s' if senders[0] != '1' else ''}" if len(senders) == 1 else ""
    flows = {one for text in commands if (one := _flows(text))}
    frames = ", ".join(_numbers(_LENGTH, commands))
    rates = _numbers(_RATE, commands)
    load = f"load limited to {int(rates[0]):,} packets/s" if len(rates) == 1 else ""
    parts = [
        count,
        f"{flows.pop():,} flows" if len(flows) == 1 else "",
        f"frames of {frames} bytes" if frames else "",
        load,
    ]
    return [", ".join(filter(None, parts))] if any(parts) else []


def _numbers(pattern: re.Pattern[str], texts: Sequence[str]) -> list[str]:
    return sorted({found[1] for text in texts if (found := pattern.search(text))}, key=int)


def _flows(command: str) -> int:
    """Source addresses times destinations of a pkt-gen command; 0 where it does not have both."""
    ranges = dict(_RANGE.findall(command))
    return _addresses(ranges.get("s", "")) * _addresses(ranges.get("d", ""))


def _addresses(text: str) -> int:
    """How many IPv4 addresses ``198.18.1.1:2000-198.18.1.20`` are; 0 where it is no range."""
    ends = [end.partition(":")[0] for end in text.split("-")]
    try:
        first, last = (int(IPv4Address(end)) for end in (ends[0], ends[-1]))
    except AddressValueError:
        return 0
    return max(last - first + 1, 0)


def _tuning(facts: Sequence[tuple[object, ...]]) -> list[str]:
    """The routes, and the settings that all its runs had alike."""
    routes = _values(facts, 3)
    settings = [row[4] for row in facts if isinstance(row[4], dict)]
    alike = {
        name: value
        for name, value in (settings[0] if settings else {}).items()
        if all(one.get(name) == value for one in settings)
    }
    shown = [f"{name}={value}"[:LONGEST] for name, value in sorted(alike.items())]
    tuned = ", ".join(shown[:MOST_SETTINGS])
    return [*([routes[0][:LONGEST]] if len(routes) == 1 else []), *([tuned] if tuned else [])]


@dataclass(frozen=True, slots=True)
class AsTyped:
    """``heading`` is the line of the title; empty: the title is not the README's. ``blocks`` are
    its blocks by what they print."""

    heading: str
    blocks: Mapping[Hashable, str]

    def block(self, text: str) -> str:
        """``text`` with the white space of the README, where that has the block."""
        return self.blocks.get(key_of(text), text)


_COMMIT = re.compile(r"\b[rn]?(\d{6,7})\b", re.ASCII)
"""How people write a commit of a counted history."""


def contradictions(experiment: Experiment) -> list[str]:
    """A sentence for each typed line that names commits of which none was measured.

    Needs `with_subjects`. Names without a number (hashes) are not looked for: prose is full of
    words that look like one.
    """
    names = [side.revision.name for side in experiment.sides.all()]
    measured = dict.fromkeys(names)
    numbers = {found[1] for name in measured if (found := _COMMIT.fullmatch(name))}
    if not numbers:
        return []
    typed = [experiment.question] if experiment.is_typed else []
    lines = []
    for line in [*typed, *experiment.bullets]:
        named = {number: text for text, number in _commits(line)}
        if named and not named.keys() & numbers:
            is_are = f"the data are of {', '.join(measured)}"
            lines.append(f"Typed: {', '.join(named.values())}; {is_are}.")
    return lines


def _commits(line: str) -> list[tuple[str, str]]:
    """Each commit as it is written, and its number."""
    return [(found[0], found[1]) for found in _COMMIT.finditer(line)]


def as_typed(experiment: Experiment) -> AsTyped:
    """Of an experiment that came with no README, nothing."""
    read = read_typed(experiment.readme)
    is_title = bool(read.title) and read.title[:QUESTION_MAX] == experiment.question
    blocks = {key_of(one.text): one.text for one in read.blocks}
    return AsTyped(read.heading if is_title else "", blocks)


@dataclass(frozen=True, slots=True)
class FrozenTable:
    """The rows of ``table`` are those of ``cells``, one by one; ``lost`` are the cells that have no
    row any more."""

    table: queries.ComparedTable
    cells: tuple[Cell, ...]
    lost: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class FrozenPoints:
    """The same without samples."""

    table: queries.PointTable
    cells: tuple[Cell, ...]
    lost: tuple[Cell, ...]


def frozen_table(experiment: Experiment, only: Collection[int] | None = None) -> FrozenTable:
    """In the order of its cells, its sets by the lab's own labels; with ``only`` the cells of these
    series (ids), and what is else there is lost. The number of statements depends on the number of
    sides only. Needs `with_subjects`. Raises webapp.analysis.queries.SideError: what was measured
    of a side is gone.
    """
    cells = list(experiment.cells.all())
    known = {(cell.hardware_id, cell.mode_id, cell.metric_id): cell for cell in cells}

    def judged_by(series: Iterable[Series]) -> Mapping[int, queries.SeriesFacts]:
        return {one.pk: _frozen_facts(one.better, known.get(_key(one))) for one in series}

    table = queries.compare_sides(_sides(experiment), experiment.asof, judged_by, only)
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

    def judged_by(base: queries.SidePoint) -> queries.SeriesFacts:
        return _frozen_facts(base.better, known.get((base.hardware.pk, base.mode, base.metric)))

    table = queries.compare_points(_sides(experiment), experiment.asof, judged_by)
    if table is None:
        frozen = frozen_table(experiment)
        return FrozenPoints(queries.as_points(frozen.table), frozen.cells, frozen.lost)
    bases = ((row.base, row) for row in table.rows)
    rows = {(base.hardware.pk, base.mode, base.metric): row for base, row in bases}
    found = [(cell, rows[key]) for key, cell in known.items() if key in rows]
    return FrozenPoints(
        table=replace(table, rows=tuple(row for _, row in found)),
        cells=tuple(cell for cell, _ in found),
        lost=tuple(cell for key, cell in known.items() if key not in rows),
    )


def _sides(experiment: Experiment) -> list[queries.Side]:
    return [side.compared for side in experiment.sides.all()]


def _key(series: Series) -> Key:
    return series.hardware_id, series.mode_id, series.metric_id


def _key_of(row: queries.ComparedRow) -> Key:
    base = row.sets[0]
    return base.hardware.pk, base.mode.pk, row.metric.pk


def _frozen_facts(better: Better, cell: Cell | None) -> queries.SeriesFacts:
    if cell is None:  # measured by then, and not kept: its row is dropped
        return queries.SeriesFacts(better, MARGIN_PCT, None)
    noise = None
    if cell.build_noise_pct is not None and cell.build_noise_df is not None:
        noise = BuildNoise(cell.build_noise_pct, cell.build_noise_df)
    belief = NoisePrior(**cell.belief) if cell.belief else NoisePrior()
    return queries.SeriesFacts(better, cell.margin_pct, noise, belief)


def _labelled(row: queries.ComparedRow, cell: Cell) -> queries.ComparedRow:
    if not cell.labels:
        return row
    sets = zip(row.sets, cell.labels, strict=True)
    return replace(row, sets=tuple(replace(one, label=label) for one, label in sets))
