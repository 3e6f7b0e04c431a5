"""Bisects over one, two and three machines or modes, as Markdown."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np

from benchmarks.bisection.teams import (
    Member,
    Team,
    TeamResult,
    play_team,
    team_result,
)
from webapp.stats.simulate.bisect_cells import Spread
from webapp.stats.simulate.bisect_worlds import World


@dataclass(frozen=True, slots=True)
class TeamRow:
    """``asked``: the goal."""

    name: str
    team: Team
    asked: str = "wrong ≤ 5"


def _team(*members: Member, same_luck: bool = False, gone: float = np.inf) -> Team:
    return Team(members, same_luck, gone)


ONE = Member()
DRIFTS = Member(world=World(drift=-0.1))
STEPS = Member(world=World(lab_step=-2.0))
BUILDS = Member(world=World(hidden_build=0.5))
NOISY = Member(world=World(true_noise=2.0))


def _in_modes(member: Member) -> Team:
    """Two modes of one machine."""
    own = Member(member.step, member.alerted, "one", member.world)
    return _team(own, own)


ROWS: tuple[TeamRow, ...] = (
    TeamRow("one machine", _team(ONE), "≥ 98 / ≤ 1"),
    TeamRow("two, equal steps", _team(ONE, ONE), "≥ 98 / ≤ 1"),
    TeamRow("three, equal steps", _team(ONE, ONE, ONE), "≥ 98 / ≤ 1"),
    TeamRow("one machine, −1 %", _team(Member(-1.0, -1.0)), "≥ 98 / ≤ 1"),
    TeamRow("two, −1 % each", _team(Member(-1.0, -1.0), Member(-1.0, -1.0)), "≥ 98 / ≤ 1"),
    TeamRow("two, −2 and −1 %", _team(ONE, Member(-1.0, -1.0)), "≥ 98 / ≤ 1"),
    TeamRow("two, −2 % and none, alerted", _team(ONE, Member(0.0, -2.0))),
    TeamRow("two, −2 % and none, not alerted", _team(ONE, Member(0.0, None))),
    TeamRow("two, −2 % each, the second not alerted", _team(ONE, Member(-2.0, None))),
    TeamRow("two, the second drifts −0.1 %", _team(ONE, DRIFTS)),
    TeamRow("two, both drift −0.1 %", _team(DRIFTS, DRIFTS)),
    TeamRow("three, one without, one drifts", _team(ONE, Member(0.0, -2.0), DRIFTS)),
    TeamRow("two, both step −2 % after boot 10", _team(STEPS, STEPS)),
    TeamRow("two modes of one machine", _in_modes(ONE)),
    TeamRow("two modes of one that drifts −0.1 %", _in_modes(DRIFTS)),
    TeamRow("two modes of one that steps −2 %", _in_modes(STEPS)),
    TeamRow("two, noise twice the believed", _team(NOISY, NOISY), "wrong ≤ 3"),
    TeamRow("two, builds wander 0.5 %", _team(BUILDS, BUILDS)),
    TeamRow("the same luck of builds on both", _team(BUILDS, BUILDS, same_luck=True)),
    TeamRow("two, the first is gone after 6 h", _team(ONE, ONE, gone=6.0)),
    TeamRow("two, false alert", _team(Member(0.0), Member(0.0)), "wrong ≤ 1"),
    TeamRow(
        "two, false alert, both drift −0.1 %",
        _team(*[Member(0.0, world=World(drift=-0.1))] * 2),
        "wrong ≤ 3",
    ),
)

SHARED = tuple(
    TeamRow(name, Team(members, shares=(1 / count,) * count))
    for name, members, count in (
        ("two, two culprits share −3 %", (Member(-3.0, -3.0),) * 2, 2),
        ("two, three culprits share −3 %", (Member(-3.0, -3.0),) * 2, 3),
    )
)
"""Several culprits, for forecasts: of those that share a loss none alone is the right answer."""

COLUMNS = (
    *("machines and modes", "right (each seed)", "wrong (each seed)", "more than one (each seed)"),
    *("machine or noise", "none", "at stated 90 %", "boots", "of the busiest machine"),
    *("hours median, p95", "asked, %"),
)
TEAM_HEAD = f"| {' | '.join(COLUMNS)} |\n{'|---' * len(COLUMNS)}|"


def lines(*, trials: int, seed: int, spread: Spread, rows: slice = slice(None)) -> Iterator[str]:
    """Each of the ``rows`` as soon as it is known: ``trials`` of ``seed``, as many of the next."""
    yield (
        f"{trials} trials a row of each of the seeds {seed} and {seed + 1}; a boot takes an "
        f"hour on every machine.\n\n{TEAM_HEAD}"
    )
    for row in ROWS[rows]:
        tried = [
            play_team(row.team, trials=trials, seed=each, spread=spread)
            for each in (seed, seed + 1)
        ]
        by_seed = [team_result(each) for each in tried]
        yield _line(row, team_result([*chain(*tried)]), by_seed)


def _line(row: TeamRow, result: TeamResult, by_seed: list[TeamResult]) -> str:
    def each(name: str) -> str:
        of_seeds = ", ".join(f"{getattr(one, name):.1%}" for one in by_seed)
        return f"{getattr(result, name):.1%} ({of_seeds})"

    named, right = result.stated_90
    cells = [
        row.name,
        *(each(name) for name in ("right", "wrong", "several")),
        f"{result.suspected:.1%}",
        f"{result.nothing:.1%}",
        f"{right} of {named}",
        f"{result.boots:g}",
        f"{result.busiest:g}",
        f"{result.hours:g}, {result.hours_p95:g}",
        row.asked,
    ]
    return "| " + " | ".join(cells) + " |"
