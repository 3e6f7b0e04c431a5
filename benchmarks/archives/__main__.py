"""How much of the faults of generated archives is found, and how much that is sound is doubted.

    python -m benchmarks.archives [--archives 100] [--directories 30] [--seed N] [--list]

One JSON object a line: of each kind of fault the share found, of sound runs the shares that wait or
are doubted, each with Wilson's 95 % interval in percent and its goal. A fault of a directory counts
once, and is found where each of its runs is treated as it has to be. --list prints what was missed.
"""

import argparse
import json
import secrets
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from random import Random

from benchmarks.archives import directories, files, judge
from benchmarks.archives.judge import Tally, judge_seed
from benchmarks.archives.planning import DIRECTORIES
from webapp.stats.proportion import proportion

ARCHIVES, PROCESSES = 100, 2
FOUND_GOAL = 95.0
"""Percent of each kind of fault, at least."""

SOUND_GOALS = {
    judge.SOUND_READ: (">=", 99.9),
    judge.SOUND_WAITING: ("<=", 0.1),
    judge.SOUND_WARNED: ("<=", 0.1),
    judge.SOUND_FOUND: ("<=", 1.0),
    judge.WRONG: ("<=", 0.0),
    judge.WRONG_NAMES: ("<=", 0.0),
}
"""Percent of runs, or of iterations."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.archives")
    parser.add_argument("--archives", type=int, default=ARCHIVES)
    parser.add_argument("--directories", type=int, default=DIRECTORIES, help="of each archive")
    parser.add_argument("--seed", type=int, help="another one each time unless given")
    parser.add_argument("--list", action="store_true", help="what was missed, on standard error")
    options = parser.parse_args()
    seed = secrets.randbits(32) if options.seed is None else options.seed
    tally = measure(options.archives, seed, options.directories)
    for name in [*directories.KINDS, directories.ORIGINAL, *files.KINDS]:
        _print(tally, name, ">=", FOUND_GOAL, seed)
    for name, (sign, goal) in SOUND_GOALS.items():
        _print(tally, name, sign, goal, seed)
    if options.list:
        sys.stderr.writelines(f"{line}\n" for line in tally.missed)


def measure(archives: int, seed: int, count: int = DIRECTORIES) -> Tally:
    """The sum over as many archives of ``count`` directories, on two cores."""
    rng = Random(seed)
    seeds = [rng.getrandbits(63) for _ in range(archives)]
    tally = Tally()
    with ProcessPoolExecutor(PROCESSES) as pool:
        for one in pool.map(partial(judge_seed, directories=count), seeds):
            tally.add(one)
    return tally


def _print(tally: Tally, name: str, sign: str, goal: float, seed: int) -> None:
    found = proportion(tally.count[name], tally.total[name])
    if found is None:  # too few archives to have one of it
        print(json.dumps({"name": f"archives: {name}", "value": None, "n": 0, "seed": seed}))
        return
    value = 100 * found.share
    line = {
        "name": f"archives: {name}",
        "value": round(value, 3),
        "unit": "%",
        "n": found.total,
        "count": found.count,
        "low": round(100 * found.low, 3),
        "high": round(100 * found.high, 3),
        "goal": f"{sign} {goal:g}",
        "met": value >= goal if sign == ">=" else value <= goal,
        "seed": seed,
    }
    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
