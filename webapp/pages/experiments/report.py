"""The report of an experiment: what page, Markdown, text and files are made from."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from statistics import median

from webapp.analysis.queries import (
    BLOCK_IGNORES,
    PLAIN_BLOCK,
    BlockOptions,
    ComparedRow,
    ComparedTable,
    PointTable,
    as_points,
    compare_link,
)
from webapp.charts import medians
from webapp.charts.text import MINUS, better_text, number
from webapp.experiments import queries
from webapp.experiments.models import Cell, Experiment
from webapp.pages.compare import answer as compare_answer
from webapp.pages.compare.answer import titles_of
from webapp.pages.compare.report import (
    SIMULATED,
    FlamePicture,
    ProfileLine,
    block_text,
    is_simulated,
    pictures_of,
    profile_lines,
    row_title,
)
from webapp.stats.compare import Outcome, Verdict

PACKETS = "packets/s"
LEFT_OUT = "samples left out, see the report"
MOST_DRAWN = 16
"""Groups of bars that a picture has room for."""

BLOCKS_SHOWN = 12
"""Blocks on the page; its text has all."""

FIGURES_NAMED = 3
"""Proven changes that are listed with their size."""


@dataclass(frozen=True)
class Part:
    """One row of a report: its cell, the heading over its block, and the block."""

    cell: Cell
    row: ComparedRow
    options: BlockOptions

    @property
    def heading(self) -> str:
        """As the lab typed it over a block that it typed, else what the row is of."""
        return self.cell.heading if self.cell.labels else row_title(self.row)

    @property
    def title(self) -> str:
        """The last line of the heading, without the signs of Markdown."""
        return self.heading.strip().rpartition("\n")[2].lstrip("# ")

    @property
    def prose(self) -> str:
        """What stands above that line."""
        return self.heading.strip().rpartition("\n")[0].strip()

    @property
    def block(self) -> str:
        """ministat's block, or why there is none."""
        return block_text(self.row, self.options)


@dataclass(frozen=True)
class Report:
    """An experiment with what it compares. ``points`` are all its cells; ``table`` has the samples
    of all, or of those that a page shows, and ``parts`` are its blocks. ``options`` are those of
    the blocks; where no flavour was asked for, each block is printed by the one that the lab used.
    """

    experiment: Experiment
    points: PointTable
    table: ComparedTable
    parts: Sequence[Part]
    lost: Sequence[Cell]

    @cached_property
    def titles(self) -> list[str]:
        """What each side is called: by the lab, else by what distinguishes it."""
        return _titles(self.experiment, self.points)

    @cached_property
    def cells(self) -> list[compare_answer.Cell]:
        """Every set against the base of its row."""
        return compare_answer.cells_of(self.points)

    @property
    def with_metric(self) -> bool:
        """Whether rows differ in their metric."""
        return compare_answer.has_metrics(self.points)

    @cached_property
    def answer(self) -> str:
        """The product's sentence, by the rules of every comparison."""
        return _answer(self.points, self.titles)

    @cached_property
    def figures(self) -> str:
        """The largest proven changes, in percent and in the metric's unit; where none is proven,
        what differs by itself, or by how much single builds do; empty: they do not, or the answer
        has them.
        """
        if _names_sides(self.points):
            return ""
        proven = [one for one in self.cells if one.gated in {Verdict.WORSE, Verdict.BETTER}]
        alone = [one for one in self.cells if one.outcome is Outcome.BY_ITSELF]
        cells = proven or alone or [one for one in self.cells if one.judged.builds_differ]
        cells.sort(key=lambda one: -abs(one.judged.percent or 0.0))
        shown = [self._figure(one) for one in islice(cells, FIGURES_NAMED)]
        more = len(cells) - len(shown)
        return "; ".join([*shown, *([f"and {more} more"] if more > 0 else [])])

    def _figure(self, cell: compare_answer.Cell) -> str:
        base, other = cell.row.base, cell.row.points[cell.index + 1]
        machines = {row.base.hardware.pk for row in self.points.rows}
        is_of_modes = bool(self.points.sides[0].mode_name)
        what = [
            "" if is_of_modes else cell.row.mode,
            self.titles[cell.index + 1] if len(self.titles) > 2 else "",
            str(base.hardware) if len(machines) > 1 else "",
        ]
        size = compare_answer.change_sentence(cell)
        sign = "+" if other.mean >= base.mean else MINUS
        delta = f"{sign}{number(abs(other.mean - base.mean))} {base.unit}"
        return f"{', '.join(filter(None, what)) or cell.row.mode}: {size} ({delta})"

    @cached_property
    def bullets(self) -> list[str]:
        """What the lab typed about machine and traffic; where it typed nothing, the facts."""
        return list(self.experiment.bullets) or self.machine_lines

    @cached_property
    def machine_lines(self) -> list[str]:
        """The facts on machines, kernels and traffic."""
        return queries.machine_lines(self.experiment, self.points)

    @cached_property
    def contradictions(self) -> list[str]:
        """Where what was typed and what was measured differ."""
        return queries.contradictions(self.experiment)

    @cached_property
    def picture(self) -> str:
        """Medians with whiskers, of the first metric, as SVG; empty where there is no row."""
        if not self.table.rows:
            return ""
        metric = self.table.rows[0].metric
        rows = [row for row in self.table.rows if row.metric.pk == metric.pk]
        count = sum(row.base.metric == metric.name for row in self.points.rows)
        several = len({row.base.hardware.pk for row in self.points.rows}) > 1
        is_of_modes = any(side.mode_name for side in self.table.sides)
        groups = [
            _group(row, with_machine=several or is_of_modes, with_mode=not is_of_modes)
            for row in rows[:MOST_DRAWN]
        ]
        unit = f"{metric.unit}, {better_text(rows[0].better)}: medians, whiskers min to max"
        is_whole = not any(one.left_out for row in rows[:MOST_DRAWN] for one in row.sets)
        more = f" (first {MOST_DRAWN} of {count})" if count > MOST_DRAWN else ""
        platform, note = self._platform_and_note("" if is_whole else LEFT_OUT)
        texts = medians.Texts(f"{self.experiment.question}{more}", unit, platform, note)
        is_of_packets = metric.unit == PACKETS
        return medians.draw(groups, sides=self.titles, texts=texts, is_of_packets=is_of_packets)

    def _platform_and_note(self, remark: str) -> tuple[str, str]:
        """The machine, and a remark with what else is known of the bench, as lines of the
        picture.
        """
        platform, *others = self.bullets or [""]
        count = len({row.base.hardware.pk for row in self.points.rows})
        if count > 1 and not self.experiment.bullets:
            platform = f"{count} machines"
            others = others[min(count, queries.MOST_MACHINES + 1) - 1 :]
        known = [one for one in others if not one.startswith("Session ")]
        note = "; ".join(filter(None, [remark, *known]))
        return f"Platform: {platform}" * bool(platform), f"Note: {note}" * bool(note)

    @cached_property
    def profiles(self) -> list[ProfileLine]:
        """Where cells were profiled: flame graphs of their sides, differences from the baseline."""
        return profile_lines(self.table, self.titles)

    @property
    def pictures(self) -> list[FlamePicture]:
        """The first of the differences of profiles."""
        return pictures_of(self.profiles)

    @property
    def gone(self) -> list[str]:
        """The cells of which nothing is left, a sentence each."""
        return [f"{cell}: nothing that was measured then counts any more." for cell in self.lost]

    @property
    def today(self) -> str:
        """The same sides on the compare page, with all that was measured since."""
        return compare_link(*self.points.sides)


def report_of(
    experiment: Experiment, options: BlockOptions = PLAIN_BLOCK, *, is_flavour_asked: bool = False
) -> Report:
    """The whole report. Needs `with_subjects`. Raises SideError where what it compares is gone."""
    frozen = queries.frozen_table(experiment)
    parts = _parts(frozen, options, is_flavour_asked=is_flavour_asked)
    return Report(experiment, as_points(frozen.table), frozen.table, parts, frozen.lost)


def shown_of(
    experiment: Experiment, options: BlockOptions = PLAIN_BLOCK, *, is_flavour_asked: bool = False
) -> Report:
    """The report with the samples of the first `BLOCKS_SHOWN` cells and of those that are drawn:
    as much as a page shows. As `report_of`."""
    points = queries.frozen_points(experiment)
    frozen = queries.frozen_table(experiment, only=_shown_series(points.table))
    parts = _parts(frozen, options, is_flavour_asked=is_flavour_asked)[:BLOCKS_SHOWN]
    return Report(experiment, points.table, frozen.table, parts, points.lost)


def answer_of(experiment: Experiment) -> str:
    """The product's sentence alone, from points. Needs `with_subjects`. Raises as `report_of`."""
    points = queries.frozen_points(experiment).table
    return _answer(points, _titles(experiment, points))


def _answer(points: PointTable, titles: Sequence[str]) -> str:
    """Of several sides in one row each by itself, where it passes the gate beside the others."""
    cells = compare_answer.cells_of(points)
    if not _names_sides(points):
        return compare_answer.answer_of(points, titles)
    named = [f"{titles[one.index + 1]} {_gated(one)}" for one in cells]
    return f"Against {titles[0]}: {', '.join(named)}"


def _names_sides(points: PointTable) -> bool:
    return len(points.rows) == 1 and len(points.sides) > 2


def _gated(cell: compare_answer.Cell) -> str:
    may_be_said = cell.gated == cell.judged.verdict
    return compare_answer.change_sentence(cell) if may_be_said else "cannot tell"


def _titles(experiment: Experiment, points: PointTable) -> list[str]:
    labels = [side.label for side in experiment.sides.all()]
    return [label or own for label, own in zip(labels, titles_of(points.sides), strict=True)]


def _shown_series(table: PointTable) -> set[int]:
    drawn = [row for row in table.rows if row.base.metric == table.rows[0].base.metric]
    shown = [*table.rows[:BLOCKS_SHOWN], *drawn[:MOST_DRAWN]]
    return {point.series_id for row in shown for point in row.points}


def _parts(
    frozen: queries.FrozenTable, options: BlockOptions, *, is_flavour_asked: bool
) -> list[Part]:
    return [
        Part(cell, row, options if is_flavour_asked or not cell.flavour else _typed(options, cell))
        for cell, row in zip(frozen.cells, frozen.table.rows, strict=True)
    ]


def _typed(options: BlockOptions, cell: Cell) -> BlockOptions:
    return replace(options, flavour=cell.flavour, separate_bars=cell.separate_bars)


def _group(row: ComparedRow, *, with_machine: bool, with_mode: bool) -> medians.Group:
    machine = row.sets[0].hardware if with_machine else ""
    label = f"{machine} {row.mode_label if with_mode else ''}".strip()
    bars = [
        medians.Bar(median(one.samples), min(one.samples), max(one.samples)) for one in row.sets
    ]
    return medians.Group(label, bars)


def as_text(report: Report) -> str:
    """The blocks, each under its heading, and what is to be known of them."""
    blocks = [
        "\n".join([f"{part.heading}\n\n{part.block}", *(f"{one}.\n" for one in part.row.remarks)])
        for part in report.parts
    ]
    head = [f"{SIMULATED}\n"] if is_simulated(report.table) else []
    notes = [*report.contradictions, *report.gone, *([BLOCK_IGNORES] if report.parts else [])]
    sentences = [f"{one}." for one in (report.answer, report.figures) if one]
    lines = [f"{report.experiment.question}\n", *head, *blocks, *(f"{one}\n" for one in notes)]
    return "\n".join([*lines, f"{' '.join(sentences)}\n"])
