"""Sessions that disagree: how often two sessions of several runs are marked, alike or not.

Two sessions of two to four uploads each, of five runs (1 %). A session has one build, or each of
its uploads has its own; boots are one a run, or one an upload. The series is new, or forty
revisions old.
"""

from itertools import product
from math import log1p

import numpy as np

from benchmarks.worlds.disagreeing import REVISIONS, RUN, World, marks
from benchmarks.worlds.figures import Figure, at_most, percent
from webapp.stats.upload_consistency import Upload

EACH = (2, 3, 4)
"""Uploads of a session."""

BUILDS = (None, 0.01, 0.03)
BOOTS = (1, 3)
APART = (5.0, 10.0, 20.0)
GOAL = at_most(0.5)


class _Sessions:
    """Points of two sessions; ``shared``: a session has one build."""

    def __init__(self, world: World, *, shared: bool) -> None:
        self.world, self.is_shared = world, shared

    def uploads(self, each: int, build: float, shift: float) -> list[Upload]:
        """Both sessions; the second lies ``shift`` above the first, on the log scale."""
        found = []
        for session, level in (("one", 0.0), ("other", shift)):
            common = build * self.world.rng.standard_normal()
            for number in range(each):
                own = common if self.is_shared else build * self.world.rng.standard_normal()
                name = session if self.is_shared else f"{session} {number}"
                levels = level + own + self.world.boots()
                found.append(
                    self.world.of_build(f"{session} {number}", name, levels, session=session)
                )
        return found

    def is_marked(self, each: int, apart: float = 0.0, *, known: bool = True) -> bool:
        """Whether a point is marked whose sessions are ``apart`` percent, by runs alone where it is
        not ``known`` which are of one session.
        """
        build = self.world.build_noise()
        its = self.uploads(each, build, log1p(apart / 100))
        if not known:
            its = [Upload.from_data(one.to_data() | {"session": ""}) for one in its]
        return marks(its, self.world.history(build))


def measure(trials: int, seed: int) -> list[Figure]:
    """Return false marks by world, and how often sessions that differ are seen."""
    return [*_null(trials, seed), *_power(trials, seed)]


def _null(trials: int, seed: int) -> list[Figure]:
    figures = []
    total = 0
    worlds = list(product((False, True), BUILDS, BOOTS, (True, False), (True, False)))
    for number, (old, build, boots, own, shared) in enumerate(worlds):
        rng = np.random.default_rng([seed, 6, number])
        made = _Sessions(World(rng, build, boots, own=own, old=old), shared=shared)
        hits = sum(made.is_marked(EACH[one % len(EACH)]) for one in range(trials))
        name = f"no cause, {_named(made)}: marked"
        figures.append(Figure(name, percent(hits, trials), GOAL, digits=2))
        total += hits
    every = percent(total, trials * len(worlds))
    return [Figure("no cause, all of these worlds: marked", every, GOAL, digits=2), *figures]


def _power(trials: int, seed: int) -> list[Figure]:
    figures = []
    for number, (old, shared, apart) in enumerate(product((False, True), (True, False), APART)):
        shares = []
        for known in (False, True):
            rng = np.random.default_rng([seed, 7, number])
            made = _Sessions(World(rng, None, 1, own=True, old=old), shared=shared)
            hits = sum(made.is_marked(3, apart, known=known) for _ in range(trials))
            shares.append(percent(hits, trials))
        by_runs, by_sessions = shares
        name = f"{apart:g} % apart, three uploads a session, {_named(made)}: marked"
        figures.append(Figure(name, by_sessions, before=f"{by_runs[0]:.1f}"))
    return figures


def _named(made: _Sessions) -> str:
    world = made.world
    builds = "1.8 % × 1.6" if world.build is None else f"{100 * world.build:g} %"
    age = f"{REVISIONS} revisions" if world.is_old else "new series"
    boots = "a boot a run" if world.has_own_boots else "one boot"
    whose = "a build a session" if made.is_shared else "a build an upload"
    return f"{age}, builds {builds}, {whose}, boots {world.boot / RUN:g} ×, {boots}"
