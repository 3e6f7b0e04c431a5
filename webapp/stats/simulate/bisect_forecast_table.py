"""Is the forecast of a bisect honest? What it said before the start against what it took."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from math import isfinite

import numpy as np

from webapp.stats.bisection.forecast import Forecast, forecast
from webapp.stats.bisection.playing import play
from webapp.stats.errors import OutOfRangeError
from webapp.stats.simulate import bisect_team_table
from webapp.stats.simulate.bisect_cells import Cell, question_of
from webapp.stats.simulate.bisect_teams import forecast_and_hours
from webapp.stats.simulate.bisect_world_table import ROWS
from webapp.stats.simulate.processes import Spread, here

LEAST_TRIALS = 2

COLUMNS = (
    *("world", "forecast: median", "90 % within", "took: median", "p90"),
    *("within the forecast's 90 %", "the forecast's median kept in"),
)
HEAD = f"| {' | '.join(COLUMNS)} |\n{'|---' * len(COLUMNS)}|"


@dataclass(frozen=True, slots=True)
class ForecastCheck:
    """Boots: means over the forecasts of ``median`` and ``p90``, and what it ``took`` each time.

    ``within`` (90 % if the forecast is honest) and ``below`` (50 %): shares of the bisects that
    took no more than their own forecast's p90 and median.
    """

    median: float
    p90: float
    took: tuple[int, ...]
    within: float
    below: float


def check_forecast(cell: Cell, *, trials: int, seed: int, spread: Spread = here) -> ForecastCheck:
    """Forecast and play ``trials`` (≥ 2) bisects of a cell. Raises `OutOfRangeError`."""
    if trials < LEAST_TRIALS or seed < 0:
        raise OutOfRangeError(f"trials: at least {LEAST_TRIALS}; seed: 0 or more")
    pairs = list(spread(partial(_forecast_and_effort, cell, seed), range(trials)))
    said, took = zip(*pairs, strict=True)
    return ForecastCheck(
        median=float(np.mean([one.boots_median for one in said])),
        p90=float(np.mean([one.boots_p90 for one in said])),
        took=took,
        within=sum(boots <= one.boots_p90 for one, boots in pairs) / trials,
        below=sum(boots <= one.boots_median for one, boots in pairs) / trials,
    )


def _forecast_and_effort(cell: Cell, seed: int, number: int) -> tuple[Forecast, int]:
    """The forecast of one bisect, and the boots that it took."""
    asked = question_of(cell, np.random.default_rng([seed, number]))
    expected = forecast(asked.plan, asked.known)
    return expected, play(asked.plan, asked.known, asked.lab)[0].effort


def lines(*, trials: int, seed: int, spread: Spread) -> Iterator[str]:
    """Each line as soon as it is known."""
    yield f"{trials} trials a row, seed {seed}.\n\n{HEAD}"
    for row in ROWS:
        found = check_forecast(row.cell, trials=trials, seed=seed, spread=spread)
        cells = [
            row.name,
            f"{found.median:.0f}",
            f"{found.p90:.0f}",
            f"{np.median(found.took):g}",
            f"{np.percentile(found.took, 90):g}",
            f"{found.within:.0%}",
            f"{found.below:.0%}",
        ]
        yield "| " + " | ".join(cells) + " |"
    yield f"\nSeveral machines or modes: hours from the start to the end.\n\n{HEAD}"
    for team in bisect_team_table.ROWS:
        if isfinite(team.team.gone):
            continue
        yield _line_of_team(team, trials=trials, seed=seed, spread=spread)


def _line_of_team(row: bisect_team_table.TeamRow, *, trials: int, seed: int, spread: Spread) -> str:
    """The same of a team, in hours."""
    pairs = list(spread(partial(forecast_and_hours, row.team, seed), range(trials)))
    took = [hours for _, hours in pairs]
    cells = [
        row.name,
        f"{np.mean([one.hours_median for one, _ in pairs]):.0f}",
        f"{np.mean([one.hours_p90 for one, _ in pairs]):.0f}",
        f"{np.median(took):g}",
        f"{np.percentile(took, 90):g}",
        f"{np.mean([hours <= one.hours_p90 for one, hours in pairs]):.0%}",
        f"{np.mean([hours <= one.hours_median for one, hours in pairs]):.0%}",
    ]
    return "| " + " | ".join(cells) + " |"
