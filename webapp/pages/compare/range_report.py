"""Two ranges of revisions as a report: Markdown, or the text of ministat."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from webapp.analysis.queries import BlockOptions, RangeRow, RangeTable, lost_between_ranges
from webapp.charts.text import (
    POINTS,
    UNKNOWN,
    better_text,
    cost_interval,
    cost_points,
    interval,
    level_figure,
    percent,
    short_beside,
)
from webapp.pages.compare.answer import for_people, subject_of, titles_of
from webapp.pages.compare.report import SIMULATED
from webapp.stats import TooFewSamplesError
from webapp.stats.markdown import inline

Writer = Callable[[RangeTable, BlockOptions], str]
BLOCK_IGNORES = (
    "ministat takes revisions for independent ones, and leaves none out: the verdict is not its."
)
P_SHOWN = 1e-4
"""Smaller ones are called smaller."""

LEAST_MEMORY = 0.005
"""A correlation that two decimals show."""

TOO_FEW = "A range has fewer than 3 measured revisions: ministat refuses it."

HEAD = (
    "| mode | hardware | before | after | n | Δ % [95 %] | verdict |\n|---|---|--:|--:|--:|--:|---|"
)
GATED = (
    "Better and worse pass one gate over all rows: on average at most 5 % of them are false. The "
    "intervals count how builds scatter, and that neighbouring revisions may resemble one another."
)


def headline(table: RangeTable) -> str:
    """``r1..r9 against r10..r20: 2 worse, 1 better, 5 equivalent``."""
    counts = ", ".join(f"{count} {verdict}" for verdict, count in table.counts.items() if count)
    sides = [table.a.side, table.b.side]
    subject = subject_of(sides, titles_of(sides))
    return f"{subject}: {counts or 'no series was measured in both'}"


def as_markdown(table: RangeTable, _options: BlockOptions, *, is_of_now: bool = True) -> str:
    """The same as a report; unless it ``is_of_now`` without what is lost today."""
    stands = lost_between_ranges(table) if is_of_now else {}
    rows = [(row, subject(row, table)) for row in ordered(table.rows)]
    lines = [_line(row, named, stands.get(row.series.pk)) for row, named in rows]
    pairs = zip(for_people([table.a.side, table.b.side]), (table.a, table.b), strict=True)
    ends = [f"- {inline(str(side))}: {one.first} to {one.last}" for side, one in pairs]
    notes = [GATED, *([SIMULATED] if is_simulated(table) else []), *_unmatched(table)]
    parts = [f"# {inline(headline(table))}", "\n".join(ends), *notes]
    labels = titles_of([table.a.side, table.b.side])
    evidence = [_evidence(row, named, labels) for row, named in rows]
    return "\n\n".join([*parts, "\n".join([HEAD, *lines]), "\n".join(evidence)]) + "\n"


def as_text(table: RangeTable, options: BlockOptions) -> str:
    """The ministat block of every row, of the means of its revisions, under a line that names it.

    See `BLOCK_IGNORES`: the verdict is not ministat's.
    """
    labels = titles_of([table.a.side, table.b.side])
    blocks = [_block(row, labels, options) for row in ordered(table.rows)]
    head = [f"{SIMULATED}\n"] if is_simulated(table) else []
    notes = [f"{note}\n" for note in (GATED, BLOCK_IGNORES, *_unmatched(table))]
    return "\n".join([*head, *blocks, *notes, f"{headline(table)}\n"])


def sentence_of(row: RangeRow) -> str:
    """The change of level with its interval, and what it rests on."""
    change = row.change
    if change is None:
        return row.reason
    p = f"p = {change.p_value:.2g}" if change.p_value >= P_SHOWN else f"p < {P_SHOWN:g}"
    memory = f"correlate by {change.memory:.2f}, which the interval counts"
    if change.memory < LEAST_MEMORY:
        memory = "do not resemble one another"
    return (
        f"Level against level: {with_unit(row)}; {p} with {change.freedom:.0f} degrees of "
        f"freedom. Neighbouring revisions {memory}"
    )


def _unmatched(table: RangeTable) -> list[str]:
    """How much could not be compared."""
    count = table.unmatched
    verb = "was" if count == 1 else "were"
    return [f"{count:,} series {verb} measured in one range only."] if count else []


def _evidence(row: RangeRow, named: str, labels: Sequence[str]) -> str:
    """What a verdict rests on, in a line."""
    named = f"{named} on {row.series.hardware}"
    remarks = [f"{label}: {text}" for label, text in zip(labels, row.left_out, strict=True) if text]
    return f"- {inline('. '.join([f'{named}: {sentence_of(row)}', *remarks]))}."


def _block(row: RangeRow, labels: Sequence[str], options: BlockOptions) -> str:
    metric, its = row.series.metric, figures(row)
    title = (
        f"{row.mode} on {row.series.hardware} "
        f"({metric.name}, {metric.unit}, {better_text(row.series.better)})"
    )
    summary = ". ".join(
        [
            row.reason or f"{with_unit(row)}, {its['n']} revisions. {sentence_of(row)}",
            *filter(None, row.left_out),
        ]
    )
    try:
        text = options.render(list(zip(labels, row.values, strict=True)))
    except TooFewSamplesError:
        text = f"{TOO_FEW}\n"
    return f"{title}\n{row.verdict}: {summary}\n\n{text}"


def is_simulated(table: RangeTable) -> bool:
    """Whether any row is of a machine that does not exist."""
    return any(row.series.hardware.lab.simulated for row in table.rows)


def ordered(rows: Sequence[RangeRow]) -> list[RangeRow]:
    """What is proven first, the worst before the best."""
    rank = {"worse": 0, "better": 1, "equivalent": 2, "cannot tell": 3}
    return sorted(
        rows, key=lambda row: (rank[row.verdict], -abs(row.change.pct) if row.change else 0)
    )


def has_metrics(table: RangeTable) -> bool:
    """Whether rows are of several metrics, so that each is named."""
    return len({row.series.metric_id for row in table.rows}) > 1


def subject(row: RangeRow, table: RangeTable) -> str:
    """The mode of a row, with the metric where the table has several."""
    return f"{row.mode} {row.series.metric}" if has_metrics(table) else row.mode


def moved(row: RangeRow) -> tuple[str, str, str]:
    """The change of the level, its unit, and its interval; of what an option costs in points."""
    one, series = row.change, row.series
    if one is None:
        return UNKNOWN, "", ""
    if not series.is_cost:
        return percent(one.pct), "%", interval(one.low_pct, one.high_pct)
    before, better = one.a.level, series.better
    within = cost_interval(before, one.low_pct, one.high_pct, better)
    return percent(cost_points(before, one.pct, better)), POINTS, within


def figures(row: RangeRow) -> dict[str, str]:
    """A row's figures: levels ``before`` and ``after``, ``n``, ``change`` with interval."""
    one, series = row.change, row.series
    if one is None:
        return {"before": "", "after": "", "n": f"{row.counts[0]} / {row.counts[1]}", "change": ""}
    left_out = one.a.left_out + one.b.left_out
    more = f", {left_out} left out" if left_out else ""
    before, after = (
        level_figure(its.level, series.better, is_cost=series.is_cost) for its in (one.a, one.b)
    )
    return {
        "before": before,
        "after": after,
        "n": f"{one.a.count} / {one.b.count}{more}",
        "change": with_unit(row).removesuffix(" %"),
    }


def with_unit(row: RangeRow) -> str:
    """``−11.6 [−16.9, −5.9] %``; of what an option costs ``+2.5 points [+2.1, +2.9]``."""
    size, unit, within = moved(row)
    parts = (size, unit, within) if row.series.is_cost else (size, within, unit)
    return " ".join(filter(None, parts))


def _line(row: RangeRow, named: str, stands: Mapping[str, Any] | None) -> str:
    its = figures(row)
    verdict = f"{row.verdict}: {row.reason}" if row.reason else row.verdict
    if row.change and stands:
        change = row.change.pct, row.change.low_pct, row.change.high_pct
        verdict = ", ".join(
            filter(None, (verdict, short_beside(change, stands, is_cost=row.series.is_cost)))
        )
    of = inline(named), inline(str(row.series.hardware))
    cells = [*of, its["before"], its["after"], its["n"], its["change"], verdict]
    return f"| {' | '.join(cells)} |"
