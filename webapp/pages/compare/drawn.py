"""What a page draws of a comparison: its answer, and its rows under their headings."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from webapp.analysis import queries
from webapp.charts import forest
from webapp.pages.compare import answer
from webapp.pages.compare.rows import (
    Drawing,
    Line,
    Section,
    axis_of,
    lines_of,
    panels_of,
    reach_of,
    rows_html,
)
from webapp.pages.parts.cache import Cache, fingerprint
from webapp.stats.compare import Outcome
from webapp.stats.histograms import histogram_name

TITLES = {
    Outcome.PROVEN: "Proven over the whole table, largest loss first",
    Outcome.BY_ITSELF: "Differ by themselves, not proven over the whole table",
    Outcome.EQUIVALENT: "By themselves no difference that matters",
    Outcome.CANNOT_TELL: "Cannot tell",
}

DRAWN: Cache[Mapping[str, object]] = Cache(most=16, seconds=600.0)
"""Never too old: its keys are all that it is made of. The age frees what nobody reads."""


class Asked(NamedTuple):
    """How a table is shown: what its sides are called, in which order its rows stand and at most
    how many under a heading (None: all), ``more`` parts of the queries of links, and what stands
    lost ``today``.
    """

    titles: tuple[str, ...]
    order: str
    most: int | None
    more: Sequence[tuple[str, str]]
    today: Mapping[int, Mapping[str, Any]]


def drawn(table: queries.PointTable, asked: Asked, evidence: str) -> Mapping[str, object]:
    """The answer and the rows, drawn once for as long as they stay."""
    if evidence or not table.key:
        return _draw(table, asked, evidence)
    today = fingerprint(sorted(asked.today.items()))
    key = table.key, asked.titles, asked.order, asked.most, today
    return DRAWN.get(key, lambda: _draw(table, asked))


def _draw(table: queries.PointTable, asked: Asked, evidence: str = "") -> Mapping[str, object]:
    cells = answer.cells_of(table)
    groups = answer.groups_of(table, cells, asked.titles)
    lines = lines_of(cells, asked.order)
    drawing = Drawing(
        table=table,
        titles=asked.titles,
        reach=reach_of(lines),
        with_metric=answer.has_metrics(table),
        more=asked.more,
        today=asked.today,
    )
    return {
        "answer": answer.headline(cells, groups, answer.subject_of(table.sides, asked.titles)),
        "lead": answer.lead(cells),
        "together": table.headline,
        "panels": panels_of(groups, drawing.reach),
        "definitions": forest.definitions(drawing.reach),
        "axis": axis_of(lines, drawing),
        **_rows(lines, drawing, evidence, most=asked.most),
        "has_histograms": any(histogram_name(row.base.metric) for row in table.rows),
        "simulated": any(one.simulated for row in table.rows for one in row.points),
    }


def _rows(
    lines: Sequence[Line], drawing: Drawing, evidence: str, *, most: int | None
) -> dict[str, object]:
    """The rows under their headings, of each no more than ``most``."""
    counts = Counter(cell.outcome for line in lines for cell in line.cells)
    sections, left_out = [], 0
    has_told = any(line.differs for line in lines)
    for outcome, title in TITLES.items():
        its = [line for line in lines if line.outcome == outcome]
        if its:
            is_folded = has_told and not its[0].differs
            html = rows_html(its[:most], drawing, evidence)
            sections.append(Section(title, counts[outcome], is_folded, html, _labels(its)))
            left_out += len(its[most:]) if most is not None else 0
    return {"sections": sections, "left_out": left_out}


def _labels(lines: Sequence[Line]) -> list[tuple[str, int]]:
    labels = [cell.judged.label for line in lines for cell in line.cells]
    return [(label, labels.count(label)) for label in dict.fromkeys(sorted(labels))]
