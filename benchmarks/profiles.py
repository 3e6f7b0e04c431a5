"""How often a difference of profiles claims wrongly, how wide off its intervals are, what it finds.

    python -m benchmarks.profiles [--comparisons 400] [--seed 1] [--only WORD]

Simulated machines (`webapp.stats.profiles.simulate`), both sides with the same number of boots.
One JSON object a world: the share of comparisons with any claim (own or inclusive) of an unchanged
function, the share of false ones among claims, how many 95 % intervals hold the truth, and in how
many comparisons the planted change was claimed. Last the processor time and the memory of a
difference of five boots a side with 2,000 functions.
"""

import argparse
import json
import resource
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from webapp.stats.profiles import Difference, Side, difference
from webapp.stats.profiles.calls import Calls, Function
from webapp.stats.profiles.costs import Boot
from webapp.stats.profiles.simulate import PLANTED, Machine, World

BOOTS = (1, 3, 5, 8)
DISPERSIONS = (1.0, 8.0, 50.0)
POINTS = (0.25, 0.5, 1.0, 3.0)
HISTORY = (5, 5, 5, 5)
"""Boots of the kernels in a machine's history, where there is one."""


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

    def line(self) -> dict[str, object]:
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


def worlds() -> Iterator[tuple[str, World, int, bool]]:
    """Every world: its name, itself, boots a side, and whether there is a history."""
    for boots in BOOTS:
        for dispersion in DISPERSIONS:
            flat = World(dispersion)
            name = f"over-dispersion {dispersion:g}"
            yield f"equal, {name}", flat, boots, False
            yield f"equal, {name}, no rates", replace(flat, has_rates=False), boots, False
            yield f"all 4 % dearer, {name}", replace(flat, together_pct=4.0), boots, False
            yield f"renames, {name}", replace(flat, renamed=(1, 2)), boots, False
            yield f"skid, {name}", replace(flat, skid=(2,)), boots, False
            for points in (1.0, 3.0):
                for at, share in enumerate(PLANTED):
                    change = replace(flat, points=points, function=at)
                    yield f"+{points:g} in {share:.0%}, {name}", change, boots, False
        for history in (False, True):
            lab = World(0.0)
            said = "lab's scatter" + (", history" if history else "")
            yield f"equal, {said}", lab, boots, history
            for points in POINTS:
                for at, share in enumerate(PLANTED):
                    change = replace(lab, points=points, function=at)
                    yield f"+{points:g} in {share:.0%}, {said}", change, boots, history


def speed() -> dict[str, object]:
    """Processor time (ms) and peak memory (MB) of five boots a side with 2,000 functions."""
    noise = np.random.default_rng(1)
    a, b = large_side(noise), large_side(noise)
    spent = []
    for _ in range(5):
        start = time.process_time()
        difference(a, b)
        spent.append(1e3 * (time.process_time() - start))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"name": "speed", "ms": round(float(np.median(spent)), 1), "peak MB": round(peak)}


def large_side(noise: np.random.Generator, functions: int = 2000, boots: int = 5) -> Side:
    """A side of boots with a call tree of 20,000 nodes, 15 deep, on 8 CPUs."""
    nodes = 10 * functions
    parent = np.arange(nodes) - noise.integers(1, nodes // 15, nodes)
    parent = np.where(parent < 0, -1, parent)
    function = noise.integers(0, functions, nodes)
    named = tuple(Function(f"function{at}", "kernel") for at in range(functions))
    shares = noise.dirichlet(np.full(nodes, 0.3))
    counts = [noise.multinomial(10_000, shares, 8) for _ in range(boots)]
    calls = [Calls(named, parent, function, one) for one in counts]
    return Side(tuple(Boot(one, event="instructions", pps=1e6, cores=8) for one in calls))


def main() -> None:
    """Play every world, then measure speed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--comparisons", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="worlds whose name holds this")
    given = parser.parse_args()
    for name, world, boots, history in worlds():
        if given.only in name:
            tally = play(world, boots, given.comparisons, given.seed, history=history)
            print(json.dumps({"name": name, "boots": boots, **tally.line()}), flush=True)
    print(json.dumps(speed()))


if __name__ == "__main__":
    main()
