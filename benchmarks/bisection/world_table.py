"""The worlds that break the model of a bisect, as one Markdown table with what was before."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from webapp.stats.bisection.ending import Kind
from webapp.stats.simulate.bisect_cells import Cell, Result, Spread, counted, play_trials
from webapp.stats.simulate.bisect_worlds import World

USUAL = Cell(64, -2.0, 0.5, 0.5)


@dataclass(frozen=True, slots=True)
class Row:
    """``before``: right and wrong, percent, of the method that took the model for the truth.

    ``asked``: the goal.
    """

    name: str
    cell: Cell
    before: str
    asked: str


def _in(world: World) -> Cell:
    return replace(USUAL, world=world)


ROWS: tuple[Row, ...] = (
    Row("as modelled", USUAL, "100 / 0", "≥ 98 / ≤ 1"),
    Row("as modelled, 1 %", replace(USUAL, step=-1.0), "98 / 0.7", "≥ 98 / ≤ 1"),
    Row("noise twice the believed", _in(World(true_noise=2.0)), "49 / 39", "wrong ≤ 3"),
    Row("builds wander 0.5 %", _in(World(hidden_build=0.5)), "79 / 18", "wrong ≤ 5"),
    Row("builds wander 1 %", _in(World(hidden_build=1.0)), "28 / 53", "wrong ≤ 5"),
    Row("drift −0.05 % a boot", _in(World(drift=-0.05)), "66 / 24", "wrong ≤ 5"),
    Row("drift −0.1 % a boot", _in(World(drift=-0.1)), "30 / 59", "wrong ≤ 5"),
    Row("lab steps −1 % after boot 10", _in(World(lab_step=-1.0)), "53 / 29", "wrong ≤ 5"),
    Row("lab steps −2 % after boot 10", _in(World(lab_step=-2.0)), "19 / 71", "wrong ≤ 5"),
    Row("two culprits of −1.5 %", _in(World(culprits=(-1.5, -1.5))), "47 / 3", "several ≥ 60"),
    Row("three of −1 %", _in(World(culprits=(-1.0,) * 3)), "24 / 9", "several ≥ 60"),
    Row("−3 % and +1 %", _in(World(culprits=(-3.0, 1.0))), "", "wrong ≤ 5"),
    Row("10 % of boots −8 %", _in(World(flaky=0.1)), "75 / 4", "≥ 85 / ≤ 3"),
    Row("prior 1/1000 on the culprit", _in(World(misleading_prior=1e-3)), "88 / 11", "wrong ≤ 3"),
    Row("as modelled, a mode beside", _in(World(beside=1)), "", "≥ 98 / ≤ 1"),
    Row("drift −0.1 %, a mode beside", _in(World(drift=-0.1, beside=1)), "", "wrong ≤ 5"),
    Row(
        "drift −0.1 %, a mode beside with the culprit's step",
        _in(World(drift=-0.1, beside=1, beside_share=1.0)),
        "",
        "wrong ≤ 5",
    ),
    Row(
        "drift −0.1 %, a mode beside that does not drift",
        _in(World(drift=-0.1, beside=1, beside_still=True)),
        "",
        "wrong ≤ 5",
    ),
    Row("lab steps −2 %, a mode beside", _in(World(lab_step=-2.0, beside=1)), "", "wrong ≤ 5"),
    Row(
        "lab steps −2 %, a mode beside with the culprit's step",
        _in(World(lab_step=-2.0, beside=1, beside_share=1.0)),
        "",
        "wrong ≤ 5",
    ),
    Row("culprit before the good end", _in(World(outside=-1)), "", "outside ≥ 80"),
    Row("culprit behind the bad end", _in(World(outside=1)), "", "outside ≥ 80"),
    Row("false alert", replace(USUAL, false_alert=True), "0 / 0", "wrong ≤ 1"),
    Row(
        "false alert, drift −0.1 %",
        replace(USUAL, false_alert=True, world=World(drift=-0.1)),
        "",
        "wrong ≤ 3",
    ),
)

COLUMNS = (
    *(
        "world",
        "right (each seed)",
        "wrong (each seed)",
        "innocent named",
        "range (holds it; median)",
    ),
    *(
        "range ≤ 8 that holds it",
        "more than one (each seed)",
        "machine or noise",
        "outside",
        "none",
        "at stated 90 %",
    ),
    *("boots median, p95", "before: right / wrong", "asked, %"),
)
WORLD_HEAD = f"| {' | '.join(COLUMNS)} |\n{'|---' * len(COLUMNS)}|"


def lines(*, trials: int, seed: int, spread: Spread, rows: slice = slice(None)) -> Iterator[str]:
    """Each of the ``rows`` as soon as it is known: ``trials`` of ``seed``, as many of the next."""
    yield f"{trials} trials a row of each of the seeds {seed} and {seed + 1}.\n\n{WORLD_HEAD}"
    for row in ROWS[rows]:
        tried = [
            play_trials(row.cell, trials=trials, seed=each, spread=spread)
            for each in (seed, seed + 1)
        ]
        yield _line(row, counted([*chain(*tried)]), [counted(each) for each in tried])


def _line(row: Row, result: Result, by_seed: Sequence[Result]) -> str:
    share = result.outcomes
    ranges = f"{share[Kind.RANGE]:.1%}"
    if result.range_right is not None:
        ranges += f" ({result.range_right:.0%}; {result.range_median:g})"
    named, right = result.stated_90
    cells = [
        row.name,
        _each(result.right_single, [one.right_single for one in by_seed]),
        _each(result.wrong_single, [one.wrong_single for one in by_seed]),
        f"{result.innocent:.1%}",
        ranges,
        f"{result.short_range:.1%}",
        _each(result.several, [one.several for one in by_seed]),
        f"{share[Kind.SUSPECTED]:.1%}",
        f"{share[Kind.OUTSIDE]:.1%}",
        f"{share[Kind.NOT_REPRODUCED] + share[Kind.INCONCLUSIVE]:.1%}",
        f"{right} of {named}",
        f"{result.boots_median:g}, {result.boots_p95:g}",
        row.before,
        row.asked,
    ]
    return "| " + " | ".join(cells) + " |"


def _each(together: float, by_seed: Sequence[float]) -> str:
    """A share of all trials, and of those of each seed."""
    return f"{together:.1%} ({', '.join(f'{share:.1%}' for share in by_seed)})"
