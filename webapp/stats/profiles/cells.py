"""Functions over several cells: the same change on machines, and in modes of these machines.

Modes of one machine share its hardware, its session and its kernels, so a machine is one
observation: the mean change over its modes. Student's t over machines.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr, stdtrit

from webapp.stats.false_discovery import LEVEL, gate
from webapp.stats.profiles.judging import Difference, Row, Verdict

FEWEST_MACHINES = 5
"""With fewer machines the text says what they allow."""

_CONFIDENCE = 0.95
_TESTED_PCT = 0.2


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
