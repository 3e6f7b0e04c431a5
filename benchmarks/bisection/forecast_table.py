"""Is the forecast of a bisect honest? What it promised before the start against what it took.

A forecast has a number for one commit, one for several that share the loss, and one for all. In a
world of one culprit the first is judged, in one where several share the loss the second, elsewhere
the third; that one as well in a mixture of worlds, as rare as the forecast holds several to be.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial

import numpy as np

from benchmarks.bisection import team_table
from benchmarks.bisection.teams import Team, forecast_and_hours
from benchmarks.bisection.world_table import ROWS
from webapp.stats import OutOfRangeError
from webapp.stats.bisection.forecast import (
    TOLD_APART_FROM,
    TOLD_FROM,
    Forecast,
    Way,
    forecast,
)
from webapp.stats.bisection.plan import Subject
from webapp.stats.bisection.playing import play
from webapp.stats.intervals import proportion
from webapp.stats.simulate.bisect_cells import Cell, Spread, question_of

LEAST_TRIALS = 2

COLUMNS = (
    *("world", "judged by", "forecast: median", "90 % within", "took: median", "p90"),
    *(
        "within the forecast 90 % (95 % interval)",
        "the forecast median kept in",
        "within that of all",
    ),
)
HEAD = f"| {' | '.join(COLUMNS)} |\n{'|---' * len(COLUMNS)}|"


class Judged(StrEnum):
    """The part of a forecast that a world is a case of."""

    ONE = "one commit"
    SEVERAL = "several"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class Checked:
    """One bisect: what it was ``expected`` to take in its own world and in ``all`` of them (median
    and what nine in ten stay within), and what it ``took``; boots or hours. ``chance`` of several
    by the forecast.
    """

    expected: tuple[float, float]
    all: tuple[float, float]
    took: float
    chance: float


@dataclass(frozen=True, slots=True)
class ForecastCheck:
    """Means of what was forecast, ``took`` each time, and shares of the bisects that took no more:
    ``within`` (90 % if the forecast is honest), ``below`` its median, ``within_all``.
    """

    median: float
    p90: float
    took: tuple[float, ...]
    within: float
    below: float
    within_all: float
    chance: float

    @classmethod
    def of(cls, found: Sequence[Checked]) -> "ForecastCheck":
        """From at least one."""
        return cls(
            median=float(np.mean([one.expected[0] for one in found])),
            p90=float(np.mean([one.expected[1] for one in found])),
            took=tuple(one.took for one in found),
            within=float(np.mean([one.took <= one.expected[1] for one in found])),
            below=float(np.mean([one.took <= one.expected[0] for one in found])),
            within_all=float(np.mean([one.took <= one.all[1] for one in found])),
            chance=float(np.mean([one.chance for one in found])),
        )


def judged_of(cell: Cell) -> Judged:
    """Several only where they share the loss: one that undoes a part of another is not that."""
    effects = cell.effects
    if len(effects) == 1:
        return Judged.ONE
    shared = len({effect > 0 for effect in effects}) == 1
    return Judged.SEVERAL if shared else Judged.ALL


def judged_of_team(team: Team) -> Judged:
    """The same; a team has one culprit, or several of whose loss each has its share."""
    if not any(member.step for member in team.members):
        return Judged.ALL
    return Judged.SEVERAL if len(team.shares) > 1 else Judged.ONE


def check_forecast(
    cell: Cell, *, trials: int, seed: int, spread: Spread, after: int = 0
) -> ForecastCheck | None:
    """Forecast and play ``trials`` (≥ 2) bisects of a cell, or forecast what is left of them after
    so many boots; None where all had ended by then. Raises `OutOfRangeError`.
    """
    _require(trials, seed)
    found = [one for one in spread(partial(_check, cell, seed, after), range(trials)) if one]
    return ForecastCheck.of(found) if found else None


def check_team(
    team: Team, *, trials: int, seed: int, spread: Spread, after: int = 0
) -> ForecastCheck | None:
    """The same of a team, in hours from the start, or from when so many boots had ended, to the
    end. Several culprits are simulated as the form does, or where they are judged.
    """
    _require(trials, seed)
    found = [one for one in spread(partial(_check_team, team, seed, after), range(trials)) if one]
    return ForecastCheck.of(found) if found else None


def _require(trials: int, seed: int) -> None:
    if trials < LEAST_TRIALS or seed < 0:
        raise OutOfRangeError(f"trials: at least {LEAST_TRIALS}; seed: 0 or more")


def _check(cell: Cell, seed: int, after: int, number: int) -> Checked | None:
    asked = question_of(cell, np.random.default_rng([seed, number]))
    (final,) = play([Subject(asked.plan, asked.known)], [asked.lab]).evidence
    took = final.effort - after
    if took <= 0:
        return None
    known = final.boots[: len(asked.known.boots) + after]
    evidence = replace(asked.known, boots=known, hours=float(after))
    made = forecast([Subject(asked.plan, evidence)])
    own = _part(made, judged_of(cell))
    return Checked(
        expected=(own.boots_median, own.boots_p90),
        all=(made.boots_median, made.boots_p90),
        took=took,
        chance=made.several_chance,
    )


def _check_team(team: Team, seed: int, after: int, number: int) -> Checked | None:
    judged = judged_of_team(team)
    least = TOLD_FROM if judged is Judged.SEVERAL else TOLD_APART_FROM
    found = forecast_and_hours(team, seed, number, simulated_from=least, after=after)
    if found is None:
        return None
    made, hours = found
    own = _part(made, judged)
    return Checked(
        expected=(own.hours_median, own.hours_p90),
        all=(made.hours_median, made.hours_p90),
        took=hours,
        chance=made.several_chance,
    )


def _part(found: Forecast, judged: Judged) -> Way | Forecast:
    """What was forecast for such a world; that of all where the forecast is of one kind alone."""
    part = {Judged.ONE: found.one, Judged.SEVERAL: found.several, Judged.ALL: None}[judged]
    return found if part is None else part


def lines(
    *, trials: int, seed: int, spread: Spread, rows: slice = slice(None), after: int = 0
) -> Iterator[str]:
    """Each line as soon as it is known; ``rows`` of the worlds and teams, counted through. With
    ``after``, what is left of the bisects after so many boots, of those that go on.
    """
    yield f"{trials} trials a row, seed {seed}. Worlds in boots, teams in hours.\n\n{HEAD}"
    found: dict[Judged, list[ForecastCheck]] = {each: [] for each in Judged}
    for name, judged, check in _checks(after)[rows]:
        one = check(trials=trials, seed=seed, spread=spread)
        if one is not None:
            found[judged].append(one)
            yield _line(name, judged, one)
    if found[Judged.ONE] and found[Judged.SEVERAL]:
        yield "\n" + _mixture(found[Judged.ONE], found[Judged.SEVERAL])


Check = Callable[..., ForecastCheck | None]


def _checks(after: int = 0) -> list[tuple[str, Judged, Check]]:
    worlds: list[tuple[str, Judged, Check]] = [
        (row.name, judged_of(row.cell), partial(check_forecast, row.cell, after=after))
        for row in ROWS
    ]
    teams = [
        (row.name, judged_of_team(row.team), partial(check_team, row.team, after=after))
        for row in (*team_table.ROWS, *team_table.SHARED)
    ]
    return [*worlds, *teams]


def _line(name: str, judged: Judged, found: ForecastCheck) -> str:
    kept = proportion(round(found.within * len(found.took)), len(found.took))
    cells = [
        name,
        judged.value,
        f"{found.median:.0f}",
        f"{found.p90:.0f}",
        f"{np.median(found.took):g}",
        f"{np.percentile(found.took, 90):g}",
        "" if kept is None else f"{kept.share:.0%} ({kept.low:.0%}–{kept.high:.0%})",
        f"{found.below:.0%}",
        f"{found.within_all:.0%}",
    ]
    return "| " + " | ".join(cells) + " |"


def _mixture(one: Sequence[ForecastCheck], several: Sequence[ForecastCheck]) -> str:
    """Of these worlds, each as likely as others of its kind."""
    chance = float(np.mean([each.chance for each in (*one, *several)]))
    kinds = [float(np.mean([each.within_all for each in kind])) for kind in (one, several)]
    within = (1 - chance) * kinds[0] + chance * kinds[1]
    return (
        f"In a mixture with {chance:.1%} of several, {within:.0%} stay within the 90 % of all: "
        f"{kinds[0]:.0%} of one commit and {kinds[1]:.0%} of several."
    )
