"""Bisects over several simulated machines or modes: the truth of each, and what came of it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import log1p

import numpy as np

from webapp.stats import OutOfRangeError
from webapp.stats.bisection.ending import Kind
from webapp.stats.bisection.forecast import Forecast, forecast
from webapp.stats.bisection.plan import SPARED, SPARED_UNTOLD, Evidence, Subject
from webapp.stats.bisection.playing import Played, SimulatedLab, play
from webapp.stats.simulate.bisect_cells import Cell, Spread, here, question_of
from webapp.stats.simulate.bisect_worlds import AS_MODELLED, World, draw_culprits, levels_of

COMMITS, RUN, BOOT = 64, 0.5, 0.5
"""As in the worlds of one machine."""


@dataclass(frozen=True, slots=True)
class Member:
    """``step``: what the commit does there, percent; 0: nothing. ``alerted``: the step of the
    finding; None: the series has none, and the first member's is looked for.
    """

    step: float = -2.0
    alerted: float | None = -2.0
    machine: str = ""
    world: World = AS_MODELLED


@dataclass(frozen=True, slots=True)
class Team:
    """Members on machines of their own unless they name one. ``same_luck``: a build has the same
    effect on all of them. ``gone``: hours after which the first machine is not there any more.
    ``shares``: of several commits, what each has of every member's step.
    """

    members: tuple[Member, ...]
    same_luck: bool = False
    gone: float = np.inf
    shares: tuple[float, ...] = (1.0,)


@dataclass(frozen=True, slots=True)
class TeamTried:
    """How one trial ended. ``busiest``: boots of the machine that had most of them."""

    kind: Kind
    right: bool
    wrong: bool
    several: bool
    boots: int
    busiest: int
    hours: float
    stated: float


@dataclass(frozen=True, slots=True)
class TeamResult:
    """Shares of all trials, and medians."""

    trials: int
    right: float
    wrong: float
    several: float
    suspected: float
    nothing: float
    boots: float
    busiest: float
    hours: float
    hours_p95: float
    stated_90: tuple[int, int]


@dataclass(frozen=True, slots=True)
class TeamQuestion:
    """A bisect that begins: its subjects, their labs, and who is guilty."""

    subjects: tuple[Subject, ...]
    labs: tuple[SimulatedLab, ...]
    culprits: tuple[int, ...]


def team_question(team: Team, rng: np.random.Generator) -> TeamQuestion:
    """One bisect of a team, not yet begun."""
    if not team.members:
        raise OutOfRangeError("members: at least one machine and mode")
    drawn = draw_culprits(rng, COMMITS, len(team.shares))
    subjects: list[Subject] = []
    labs: list[SimulatedLab] = []
    for number, member in enumerate(team.members):
        alerted = team.members[0].alerted if member.alerted is None else member.alerted
        cell = Cell(COMMITS, alerted or member.step, RUN, BOOT, world=member.world)
        asked = question_of(cell, rng)
        step = 100 * log1p(member.step / 100)
        sizes = tuple(share * step for share in team.shares)
        asked.lab.levels = levels_of(COMMITS, drawn, sizes)
        if team.same_luck and labs:
            asked.lab.builds = labs[0].builds
        name = f"machine {number + 1}"
        spared = SPARED_UNTOLD if member.alerted is None else SPARED
        subjects.append(Subject(asked.plan, asked.known, member.machine or name, spared, name))
        labs.append(asked.lab)
    moved = any(member.step for member in team.members)
    return TeamQuestion(tuple(subjects), tuple(labs), drawn if moved else ())


def play_team(team: Team, *, trials: int, seed: int, spread: Spread = here) -> list[TeamTried]:
    """Play ``trials`` (≥ 1) bisects; trial i depends on the seed (≥ 0) and i alone.

    Raises `OutOfRangeError`.
    """
    if trials < 1 or seed < 0:
        raise OutOfRangeError("trials: at least 1; seed: 0 or more")
    return list(spread(partial(_trial, team, seed), range(trials)))


def _trial(team: Team, seed: int, number: int) -> TeamTried:
    asked = team_question(team, np.random.default_rng([seed, number]))
    played = _played(team, asked)
    outcome, of_machine = played.outcome, dict.fromkeys((one.machine for one in asked.subjects), 0)
    for subject, evidence in zip(asked.subjects, played.evidence, strict=True):
        of_machine[subject.machine] += evidence.effort
    is_single = outcome.kind is Kind.SINGLE
    right = is_single and outcome.candidates == asked.culprits
    return TeamTried(
        kind=outcome.kind,
        right=right,
        wrong=is_single and not right,
        several=outcome.several or outcome.kind is Kind.TWO_STEPS,
        boots=played.effort,
        busiest=max(of_machine.values()),
        hours=played.hours,
        stated=outcome.probability,
    )


def _played(team: Team, asked: TeamQuestion) -> Played:
    return play(asked.subjects, asked.labs, {asked.subjects[0].machine: team.gone})


def team_result(tried: Sequence[TeamTried]) -> TeamResult:
    """The shares and medians of trials of one team."""
    named = [one for one in tried if one.kind is Kind.SINGLE and one.stated >= 0.9]
    nothing = (Kind.NOT_REPRODUCED, Kind.INCONCLUSIVE)
    hours = [one.hours for one in tried]
    return TeamResult(
        trials=len(tried),
        right=float(np.mean([one.right for one in tried])),
        wrong=float(np.mean([one.wrong for one in tried])),
        several=float(np.mean([one.several for one in tried])),
        suspected=float(np.mean([one.kind is Kind.SUSPECTED for one in tried])),
        nothing=float(np.mean([one.kind in nothing for one in tried])),
        boots=float(np.median([one.boots for one in tried])),
        busiest=float(np.median([one.busiest for one in tried])),
        hours=float(np.median(hours)),
        hours_p95=float(np.percentile(hours, 95)),
        stated_90=(len(named), sum(one.right for one in named)),
    )


def forecast_and_hours(
    team: Team, seed: int, number: int, *, simulated_from: float, after: int = 0
) -> tuple[Forecast, float] | None:
    """The forecast of one bisect, and the hours that it took from its start to its end; or of what
    was left once so many boots had ended, with those that ended at that moment. None without any.
    """
    asked = team_question(team, np.random.default_rng([seed, number]))
    played = _played(team, asked)
    if len(played.ended) <= after:
        return None
    since = played.ended[after - 1][1] if after else 0.0
    if played.hours <= since:
        return None
    by_then = [at for at, hour in played.ended if hour <= since]
    subjects = [
        replace(one, evidence=_first(one.evidence, final, by_then.count(at)))
        for at, (one, final) in enumerate(zip(asked.subjects, played.evidence, strict=True))
    ]
    expected = forecast(subjects, simulated_from=simulated_from)
    return expected, played.hours - since


def _first(known: Evidence, final: Evidence, boots: int) -> Evidence:
    """What was known at the start and the first ``boots`` of the bisect, an hour each."""
    return replace(known, boots=final.boots[: len(known.boots) + boots], hours=float(boots))
