"""A comparison as text: ministat blocks alone, or a report in Markdown, with links to the profiles
of what is compared and to pictures of them.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from webapp.analysis import queries
from webapp.charts.text import (
    Change,
    better_text,
    change_within,
    direction,
    half_width,
    number,
    short_beside,
)
from webapp.outbox.services import absolute
from webapp.pages.compare.answer import answer_of, for_people, titles_of
from webapp.pages.parts.job_offers import power_line
from webapp.pages.parts.links import diff_link, side_link
from webapp.pages.parts.summaries import counts_text
from webapp.results.queries import called
from webapp.stats.compare import MORE_BUILDS, Comparison, Verdict
from webapp.stats.markdown import block, inline
from webapp.stats.metrics import worth_telling

LAST = "not measured"
"""The reason that stands behind all others."""


@dataclass(frozen=True, slots=True)
class NotCompared:
    """All that is left out for one ``reason``: modes by what people call their machine, which is
    empty where every side names it.
    """

    reason: str
    modes: Mapping[str, Sequence[str]]
    is_last: bool

    @property
    def combinations(self) -> int:
        """How many machines and modes that is."""
        return sum(map(len, self.modes.values()))

    def text(self, most: int) -> str:
        """The modes left out in a line, with ``most`` so many modes of a machine."""
        parts = []
        for hardware, modes in self.modes.items():
            more = len(modes) - most
            named = ", ".join(modes[:most]) + (f" and {more} more" if more > 0 else "")
            parts.append(f"{hardware}: {named}" if hardware else named)
        return f"{self.reason}: {'; '.join(parts)}"


Writer = Callable[[queries.ComparedTable, queries.BlockOptions], str]
TOO_FEW = "A set has fewer than 3 samples: ministat refuses it."
NOTHING = "Nothing was measured on every side."
SIMULATED = "These figures come from a simulation."


def as_text(
    table: queries.ComparedTable, options: queries.BlockOptions = queries.PLAIN_BLOCK
) -> str:
    """The ministat block of every row, with ``options``, under a line that names it."""
    if not table.rows:
        return "".join(f"{line}\n" for line in [NOTHING, *_left_out(table)])
    blocks = [
        f"{row_title(row)}\n{_reasons(row)}\n\n{block_text(row, options)}" for row in table.rows
    ]
    head = [f"{SIMULATED}\n"] if is_simulated(table) else []
    notes = [f"{note}\n" for note in _notes(table)]
    return "\n".join([*head, *blocks, *notes, f"{_counts(queries.as_points(table))}\n"])


def as_markdown(
    table: queries.ComparedTable,
    options: queries.BlockOptions = queries.PLAIN_BLOCK,
    *,
    is_of_now: bool = True,
) -> str:
    """Title, hardware, a table of all rows, the ministat block of each, the flame graphs; unless it
    ``is_of_now`` without what is lost today.
    """
    series = (row.sets[0].series_id for row in table.rows)
    base, *others = for_people(table.sides)
    points = queries.as_points(table)
    parts = [
        f"# {inline(base)} against {inline(', '.join(map(str, others)))}",
        *([f"{inline(answer_of(points))}. {_counts(points)}"] if table.rows else []),
        *([SIMULATED] if is_simulated(table) else []),
        "\n".join(f"- {inline(name)}" for name in _hardware(table)),
        rows_table(table.rows, queries.stands_by_series(series) if is_of_now else {}),
        *(_section(row, options) for row in table.rows),
        flame_graphs(profile_lines(table, titles_of(table.sides))),
        *(_notes(table, inline) if table.rows else _left_out(table, inline)),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _notes(table: queries.ComparedTable, shown: Callable[[str], str] = str) -> list[str]:
    """What to know of all blocks, and what could not be compared, and why."""
    return [queries.BLOCK_IGNORES, *_left_out(table, shown)]


def _left_out(table: queries.ComparedTable, shown: Callable[[str], str] = str) -> list[str]:
    left = not_compared(table.unmatched, "ABCDEFG")
    return [shown(f"Not compared, {one.text(one.combinations)}.") for one in left]


def _counts(table: queries.PointTable) -> str:
    """How many comparisons stand under each heading of the page."""
    together = table.headline
    return f"{counts_text(Counter(together.outcomes))}; {together.by_chance}."


def _section(row: queries.ComparedRow, options: queries.BlockOptions) -> str:
    text = block(block_text(row, options))
    return "\n\n".join([f"## {inline(row_title(row))}", _reasons(row, inline), text])


def row_title(row: queries.ComparedRow) -> str:
    """What the row is of, and in which unit."""
    named = row.title or row.sets[0].label
    return f"{named} ({row.metric.name}, {row.metric.unit}, {better_text(row.better)})"


def _reasons(row: queries.ComparedRow, shown: Callable[[str], str] = str) -> str:
    """A line for each set after the first, ``shown`` by its label: why its verdict came out so,
    what a smaller change would take, what else may differ; then what to know of single sets."""
    base, *others = row.sets
    power = [power_line(base, *pair) for pair in zip(others, row.judged, strict=True)]
    parts = zip(row.reasons, power, row.cautions, strict=True)
    lines = [" ".join(filter(None, part)) for part in parts]
    if len(lines) > 1:
        lines = [f"- {shown(one.label)}: {text}" for one, text in zip(others, lines, strict=True)]
    return "\n".join([*lines, *(shown(f"{text}.") for text in row.remarks_on_sets)])


def block_text(row: queries.ComparedRow, options: queries.BlockOptions) -> str:
    """ministat's block, or why there is none; ends with a line end."""
    text = row.ministat_text(options) if row.can_render else TOO_FEW
    return text if text.endswith("\n") else text + "\n"


def _hardware(table: queries.ComparedTable) -> list[str]:
    return sorted({str(one.hardware) for row in table.rows for one in row.sets})


def is_simulated(table: queries.ComparedTable) -> bool:
    """Whether any figure comes from a simulation."""
    return any(one.hardware.lab.simulated for row in table.rows for one in row.sets)


def rows_table(
    rows: Sequence[queries.ComparedRow], stands: Mapping[int, Mapping[str, Any]] | None = None
) -> str:
    """A line for each pair, in Markdown, with what its series has lost today by ``stands``."""
    if not rows:
        return NOTHING
    lines = [_cells(row, stands or {}) for row in rows]
    head = "| what | set | mean | against | Δ % [95 %] | verdict |\n|---|---|--:|--:|--:|---|"
    return "\n".join([head, *(line for lines_of_row in lines for line in lines_of_row)])


def _cells(row: queries.ComparedRow, stands: Mapping[int, Mapping[str, Any]]) -> list[str]:
    base = row.sets[0]
    base_mean = base.summary.mean if base.summary else None
    cells = []
    for one, judged, parted in zip(row.sets[1:], row.judged, row.parted, strict=True):
        mean = number(one.summary.mean if one.summary else None)
        change = judged.change
        delta = change_within(change.percent, change.low, change.high)
        verdict = compared_sentence(judged, better=row.better, unit=row.metric.unit)
        verdict += f" ({queries.OTHER_EPOCH})" if parted else ""
        verdict += today_after((change.percent, change.low, change.high), stands, base, one)
        what, label = inline(row.title or base.label), inline(one.label)
        cells.append(f"| {what} | {label} | {mean} | {number(base_mean)} | {delta} | {verdict} |")
    return cells


def compared_sentence(comparison: Comparison, *, better: str, unit: str) -> str:
    """``11.4 % slower``, ``equivalent``, ``cannot tell; would see 3.1 %``, ``builds differ``."""
    change = comparison.change
    if comparison.verdict == Verdict.CANNOT_TELL:
        return _cannot_tell(comparison)
    if comparison.verdict == Verdict.EQUIVALENT:
        return "different, but negligible" if comparison.negligible else "equivalent"
    if change.percent is None:
        return f"{comparison.verdict.value}, without a percentage"
    way = direction(percent=change.percent, better=better, unit=unit)
    single = f", {queries.ONE_BUILD}" if comparison.one_build else ""
    return f"{half_width(abs(change.percent))} % {way}{single}"


def _cannot_tell(comparison: Comparison) -> str:
    visible = worth_telling(comparison.change.visible)
    if comparison.runs_disagree:
        return f"{queries.RUNS_DISAGREE} runs of one revision disagree"
    if comparison.builds_differ:
        return f"{queries.BUILDS_DIFFER}; {MORE_BUILDS} more builds a side would settle it"
    return "cannot tell" if visible is None else f"cannot tell; would see {half_width(visible)} %"


def not_compared(unmatched: Sequence[queries.Unmatched], names: Sequence[str]) -> list[NotCompared]:
    """What was measured on some sides, that of most combinations first, then what on none; sides
    are called ``names``. A metric is named where there are several. One query.
    """
    unmatched = _for_people(unmatched)
    several = len({one.metric for one in unmatched}) > 1
    found: dict[tuple[str, bool], dict[str, list[str]]] = {}
    for one in unmatched:
        metric = one.metric if several or not one.mode else ""
        subject = " ".join(filter(None, [one.mode, metric])) or "all"
        its = found.setdefault((one.text(names), one.reason == LAST), {})
        its.setdefault(one.hardware, []).append(subject)
    lines = [NotCompared(reason, its, is_last) for (reason, is_last), its in found.items()]
    return sorted(lines, key=lambda line: (line.is_last, -line.combinations))


def today_after(
    change: Change, stands: Mapping[int, Mapping[str, Any]], a: queries.Placed, b: queries.Placed
) -> str:
    """Behind a verdict what the page has there: ``, today −13.0 % [−13.3, −12.8]``."""
    found = queries.lost_between(stands, a, b)
    short = short_beside(change, found) if found else ""
    return f", {short}" if short else ""


def _for_people(unmatched: Sequence[queries.Unmatched]) -> list[queries.Unmatched]:
    """The same with machines as people call them."""
    named = {name for one in unmatched for name in (one.hardware, *_machines_beside(one)) if name}
    names = called(named)
    return [
        one._replace(
            hardware=names.get(one.hardware, one.hardware),
            others=tuple(names.get(name, name) for name in _machines_beside(one)) or one.others,
        )
        for one in unmatched
    ]


def _machines_beside(one: queries.Unmatched) -> tuple[str, ...]:
    return one.others if one.reason == "another machine" else ()


@dataclass(frozen=True, slots=True)
class ProfileLine:
    """The profiles of one cell: flame ``graphs`` and differences from the baseline, each with the
    title of its side and its address.
    """

    title: str
    graphs: Sequence[tuple[str, str]]
    differences: Sequence[tuple[str, str]]


MOST_PICTURES = 6
"""Differences of profiles that are drawn in a report; the others are links alone."""


@dataclass(frozen=True, slots=True)
class FlamePicture:
    """The difference ``title`` of profiles as a picture: the addresses of its page, and of it."""

    title: str
    link: str
    svg: str
    png: str

    @classmethod
    def of(cls, title: str, link: str) -> "FlamePicture":
        """The picture of the page at ``link``."""
        _, _, query = link.partition("?")
        svg, png = (f"{reverse(f'profile_diff_{kind}')}?{query}" for kind in ("svg", "png"))
        return cls(title, link, svg, png)


def profile_lines(table: queries.ComparedTable, titles: Sequence[str]) -> list[ProfileLine]:
    """The cells that were profiled, one a machine and mode; ``titles`` are those of the sides."""
    sets = [one for row in table.rows for one in row.sets]
    profiled = queries.profiled_among([queries.kernel_of(one) for one in sets])
    lines = [_profile_line(row, titles, profiled) for row in table.rows]
    return list({line.title: line for line in lines if line.graphs}.values())


def _profile_line(
    row: queries.ComparedRow, titles: Sequence[str], profiled: Collection[queries.Kernel]
) -> ProfileLine:
    found = [
        (title, queries.address_of(one))
        for title, one in zip(titles, row.sets, strict=True)
        if queries.kernel_of(one) in profiled
    ]
    has_base = queries.kernel_of(row.sets[0]) in profiled
    return ProfileLine(
        f"{row.mode_label}, {row.sets[0].hardware}",
        [(title, side_link(side)) for title, side in found],
        [(title, diff_link(found[0][1], side)) for title, side in found[1:] if has_base],
    )


def pictures_of(lines: Sequence[ProfileLine]) -> list[FlamePicture]:
    """The first of the differences."""
    named = [
        FlamePicture.of(f"{line.title}: {title}", link)
        for line in lines
        for title, link in line.differences
    ]
    return named[:MOST_PICTURES]


def flame_graphs(profiles: Sequence[ProfileLine]) -> str:
    """As labs list them at the end, in Markdown with their addresses; empty without profiles."""
    named = [
        (f"{line.title}: {title}{what}", link)
        for line in profiles
        for links, what in ((line.graphs, ""), (line.differences, ", difference"))
        for title, link in links
    ]
    lines = [f"  - [{inline(text)}]({absolute(link)})" for text, link in named]
    drawn = [
        f"\n[![{inline(one.title)}]({absolute(one.png)})]({absolute(one.link)})"
        for one in pictures_of(profiles)
    ]
    return "\n".join(["Flame graphs:", *lines, *drawn]) if lines else ""
