"""Measures every world: goals, and whether they are met.

    python -m benchmarks.worlds [--short] [--only young,…] [--trials N] [--seed S] [--write]

Prints tables in Markdown; --write keeps them in benchmarks/results and draws docs/figures.md anew.
A goal is met when the 95 % interval of what was measured reaches it. --short takes less than a
minute.
"""

import argparse
import sys

from benchmarks import recorded
from benchmarks.worlds.figures import Measure, table
from benchmarks.worlds.table import WORLDS

SEED = 20251122
TRIALS = 1000
SHORT = 10


def main() -> None:
    """Measure what was asked for, print it, and write it down if asked to."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.worlds")
    parser.add_argument("--short", action="store_true", help=f"{SHORT} trials a figure")
    parser.add_argument("--only", default=",".join(WORLDS), help="names of worlds")
    parser.add_argument("--trials", type=int, help=f"trials a figure ({TRIALS})")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--write", action="store_true", help="keep them, for docs/figures.md")
    options = parser.parse_args()
    names = options.only.split(",")
    unknown = [name for name in names if name not in WORLDS]
    if unknown:
        parser.error(f"no world {', '.join(unknown)}: there are {', '.join(WORLDS)}")
    trials = options.trials or (SHORT if options.short else TRIALS)
    for name in names:
        text = report(WORLDS[name], trials, options.seed)
        command = f"python -m benchmarks.worlds --only {name} --trials {trials}"
        command += f" --seed {options.seed}"
        print(f"## {name}\n\n{_about(WORLDS[name])}\n\n{text}\n\n`{command}`\n", flush=True)
        if options.write:
            recorded.record(f"worlds-{name}", text, command=command)
            recorded.write()


def report(measure: Measure, trials: int, seed: int) -> str:
    """Return the table of one world, a second seed beside."""
    return table(measure(trials, seed), measure(trials, seed + 1))


def _about(measure: Measure) -> str:
    """The first sentence of the module in which a world is measured."""
    return (sys.modules[measure.__module__].__doc__ or "").split("\n\n", maxsplit=1)[0]


if __name__ == "__main__":
    main()
