"""The answer of a comparison as a whole: its headline, the names of its sides, and what each mode
shows over its machines.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from webapp.analysis import queries
from webapp.charts.text import direction, half_width, percent
from webapp.pages.parts import summaries
from webapp.results.models import ModeName
from webapp.results.queries import called
from webapp.stats.compare import Across, Outcome, Verdict, outcome

BOTH = "it depends on the machine"
SIZES = "by how much depends on the machine"
GROUPS_NAMED = 2
"""Modes that the headline names."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One set against the base of its row. ``gated`` is its verdict as far as it may be claimed
    beside all others (`PointTable.headline`).
    """

    row: queries.PointRow
    index: int
    judged: queries.PointVerdict
    gated: Verdict

    @property
    def outcome(self) -> Outcome:
        """What it counts as in the whole table."""
        return outcome(self.judged.verdict, self.gated)


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


def cells_of(table: queries.PointTable) -> list[Cell]:
    """Every pair of the table."""
    gated = iter(table.headline.verdicts)
    return [
        Cell(row, index, judged, next(gated))
        for row in table.rows
        for index, judged in enumerate(row.judged)
    ]


def groups_of(
    table: queries.PointTable, cells: Sequence[Cell], titles: Sequence[str]
) -> list[Group]:
    """Modes with what they show over their machines: losses first, then most that is proven.

    ``cells`` are all of the table; ``titles`` are the names of the sides; the sets of one side are
    a group of their own.
    """
    groups = []
    for one in table.modes:
        its = [cells[at] for at in one.positions]
        metric = one.metric if has_metrics(table) else ""
        parts = [one.mode, metric, titles[one.index + 1] if len(titles) > 2 else ""]
        title = " · ".join(filter(None, parts))
        groups.append(Group(title, its, one.across, _sentence(its, one.across)))
    return sorted(groups, key=_order)


def _order(group: Group) -> tuple[bool, bool, bool, bool, int, str]:
    across = group.across
    is_loss, has_loss = across.verdict == Verdict.WORSE, Verdict.WORSE in across.verdicts
    kind = not across.named, not is_loss, not has_loss, not across.differs
    return *kind, -group.proven, group.title


def has_metrics(table: queries.PointTable) -> bool:
    """Whether rows differ in their metric, so that it has to be named."""
    return len({row.base.metric for row in table.rows}) > 1


def answer_of(table: queries.PointTable, titles: Sequence[str] | None = None) -> str:
    """The sentence over the whole table; ``titles`` are the names of the sides in it."""
    cells = cells_of(table)
    own = titles_of(table.sides)
    return headline(cells, groups_of(table, cells, titles or own), subject_of(table.sides, own))


def headline(cells: Sequence[Cell], groups: Sequence[Group], subject: str) -> str:
    """The answer: ``VIMAGE: pf-statefull 3.7 % slower [3.1, 4.2] over 6 machines; …``; of one pair
    its change.
    """
    if not cells:
        return f"{subject}: nothing was measured on every side"
    if len(cells) == 1:
        return f"{subject}: {change_sentence(cells[0])}"
    telling = [group for group in groups if group.across.named]
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
    """``3.7 % slower [3.1, 4.2] over 6 machines (2 of them proven alone)``; where only single
    machines are proven, or some of them the other way, ``slower on 2, faster on 1 of 5 machines``:
    a mean would depend on which machines a lab has.
    """
    words, counts = _direction_texts(group.cells[0]), group.across.counts
    total = len(group.cells)
    proven = [verdict for verdict in (Verdict.WORSE, Verdict.BETTER) if counts.get(verdict)]
    alone = ", ".join(f"{words[verdict]} on {counts[verdict]}" for verdict in proven)
    mean, both = summaries.mean_named(group.across), summaries.is_mixed(group.across)
    if mean is None or both:
        text = f"{alone} of {total} machine{'s' if total > 1 else ''}"
        return f"{text} ({BOTH})" if both else text
    text = summaries.mean_text(mean, words[group.across.verdict], total)
    return f"{text} ({group.proven} of them proven alone)" if proven else text


def _nothing_proven(cells: Sequence[Cell]) -> str:
    counts = Counter(cell.outcome for cell in cells)
    alone, total = counts[Outcome.BY_ITSELF], len(cells)
    if alone:
        differ = summaries.by_itself("differ", alone)
        return f"{alone} of {total} {differ}, none proven over the whole table"
    differing = sum(cell.judged.builds_differ for cell in cells)
    if differing:
        return f"{differing} of {total} pairs of single builds differ"
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
    single = f", {queries.ONE_BUILD}" if judged.rests_on_single_builds else ""
    if judged.percent is None:
        return f"{judged.verdict.value}, without a percentage{single}"
    way = direction(percent=judged.percent, better=base.better, unit=base.unit)
    return f"{half_width(abs(judged.percent))} % {way}{single}"


def lead(cells: Sequence[Cell]) -> str:
    """`counts_text` of a table of several comparisons."""
    return summaries.counts_text(Counter(cell.outcome for cell in cells)) if len(cells) > 1 else ""


def _direction_texts(cell: Cell) -> Mapping[Verdict, str]:
    return summaries.direction_texts(cell.row.base.better, cell.row.base.unit)


def _sentence(cells: Sequence[Cell], across: Across) -> str:
    words, total = _direction_texts(cells[0]), len(cells)
    mean = summaries.mean_named(across)
    parts = _alone(cells, across)
    if mean is None:
        parts[0] += f" of {total} machine{'s' if total > 1 else ''}"
        text = ", ".join(parts)
    else:
        text = (
            f"{summaries.mean_text(mean, words[across.verdict], total)}; alone {', '.join(parts)}"
        )
    if summaries.is_mixed(across):
        return f"{text}: {BOTH}"
    return f"{text}: {SIZES}" if across.differs else text


def _alone(cells: Sequence[Cell], across: Across) -> list[str]:
    """``slower on 2``, ``cannot tell on 4``: each machine, as far as that may be claimed."""
    words, counts = _direction_texts(cells[0]), across.counts
    differing = sum(cell.judged.builds_differ for cell in cells)
    found = [
        (words[Verdict.WORSE], counts.get(Verdict.WORSE, 0)),
        (words[Verdict.BETTER], counts.get(Verdict.BETTER, 0)),
        ("equivalent", counts.get(Verdict.EQUIVALENT, 0)),
        ("builds differ", differing),
        ("cannot tell", counts.get(Verdict.CANNOT_TELL, 0) - differing),
    ]
    return [f"{word} on {count}" for word, count in found if count]


def _of_modes(cells: Sequence[Cell]) -> str:
    """Where every mode was measured on one machine: counts over the modes; where one of them has
    several metrics or sides, over the comparisons."""
    words = _direction_texts(cells[0])
    counted = "modes" if len({cell.row.mode for cell in cells}) == len(cells) else "comparisons"
    total = f"of {len(cells)} {counted}"
    parts = [
        f"{words[verdict]} in {count}"
        for verdict in (Verdict.WORSE, Verdict.BETTER)
        if (count := sum(cell.gated == verdict for cell in cells))
    ]
    parts[0] += f" {total}"
    return ", ".join(parts)


def titles_of(sides: Sequence[queries.Side]) -> list[str]:
    """Each side by what distinguishes it from the others; one query where that is the machine."""
    differing = queries.differing_parts(sides)
    if "hardware" in differing:
        sides = for_people(sides)
    named = [_mode_of(side) for side in sides]
    shared = frozenset.intersection(*(frozenset(one.options if one else ()) for one in named))
    return [
        " ".join(_part_text(side, part, shared) for part in differing) or str(side)
        for side in sides
    ]


def for_people(sides: Sequence[queries.Side]) -> list[queries.Side]:
    """The same with machines as people call them; one query, none where no machine is named."""
    names = called({side.hardware for side in sides if side.hardware})
    return [replace(one, hardware=names.get(one.hardware, one.hardware)) for one in sides]


def _mode_of(side: queries.Side) -> ModeName | None:
    """The mode or the workload that it takes; None: several, or one of no such name."""
    try:
        return side.workload or (ModeName.parse(side.mode_name) if side.mode_name else None)
    except ValueError:
        return None


def _part_text(side: queries.Side, part: str, shared: frozenset[str]) -> str:
    """``shared`` are the options that the modes of all sides have in common."""
    if part == "mode" and (name := _mode_of(side)):
        return str(ModeName.of(name.workload, name.traffic, set(name.options) - shared))
    value: str = getattr(side, part)
    return value or {"mode": "without", "hardware": "all hardware"}.get(part, "")


def subject_of(sides: Sequence[queries.Side], titles: Sequence[str]) -> str:
    """What the headline is about: the option, else B against A."""
    base, *others = sides
    options = [" ".join(side.options) for side in others]
    if all(options) and not base.options:
        return ", ".join(options)
    return f"{', '.join(titles[1:])} against {titles[0]}"
