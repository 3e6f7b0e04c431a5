"""How often a difference of profiles claims wrongly, how wide off its intervals are, what it finds.

    python -m benchmarks.profiles [--comparisons 300] [--seed 1] [--processes 1] [--only WORD]

Simulated machines (`benchmarks.profile_worlds`), both sides with the same number of boots:
shares of comparisons with any claim (own or inclusive) of an unchanged function, of false ones
among claims, of 95 % intervals that hold the truth, and of comparisons in which the planted change
was claimed. Then what costs of functions over revisions find, what weights by profiles are worth
to a bisect, and processor time and memory. Markdown, as `benchmarks.recorded` takes it.
"""

import argparse
import importlib
import os
import resource
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from multiprocessing import get_context
from types import SimpleNamespace
from typing import Any

import django
import numpy as np

from benchmarks.profile_worlds import PLANTED, Machine, World
from webapp.stats.bisection.ending import Kind
from webapp.stats.bisection.plan import Subject
from webapp.stats.bisection.playing import play as play_bisect
from webapp.stats.profiles import Difference, Side, difference
from webapp.stats.profiles.calls import Calls, Function
from webapp.stats.profiles.costs import Boot
from webapp.stats.profiles.function_series import (
    ProfiledRevision,
    changed_among,
    costliest,
    function_costs,
    series_of,
)
from webapp.stats.simulate.bisect_cells import Cell, Spread, question_of, spread_over

BOOTS = (3, 5, 8)
DISPERSIONS = (1.0, 8.0, 50.0)
POINTS = (0.25, 0.5, 1.0, 3.0)
HISTORY = (5, 5, 5, 5)
"""Boots of the kernels in a machine's history, where there is one."""

OF_PLANTED = (
    "Comparisons in which a planted change is found, and the false share of claims, where "
    "pairs of boots scatter by 0.10, 0.26, 0.38 points in functions of 1, 3, 10 %:"
)

HOSTILE = 4_700
"""Nodes of a profile of which each is a function of its own: as many profiles fit as may."""


@dataclass(slots=True)
class Tally:
    """What was claimed in comparisons of one world; a planted function alone changed."""

    comparisons: int = 0
    any_false: int = 0
    false_shares: list[float] = field(default_factory=list)
    claims: int = 0
    found: int = 0
    intervals: int = 0
    covered: int = 0

    def add(self, found: Difference, truth: dict[str, float], traded: frozenset[str]) -> None:
        """Count one comparison; functions in ``traded`` have no truth of their own."""
        self.comparisons += 1
        claimed = [row for row in found.rows if row.is_claimed]
        true = [row for row in claimed if truth.get(row.function, 0) * row.change > 0]
        changed_below = {"root"} | ({"caller0"} if any(truth.values()) else set())
        deep = any(
            row.inclusive.is_claimed and not truth.get(row.function)
            for row in found.rows
            if row.function not in changed_below
        )
        self.any_false += len(true) < len(claimed) or deep
        self.false_shares.append((len(claimed) - len(true)) / max(len(claimed), 1))
        self.claims += len(claimed)
        self.found += bool(true)
        for row in found.rows:
            if (row.a_pct + row.b_pct) / 2 < 0.2 or row.function in traded:
                continue
            if row.low is not None and row.high is not None:
                self.intervals += 1
                self.covered += row.low <= truth.get(row.function, 0.0) <= row.high

    def line(self) -> dict[str, Any]:
        """The tally as a JSON object."""
        return {
            "n": self.comparisons,
            "any false claim": round(self.any_false / self.comparisons, 3),
            "false share of claims": round(float(np.mean(self.false_shares)), 4),
            "claims": self.claims,
            "found": round(self.found / self.comparisons, 3),
            "coverage": round(self.covered / self.intervals, 3) if self.intervals else None,
        }


def play(world: World, boots: int, comparisons: int, seed: int, *, history: bool = False) -> Tally:
    """Compare ``boots`` boots a side of a machine of ``world``, ``comparisons`` times."""
    noise = np.random.default_rng([seed, boots])
    tally = Tally()
    traded = frozenset(f"leaf{at + step}" for at in world.skid for step in (0, 1))
    for _ in range(comparisons):
        machine = Machine(world, noise)
        sections = 4 if boots < 3 else 1
        a = machine.side(boots, sections=sections)
        b = machine.side(boots, changed=True, sections=sections)
        past = [machine.side(one) for one in HISTORY] if history else None
        truth = {one: change for one, change in machine.changes().items() if change}
        tally.add(difference(a, b, history=past), truth, traded)
    return tally


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a table: a world in each of its columns (boots a side, or planted functions)."""

    name: str
    worlds: tuple[World, ...]
    boots: tuple[int, ...]
    history: bool = False

    def tallies(self, comparisons: int, seed: int) -> list[Tally]:
        """What each column's comparisons claimed."""
        each = zip(self.worlds, self.boots, strict=True)
        return [
            play(world, boots, comparisons, seed, history=self.history) for world, boots in each
        ]


def equal_rows() -> Iterator[Row]:
    """Sides of which no function changed alone, by boots."""
    kinds: dict[str, Callable[[World], World]] = {
        "equal": lambda flat: flat,
        "equal, without rates": lambda flat: replace(flat, has_rates=False),
        "all functions 4 % dearer": lambda flat: replace(flat, together_pct=4.0),
        "two functions with other names": lambda flat: replace(flat, renamed=(1, 2)),
        "30 % of a 10 % function's samples counted for its neighbour": lambda flat: replace(
            flat, skid=(2,)
        ),
    }
    for name, made in kinds.items():
        for dispersion in DISPERSIONS:
            world = made(World(dispersion))
            row = f"{name}, over-dispersion {dispersion:g}"
            yield Row(row, (world,) * len(BOOTS), BOOTS)
    yield Row("equal, a lab's scatter", (World(0.0),) * len(BOOTS), BOOTS)


def planted_rows() -> Iterator[Row]:
    """A change in a function of each of `PLANTED` shares."""
    for boots, history in (*((one, False) for one in BOOTS), (BOOTS[-1], True)):
        for points in POINTS:
            past = ", history of 20 boots" if history else ""
            name = f"{points:g} points, {boots} boots a side{past}"
            worlds = (World(0.0, points=points, function=at) for at in range(len(PLANTED)))
            yield Row(name, tuple(worlds), (boots,) * len(PLANTED), history)


def tables(comparisons: int, only: str, spread: Spread, seed: int) -> Iterator[str]:
    """The lines of both tables, for rows whose name holds ``only``."""
    for title, columns, rows, shown in (
        (
            "Comparisons with a false claim, and 95 % intervals that hold the truth:",
            [f"{boots} boots" for boots in BOOTS],
            list(equal_rows()),
            _false,
        ),
        (
            OF_PLANTED,
            [f"in {share:.0%}".replace("%", " %") for share in PLANTED],
            list(planted_rows()),
            _found,
        ),
    ):
        yield f"{title}\n\n| | {' | '.join(columns)} |\n|---|{'---|' * len(columns)}"
        chosen = [row for row in rows if only in row.name]
        played = spread(partial(Row.tallies, comparisons=comparisons, seed=seed), chosen)
        for row, tallies in zip(chosen, played, strict=True):
            yield f"| {row.name} | {' | '.join(map(shown, tallies))} |"
        yield ""


def _false(one: Tally) -> str:
    line = one.line()
    return f"{100 * line['any false claim']:.1f} %, {100 * line['coverage']:.1f} %"


def _found(one: Tally) -> str:
    line = one.line()
    return f"{100 * line['found']:.0f} %, {100 * line['false share of claims']:.1f} %"


def over_revisions(pages: int, seed: int) -> Iterator[str]:
    """How many pages of functions over revisions show a false one, and find one that changed."""
    yield "Costs over revisions, five boots each, over-dispersion 8; a 10 % function becomes a"
    yield "fifth dearer half-way, or none does:\n"
    yield "| revisions | pages with a false function | pages with that function |\n|---|---|---|"
    for revisions in (10, 20):
        noise = np.random.default_rng([seed, revisions])
        found = {
            points: [changed_functions(noise, points, revisions) for _ in range(pages)]
            for points in (0.0, 2.0)
        }
        wrong = sum(bool(one) for one in found[0.0]) / pages
        right = sum("leaf2" in one for one in found[2.0]) / pages
        yield f"| {revisions} | {100 * wrong:.1f} % | {100 * right:.0f} % |"
    yield ""


def changed_functions(noise: np.random.Generator, points: float, count: int) -> set[str]:
    """The functions that a page of so many revisions shows as changed where none is named."""
    machine = Machine(World(8.0, function=2, points=points), noise)
    costs = function_costs(
        ProfiledRevision(at, f"r{at}", machine.side(5, changed=at >= count // 2))
        for at in reversed(range(count))
    )
    series = series_of(costs, costliest(costs, with_calls=False), with_calls=False)
    return {one.function.name for one in changed_among(series)}


def suspects(trials: int, seed: int, spread: Spread) -> Iterator[str]:
    """Boots of a bisect in which six commits weigh more than the others, the culprit or not."""
    yield "A bisect (64 commits, −2 %, run and boot noise 0.5 %) in which six commits have five"
    yield "times the weight of others:\n"
    yield "| | boots, mean | one commit named, rightly | wrongly |\n|---|---|---|---|"
    for name, weighs in (("none", None), ("the culprit among them", True), ("not", False)):
        play_one = partial(bisected, weighs=weighs, seed=seed)
        tried = list(spread(play_one, range(trials)))
        boots = np.array([one for one, _, _ in tried])
        right, wrong = (100 * float(np.mean([one[at] for one in tried])) for at in (1, 2))
        error = boots.std(ddof=1) / trials**0.5
        yield f"| {name} | {boots.mean():.1f} ± {error:.1f} | {right:.1f} % | {wrong:.1f} % |"
    yield ""


def bisected(number: int, weighs: bool | None, seed: int) -> tuple[int, bool, bool]:
    """The boots of one bisect, whether it named the culprit, whether another commit."""
    rng = np.random.default_rng([seed, number])
    asked = question_of(Cell(64, -2.0, 0.5, 0.5), rng)
    (culprit,) = asked.culprits
    plan = asked.plan
    if weighs is not None:
        others = [at for at in range(1, 65) if at != culprit]
        heavy = {*rng.choice(others, 5 if weighs else 6, replace=False).tolist()}
        heavy |= {culprit} if weighs else set()
        plan = replace(plan, weights=tuple(1.0 if at in heavy else 0.2 for at in range(1, 65)))
    played = play_bisect([Subject(plan, asked.known)], [asked.lab])
    is_named = played.outcome.kind is Kind.SINGLE
    is_right = culprit in played.outcome.candidates
    return played.effort, is_named and is_right, is_named and not is_right


def speed(functions: int = 2000) -> dict[str, float]:
    """Processor time (ms) of five boots a side with ``functions``, and peak memory (MB)."""
    noise = np.random.default_rng(1)
    a, b = large_side(noise, functions), large_side(noise, functions)
    spent = []
    for _ in range(5):
        start = time.process_time()
        difference(a, b)
        spent.append(1e3 * (time.process_time() - start))
    return {"ms": float(np.median(spent)), "MB": _peak()}


def hostile() -> dict[str, float]:
    """The same of two sides of 100 profiles of which no function is in another one: as many are
    compared as a page reads.
    """
    os.environ["DJANGO_SETTINGS_MODULE"] = "webapp.config.settings"
    django.setup()
    pages = importlib.import_module("webapp.analysis.queries.profiled")
    fitting = importlib.import_module("webapp.results.queries").fitting
    one = SimpleNamespace(expected=[HOSTILE], nodes=HOSTILE, names=HOSTILE)
    offered = [one] * pages.MOST_PROFILES
    kept = len(fitting(offered, pages.MOST_COUNTS, pages.MOST_ROWS_TIMES_FUNCTIONS))
    a, b = (Side(tuple(_hostile_boot(f"{side}{at}") for at in range(kept))) for side in "ab")
    start = time.process_time()
    difference(a, b)
    return {"kept": kept, "ms": 1e3 * (time.process_time() - start), "MB": _peak()}


def _hostile_boot(name: str) -> Boot:
    named = tuple(Function(f"{name}_{at}", "kernel") for at in range(HOSTILE))
    node = np.arange(HOSTILE)
    calls = Calls(named, np.where(node % 250, node - 1, -1), node, np.ones((1, HOSTILE), np.int64))
    return Boot(calls, event="instructions", pps=1e6, cores=8)


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def large_side(noise: np.random.Generator, functions: int, boots: int = 5) -> Side:
    """A side of boots with a call tree of ten nodes a function, 15 deep, on 8 CPUs."""
    nodes = 10 * functions
    parent = np.arange(nodes) - noise.integers(1, nodes // 15, nodes)
    parent = np.where(parent < 0, -1, parent)
    function = noise.integers(0, functions, nodes)
    named = tuple(Function(f"function{at}", "kernel") for at in range(functions))
    shares = noise.dirichlet(np.full(nodes, 0.3))
    counts = [noise.multinomial(10_000, shares, 8) for _ in range(boots)]
    calls = [Calls(named, parent, function, one) for one in counts]
    return Side(tuple(Boot(one, event="instructions", pps=1e6, cores=8) for one in calls))


def costs() -> Iterator[str]:
    """Processor time and memory, each measured in a process of its own."""
    with get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        usual, most = pool.apply(speed), pool.apply(hostile)
    yield "One difference:\n\n| | processor time | peak memory |\n|---|---|---|"
    yield (
        f"| 2,000 functions, five boots a side of 8 CPUs | {usual['ms']:.0f} ms "
        f"| {usual['MB']:.0f} MB |"
    )
    yield (
        f"| 100 profiles a side of {HOSTILE:,} functions each, all different, of which "
        f"{most['kept']} a side are read | {most['ms']:,.0f} ms | {most['MB']:,.0f} MB |"
    )


def main() -> None:
    """Play every world, then measure what a difference costs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--comparisons", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--only", default="", help="rows of the first two tables that hold this")
    given = parser.parse_args()
    with spread_over(given.processes) as spread:
        for lines in (
            tables(given.comparisons, given.only, spread, given.seed),
            over_revisions(given.comparisons // 3, given.seed),
            suspects(given.comparisons, given.seed, spread),
            costs(),
        ):
            for line in lines:
                print(line, flush=True)


if __name__ == "__main__":
    main()
