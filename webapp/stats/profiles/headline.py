"""One sentence for a difference of profiles: what a packet costs, and which function it is; and
functions over several cells: the same change on machines, and in modes of these machines.

Modes of one machine share its hardware, its session and its kernels, so a machine is one
observation: the mean change over its modes. Student's t over machines.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr, stdtrit

from webapp.stats.false_discovery import LEVEL, gate
from webapp.stats.profiles.judging import Change, Difference, Row, Verdict

SMALLEST = 0.5
"""No function below half a point is named in a headline."""

WHOLE = 2 / 3
"""A function that costs more of the packet explains nothing: it is nearly all of it."""

MOST_OF = 0.7
"""Of functions on one call path the deepest is named that holds this part of the largest change."""

FEWEST_MACHINES = 5
"""With fewer machines the text states what they allow."""

_CONFIDENCE = 0.95
_TESTED_PCT = 0.2


@dataclass(frozen=True, slots=True)
class Part:
    """A function of a headline, with all it calls if ``inclusive``; in percent of A's packet."""

    function: str
    module: str
    inclusive: bool
    a_pct: float
    b_pct: float
    change: float
    is_proven: bool
    renamed_to: str = ""


@dataclass(frozen=True, slots=True)
class Headline:
    """A difference in a sentence, ``more`` about functions, and its parts as figures."""

    first: str
    more: tuple[str, ...]
    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        """All sentences."""
        return " ".join((self.first, *self.more))


def headline(difference: Difference, name_a: str, name_b: str) -> Headline:
    """The headline of ``difference``; ``name_b`` is what changed, ``name_a`` what it is against."""
    total = difference.total
    proven = total is not None and total.is_claimed
    part = _explaining(difference)
    first = _first(difference, name_a, name_b)
    second = _second(difference, part, proven=proven)
    more = tuple(one for one in (second, _limits(difference)) if one)
    return Headline(first, more, (part,) if part else ())


def _first(difference: Difference, name_a: str, name_b: str) -> str:
    total = difference.total
    if total is None:
        return f"{name_b} against {name_a}, by shares of samples alone."
    if not total.is_claimed:
        return f"What a packet costs with {name_b} is not proven to differ from {name_a}."
    way = "cheaper" if total.change < 0 else "dearer"
    rate = 100 * (total.a_pct / total.b_pct - 1)
    per_second = f"{_points(rate)} % {'more' if rate > 0 else 'fewer'} packets per second"
    return f"{name_b} makes a packet {_points(total.change)} % {way} than {name_a} ({per_second})."


def _second(difference: Difference, part: Part | None, *, proven: bool) -> str:
    total = difference.total
    if part is None:
        if proven:
            return "No single function explains it."
        return "No function is proven to have changed." if difference.is_tested else ""
    name = f"{part.function} (now {part.renamed_to})" if part.renamed_to else part.function
    name = f"{name} and what it calls" if part.inclusive else name
    of = "a packet" if difference.is_cost else "the samples"
    became = f"{_points(part.a_pct)} % of {of} became {_points(part.b_pct)} %"
    if total is not None and proven and 0 < part.change / total.change <= 1:
        whole = _points(total.change)
        return f"{_points(part.change)} of these {whole} points are {name}: {became}."
    return f"{name}: {became}."


def _limits(difference: Difference) -> str:
    if difference.is_tested:
        return ""
    if min(difference.boots) == 1:
        return "One boot a side: nothing is proven of functions."
    return "Nothing is proven of functions."


def _points(value: float) -> str:
    """A size with as many digits as it is worth: 27, 3.7, 0.5."""
    size = abs(value)
    return f"{size:.0f}" if size >= 9.95 else f"{size:.1f}"


def _explaining(difference: Difference) -> Part | None:
    """The most specific function that holds most of a change: proven, or where nothing can be
    tested, at least half of all.

    A function that one side alone shows is named where no other can be: what it did may be done
    elsewhere there.
    """
    parts = [part for row in difference.rows for part in _parts(difference, row)]
    parts = [part for part in parts if part.a_pct and part.b_pct] or parts
    total = difference.total
    if total is not None and total.is_claimed:
        parts = [part for part in parts if part.change * total.change > 0] or parts
    if not parts:
        return None
    most = max(abs(part.change) for part in parts)
    deep = [part for part in parts if abs(part.change) >= MOST_OF * most]
    return min(deep, key=lambda part: (part.a_pct + part.b_pct, part.inclusive))


def _parts(difference: Difference, row: Row) -> list[Part]:
    found = [_part(row, change, inclusive=change is not row) for change in (row, row.inclusive)]
    return [one for one in found if _may_be_named(difference, one)]


def _part(row: Row, change: Change, *, inclusive: bool) -> Part:
    return Part(
        row.function,
        row.module,
        inclusive,
        change.a_pct,
        change.b_pct,
        change.change,
        change.is_claimed,
        row.renamed_to,
    )


def _may_be_named(difference: Difference, part: Part) -> bool:
    if abs(part.change) < SMALLEST or max(part.a_pct, part.b_pct) > 100 * WHOLE:
        return False
    if difference.is_tested:
        return part.is_proven
    total = difference.total
    if total is None or not total.is_claimed:
        return False
    return part.change / total.change >= 0.5 and _is_apart(part, total.change)


def _is_apart(part: Part, total: float) -> bool:
    """Whether the rest of the packet changed by less than half as much as the packet."""
    rest = (total - part.change) / (100 - part.a_pct)
    return abs(rest) < abs(total) / 100 / 2


@dataclass(frozen=True, slots=True)
class Cell:
    """The difference of two sides on a machine, in a mode."""

    machine: str
    mode: str
    difference: Difference


@dataclass(frozen=True, slots=True)
class Across:
    """One function over ``machines`` machines: its mean change, in percent of A's packet.

    ``low`` to ``high`` is the 95 % interval (None with one machine).
    """

    function: str
    module: str
    machines: int
    change: float
    low: float | None
    high: float | None
    p_value: float | None
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Combined:
    """What several cells show together: functions by evidence, and what the machines allow."""

    rows: tuple[Across, ...]
    machines: int
    claims: int
    text: str


def combined(cells: Sequence[Cell]) -> Combined:
    """Combine the differences of ``cells`` by function: those on every machine.

    Only costs are combined, of cells whose profiles are whole. Raises ValueError without a cell.
    """
    if not cells:
        raise ValueError("no cells to combine: give at least one")
    machines = sorted({cell.machine for cell in cells})
    changes = _by_machine(cells, machines)
    tested = {name: values for name, values in changes.items() if len(values) == len(machines)}
    found = [_across(name, np.array(values)) for name, values in tested.items()]
    gates = gate([1.0 if one.p_value is None else one.p_value for one in found], LEVEL)
    rows = [_judged(one, at.passes) for one, at in zip(found, gates, strict=True)]
    rows.sort(key=lambda row: (row.verdict == "cannot tell", _p_value(row), -abs(row.change)))
    claims = sum(row.verdict != "cannot tell" for row in rows)
    return Combined(tuple(rows), len(machines), claims, _text(len(machines), len(rows)))


def _by_machine(
    cells: Sequence[Cell], machines: Sequence[str]
) -> dict[tuple[str, str], list[float]]:
    """The change of each function on each machine that shows it: its mean over modes."""
    found: dict[tuple[str, str], list[float]] = {}
    for machine in machines:
        modes: dict[tuple[str, str], list[float]] = {}
        for cell in cells:
            if cell.machine == machine and cell.difference.is_cost:
                for row in cell.difference.rows:
                    if _is_large(row):
                        modes.setdefault((row.function, row.module), []).append(row.change)
        for name, changes in modes.items():
            found.setdefault(name, []).append(float(np.mean(changes)))
    return found


def _is_large(row: Row) -> bool:
    return (row.a_pct + row.b_pct) / 2 >= _TESTED_PCT


def _across(name: tuple[str, str], changes: np.ndarray[tuple[int], np.dtype[np.float64]]) -> Across:
    count, mean = len(changes), float(changes.mean())
    if count < 2:
        return Across(*name, count, mean, None, None, None, "cannot tell")
    error = float(changes.std(ddof=1)) / count**0.5
    half = float(stdtrit(count - 1, 0.5 + _CONFIDENCE / 2)) * error
    p_value = float(2 * stdtr(count - 1, -abs(mean) / error)) if error else None
    return Across(*name, count, mean, mean - half, mean + half, p_value, "cannot tell")


def _judged(row: Across, passes: bool) -> Across:
    if not passes:
        return row
    verdict: Verdict = "dearer" if row.change > 0 else "cheaper"
    shown = (row.function, row.module, row.machines, row.change, row.low, row.high, row.p_value)
    return Across(*shown, verdict)


def _p_value(row: Across) -> float:
    return 1.0 if row.p_value is None else row.p_value


def _text(machines: int, functions: int) -> str:
    """What so many machines allow."""
    about = "The claim is about these builds."
    if machines >= FEWEST_MACHINES:
        return f"{machines} machines, each one observation. {about}"
    if machines == 1:
        return (
            f"One machine: its modes share machine, session and kernel and prove nothing. {about}"
        )
    times = float(-stdtrit(machines - 1, LEVEL / max(functions, 1) / 2))
    return (
        f"Only {machines} machines, each one observation: a first function of {functions} is "
        f"proven where its mean change is {times:.3g} times its standard error over machines. "
        f"{about}"
    )
