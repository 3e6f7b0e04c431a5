"""How often the cost of an option is stated wrongly, how wide off its interval is, and what it adds
to the series that it follows from. In simulated worlds, with the detector of the analysis.

    python -m benchmarks.option_costs [--machines 300] [--seed 1]

Each machine measures `REVISIONS` revisions without and with an option that costs 1.2 %, five boots
each, in pairs of one session. Days scatter, and both sides share them; builds scatter, and no side
knows of the other's. Where something was planted, the option costs 2.5 points more from a revision
in the middle third on. One JSON object a world and series.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from webapp.stats import changes
from webapp.stats.option_cost import PairedRun, ratios

REVISIONS, BOOTS = 120, 5
RATIO = 98.8
STEP_PCT = -2.53
SERIES = ("without", "with", "cost")


@dataclass(frozen=True, slots=True)
class World:
    """Scatter in percent: of days, of builds, of boots; and the step in the mode with the option.

    ``builds`` is how many of each kernel are measured at a revision. ``walk``: each day goes on
    from the one before, as a machine does that ages.
    """

    name: str
    day: float
    build: float
    builds: int = 1
    walk: bool = False
    boot: float = 0.5
    step: float = 0.0


WORLDS = tuple(
    replace(world, name=f"{effect}{world.name}", step=step)
    for effect, step in (("", 0.0), ("2.5 points, ", STEP_PCT))
    for world in (
        World("only boots scatter", 0.0, 0.0),
        World("builds scatter by 0.7 %", 0.0, 0.7),
        World("days scatter by 3 %", 3.0, 0.0),
        World("days drift by 0.5 % each", 0.5, 0.0, walk=True),
        World("days by 3 %, builds by 0.7 %", 3.0, 0.7),
        World("days by 3 %, builds by 0.7 %, two of each", 3.0, 0.7, builds=2),
        World("days drift by 0.5 % each, builds by 0.7 %", 0.5, 0.7, walk=True),
    )
)


@dataclass(frozen=True, slots=True)
class Machine:
    """What was measured, by `SERIES`, and the index of the revision where the step is."""

    points: dict[str, list[changes.Point]]
    step_at: int


def draw(world: World, noise: np.random.Generator) -> Machine:
    """One machine of ``world``."""
    step_at = int(noise.integers(REVISIONS // 3, 2 * REVISIONS // 3))
    points: dict[str, list[changes.Point]] = {name: [] for name in SERIES}
    days = noise.normal(0, world.day / 100, REVISIONS)
    if world.walk:
        days = days.cumsum()
    for at, day in enumerate(days):
        grown = world.step if at >= step_at else 0.0
        sides = [
            _runs(world, noise, 1e6 * level * float(np.exp(day)), key)
            for level, key in ((1.0, 0), (RATIO / 100 * (1 + grown / 100), world.builds))
        ]
        for name, runs in zip(SERIES, sides, strict=False):
            points[name].append(_point(at, [(run.build, run.samples, run.boots) for run in runs]))
        found = ratios(sides[1], sides[0])
        points["cost"].append(_point(at, [(str(r.run), r.samples, r.boots) for r in found]))
    return Machine(points, step_at)


def _runs(world: World, noise: np.random.Generator, level: float, key: int) -> list[PairedRun]:
    found = []
    for number in range(world.builds):
        own = level * float(np.exp(noise.normal(0, world.build / 100)))
        samples = (own * np.exp(noise.normal(0, world.boot / 100, BOOTS))).tolist()
        found.append(PairedRun(key + number, str(key + number), samples, range(BOOTS), "session"))
    return found


def _point(
    at: int, runs: Sequence[tuple[str, Sequence[float], Sequence[int] | None]]
) -> changes.Point:
    samples = [value for _, its, _ in runs for value in its]
    boots = [(build, boot) for build, _, its in runs for boot in its or ()]
    builds = [f"{at} {build}" for build, its, _ in runs for _ in its]
    return changes.Point(at, f"r{at}", samples, boots, builds)


@dataclass(slots=True)
class Outcome:
    """What was found of one series in all machines. ``sized`` are the steps that were found at most
    two revisions off; ``levels`` the machines whose last level is stated.
    """

    machines: int = 0
    wrong: int = 0
    sized: int = 0
    covered: int = 0
    levels: int = 0
    levels_covered: int = 0

    def add(self, world: World, machine: Machine, analysis: changes.Analysis, truth: float) -> None:
        """Count one machine; ``truth`` is the level of the last revisions."""
        self.machines += 1
        for one in analysis.changes:
            if one.state not in ("confirmed", "recovered"):
                continue
            if world.step and abs(one.revision.position - machine.step_at) <= 2:
                self.sized += 1
                self.covered += one.low_pct < world.step < one.high_pct
            else:
                self.wrong += 1
        last = analysis.segments[-1]
        self.levels += 1
        self.levels_covered += last.low < truth < last.high


def play(world: World, machines: int, seed: int) -> Iterator[dict[str, object]]:
    """What is reported of ``machines`` of a world, series by series, and how alerts count them."""
    noise = np.random.default_rng([seed, WORLDS.index(world)])
    outcomes = {name: Outcome() for name in SERIES}
    both = apart = alone = 0
    for _ in range(machines):
        machine = draw(world, noise)
        found = {name: _analysed(machine.points[name]) for name in SERIES}
        last = RATIO * (1 + world.step / 100)
        truths = {"without": 1e6, "with": 1e4 * last, "cost": last}
        for name in SERIES:
            outcomes[name].add(world, machine, found[name], truths[name])
        cost, parent = (_confirmed(found[name]) for name in ("cost", "with"))
        shared = sum(any(_overlap(one, other) for other in parent) for one in cost)
        both += shared
        apart += bool(parent) * (len(cost) - shared)
        alone += (not parent) * len(cost)
    for name in SERIES:
        yield _line(world, name, outcomes[name])
    yield {
        "name": "cost beside its parent",
        "world": world.name,
        "one alert": both,
        "an alert besides": apart,
        "the cost alone": alone,
    }


def _analysed(points: Sequence[changes.Point]) -> changes.Analysis:
    return changes.present(changes.advance(changes.start(), points), "more").analysis


def _confirmed(analysis: changes.Analysis) -> list[changes.Change]:
    return [one for one in analysis.changes if one.state in ("confirmed", "recovered")]


def _overlap(one: changes.Change, other: changes.Change) -> bool:
    return max(one.after.position, other.after.position) < min(
        one.last.position, other.last.position
    )


def _line(world: World, name: str, outcome: Outcome) -> dict[str, object]:
    return {
        "name": f"option cost: {name}",
        "world": world.name,
        "n": outcome.machines,
        "other findings": outcome.wrong,
        "steps found": outcome.sized,
        "step intervals that hold": _share(outcome.covered, outcome.sized),
        "level intervals that hold": _share(outcome.levels_covered, outcome.levels),
    }


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 3) if whole else None


def main() -> None:
    """Play every world."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--machines", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    for world in WORLDS:
        for line in play(world, given.machines, given.seed):
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
