"""How much of the faults of generated archives is found, and how much that is sound is doubted.

    python -m benchmarks.archives [--archives 100] [--directories 30] [--seed N] [--table] [--list]
    python -m benchmarks.archives --sample DIR

One JSON object a line, or a table in Markdown: of each kind of fault the share found, of sound runs
the shares that wait or are doubted, each with Wilson's 95 % interval in percent and its goal. A
fault of a directory counts once, and is found where each of its runs is treated as it has to be.
--list prints what was missed.

--sample reads a real archive instead, whose truth nobody knows, and prints a table of all that
agent and server report of it: what is rejected, skipped, warned of, filed elsewhere or waiting.
"""

import argparse
import json
import secrets
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from benchmarks import intervals
from benchmarks.archives import directories, files, judge
from benchmarks.archives.judge import Tally, judge_seed
from benchmarks.archives.outcomes import outcomes_of
from benchmarks.archives.planning import DIRECTORIES
from webapp.stats.intervals import proportion

ARCHIVES, PROCESSES = 100, 2
FOUND_GOAL = 95.0
"""Percent of each kind of fault, at least."""

HEADER = ("fault, or figure", "found", "% with its interval", "goal", "reached")

SOUND_GOALS = {
    judge.SOUND_READ: (">=", 99.9),
    judge.SOUND_VARIANT: (">=", 99.9),
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
    parser.add_argument("--table", action="store_true", help="in Markdown")
    parser.add_argument("--list", action="store_true", help="what was missed, on standard error")
    parser.add_argument(
        "--sample", metavar="DIR", type=Path, help="what is reported of a real archive"
    )
    options = parser.parse_args()
    if options.sample:
        print(sample_table(options.sample))
        return
    seed = secrets.randbits(32) if options.seed is None else options.seed
    tally = measure(options.archives, seed, options.directories)
    goals = dict.fromkeys([*directories.KINDS, directories.ORIGINAL], (">=", FOUND_GOAL))
    goals |= dict.fromkeys(files.KINDS, (">=", FOUND_GOAL)) | SOUND_GOALS
    figures = [figure(tally, name, *goal, seed) for name, goal in goals.items()]
    if options.table:
        print(intervals.table(HEADER, [_row(one) for one in figures]))
    else:
        print("\n".join(json.dumps(one) for one in figures))
    if options.list:
        sys.stderr.writelines(f"{line}\n" for line in tally.missed)


def sample_table(root: Path) -> str:
    """What is reported of the archive at ``root``; SystemExit where there are no results."""
    outcomes = outcomes_of(root)
    if not outcomes.directories:
        raise SystemExit(f"no benchmark results below {root}: name an archive or a directory of it")
    return outcomes.to_markdown()


def measure(archives: int, seed: int, count: int = DIRECTORIES) -> Tally:
    """The sum over as many archives of ``count`` directories, on two cores."""
    rng = Random(seed)
    seeds = [rng.getrandbits(63) for _ in range(archives)]
    tally = Tally()
    with ProcessPoolExecutor(PROCESSES) as pool:
        for one in pool.map(partial(judge_seed, directories=count), seeds):
            tally.add(one)
    return tally


def figure(tally: Tally, name: str, sign: str, goal: float, seed: int) -> dict[str, Any]:
    """One line of the output; its value is None where there were none of the kind."""
    line = {"name": f"archives: {name}", "seed": seed, "n": tally.total[name], "value": None}
    found = proportion(tally.count[name], tally.total[name])
    if found is None:
        return line
    value = 100 * found.share
    return line | {
        "value": round(value, 3),
        "unit": "%",
        "count": found.count,
        "low": round(100 * found.low, 3),
        "high": round(100 * found.high, 3),
        "goal": f"{sign} {goal:g}",
        "met": value >= goal if sign == ">=" else value <= goal,
    }


def _row(line: Mapping[str, Any]) -> Sequence[str]:
    name = line["name"].partition(": ")[2]
    if line["value"] is None:
        return name, "0 of 0", "", "", ""
    share = intervals.with_range((line["value"], line["low"], line["high"]))
    is_met = "yes" if line["met"] else "**no**"
    return name, f"{line['count']} of {line['n']}", share, line["goal"], is_met


if __name__ == "__main__":
    main()
