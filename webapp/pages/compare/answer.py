"""What a comparison says as a whole: its headline, and what each mode shows over its machines."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from webapp.analysis.queries import PointRow, PointTable, PointVerdict
from webapp.charts.text import direction, half_width, percent
from webapp.stats.compare import Across, Estimate, Verdict, across_machines, estimate_of

BOTH = "it depends on the machine"
SIZES = "by how much depends on the machine"
GROUPS_NAMED = 2
"""Modes that the headline names."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One set against the base of its row. ``gated`` is its verdict as far as it passes the gate
    over all rows.
    """

    row: PointRow
    index: int
    judged: PointVerdict
    gated: Verdict


@dataclass(frozen=True, slots=True)
class Group:
    """One mode, as ``title`` names it, on all its machines. ``proven`` are better or worse."""

    title: str
    cells: Sequence[Cell]
    across: Across
    sentence: str

    @property
    def proven(self) -> int:
        """How many machines are proven better or worse."""
        counts = self.across.counts
        return counts.get(Verdict.WORSE, 0) + counts.get(Verdict.BETTER, 0)


def cells_of(table: PointTable) -> list[Cell]:
    """Every pair of the table."""
    gated = iter(table.headline.verdicts)
    return [
        Cell(row, index, judged, next(gated))
        for row in table.rows
        for index, judged in enumerate(row.judged)
    ]


def groups_of(cells: Iterable[Cell], titles: Sequence[str], *, with_metric: bool) -> list[Group]:
    """Modes with what they show over their machines, those with most that is proven first.

    ``titles`` are the names of the sides; the sets of one side are a group of their own.
    """
    found: dict[tuple[str, str, int], list[Cell]] = defaultdict(list)
    for cell in cells:
        found[cell.row.mode, cell.row.base.metric, cell.index].append(cell)
    tested = across_machines([_looks(its) for its in found.values()])
    groups = []
    for ((mode, metric, index), its), across in zip(found.items(), tested, strict=True):
        parts = [mode, metric if with_metric else "", titles[index + 1] if len(titles) > 2 else ""]
        title = " · ".join(filter(None, parts))
        groups.append(Group(title, its, across, _sentence(its, across)))
    return sorted(groups, key=lambda one: (not one.across.differs, -one.proven, one.title))


def headline(cells: Sequence[Cell], groups: Sequence[Group], subject: str) -> str:
    """The answer: ``VIMAGE: pf-statefull slower on 3 of 5 machines; …``; of one pair its change."""
    if not cells:
        return f"{subject}: nothing was measured on every side"
    if len(cells) == 1:
        return f"{subject}: {change_sentence(cells[0])}"
    telling = [group for group in groups if group.proven]
    if not telling:
        return f"{subject}: {_nothing_proven(cells)}"
    if len({group.title for group in groups}) == 1:
        return f"{subject}: {telling[0].sentence}"
    if max(len(group.cells) for group in groups) == 1:
        return f"{subject}: {_of_modes(cells)}"
    named = [f"{group.title} {_in_short(group)}" for group in telling[:GROUPS_NAMED]]
    rest = len(telling) - len(named)
    more = f"; and {rest} more mode{'s' if rest > 1 else ''}" if rest else ""
    return f"{subject}: {'; '.join(named)}{more}"


def _in_short(group: Group) -> str:
    """``slower on 3 of 5 machines``, ``slower on 2, faster on 1 of 5 machines``."""
    words, counts = direction_texts(group.cells[0].row), group.across.counts
    proven = [verdict for verdict in (Verdict.WORSE, Verdict.BETTER) if counts.get(verdict)]
    text = ", ".join(f"{words[verdict]} on {counts[verdict]}" for verdict in proven)
    text += f" of {len(group.cells)} machine{'s' if len(group.cells) > 1 else ''}"
    return f"{text} ({BOTH})" if len(proven) > 1 and group.across.differs else text


def _nothing_proven(cells: Sequence[Cell]) -> str:
    differing = sum(cell.judged.builds_differ for cell in cells)
    if differing:
        return f"{differing} of {len(cells)} pairs of single builds differ"
    return "no difference is proven"


def change_sentence(cell: Cell) -> str:
    """``11.4 % slower``, ``no difference that matters``, ``builds differ by −4.1 %``."""
    judged, base = cell.judged, cell.row.base
    if judged.runs_disagree:
        return "runs of one revision disagree"
    if judged.builds_differ:
        return f"builds differ by {percent(judged.percent)} %"
    if judged.verdict == Verdict.EQUIVALENT:
        return "no difference that matters"
    if judged.verdict == Verdict.CANNOT_TELL:
        return "cannot tell"
    if judged.percent is None:
        return f"{judged.verdict.value}, without a percentage"
    way = direction(percent=judged.percent, better=base.better, unit=base.unit)
    return f"{half_width(abs(judged.percent))} % {way}"


def lead(cells: Sequence[Cell]) -> str:
    """``7 of 15 comparisons prove a difference, 1 proves there is none that matters, …``."""
    total = len(cells)
    if total < 2:
        return ""
    counts = {verdict: sum(cell.gated == verdict for cell in cells) for verdict in Verdict}
    proven = counts[Verdict.WORSE] + counts[Verdict.BETTER]
    differing = sum(cell.judged.builds_differ for cell in cells)
    disagree = sum(cell.judged.runs_disagree for cell in cells)
    unsure = counts[Verdict.CANNOT_TELL] - differing - disagree
    same = counts[Verdict.EQUIVALENT]
    parts = [
        f"{proven} of {total} comparisons prove{'s' if proven == 1 else ''} a difference",
        f"{same} prove{'s' if same == 1 else ''} there is none that matters" if same else "",
        _builds(differing),
        f"{disagree} with runs that disagree" if disagree else "",
        f"{unsure} cannot tell" if unsure else "",
    ]
    return ", ".join(filter(None, parts))


def _builds(differing: int) -> str:
    if not differing:
        return ""
    pairs = "1 pair" if differing == 1 else f"{differing} pairs"
    return f"{pairs} of single builds differ{'s' if differing == 1 else ''}"


def direction_texts(row: PointRow) -> Mapping[Verdict, str]:
    """What better and worse are called in the row's metric."""
    base = row.base
    gain = 1.0 if base.better == "more" else -1.0
    return {
        Verdict.WORSE: direction(percent=-gain, better=base.better, unit=base.unit),
        Verdict.BETTER: direction(percent=gain, better=base.better, unit=base.unit),
    }


def _looks(cells: Sequence[Cell]) -> tuple[list[Verdict], list[Estimate]]:
    """The verdicts, and the estimates of those whose interval counts all that is known of noise."""
    sure = (cell.judged for cell in cells if not _is_open(cell.judged))
    estimates = (estimate_of(one.percent, one.low, one.high, one.df) for one in sure)
    return [cell.gated for cell in cells], [one for one in estimates if one is not None]


def _is_open(judged: PointVerdict) -> bool:
    """Whether single builds or runs that disagree stand behind it."""
    return judged.one_build or judged.runs_disagree


def _sentence(cells: Sequence[Cell], across: Across) -> str:
    words, counts = direction_texts(cells[0].row), across.counts
    total = len(cells)
    differing = sum(cell.judged.builds_differ for cell in cells)
    unsure = counts.get(Verdict.CANNOT_TELL, 0) - differing
    found = [
        (words[Verdict.WORSE], counts.get(Verdict.WORSE, 0)),
        (words[Verdict.BETTER], counts.get(Verdict.BETTER, 0)),
        ("equivalent", counts.get(Verdict.EQUIVALENT, 0)),
        ("builds differ", differing),
        ("cannot tell", unsure),
    ]
    parts = [f"{word} on {count}" for word, count in found if count]
    parts[0] += f" of {total} machine{'s' if total > 1 else ''}"
    if not across.differs or not (counts.get(Verdict.WORSE) or counts.get(Verdict.BETTER)):
        # Changes that differ but do not matter, or are not proven, are no news.
        return ", ".join(parts)
    is_mixed = bool(counts.get(Verdict.WORSE) and counts.get(Verdict.BETTER))
    return f"{', '.join(parts)}: {BOTH if is_mixed else SIZES}"


def _of_modes(cells: Sequence[Cell]) -> str:
    """Where every mode was measured on one machine: counts over the modes."""
    words = direction_texts(cells[0].row)
    total = f"of {len(cells)} modes"
    parts = [
        f"{words[verdict]} in {count}"
        for verdict in (Verdict.WORSE, Verdict.BETTER)
        if (count := sum(cell.gated == verdict for cell in cells))
    ]
    parts[0] += f" {total}"
    return ", ".join(parts)
