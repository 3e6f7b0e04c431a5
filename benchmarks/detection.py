"""Measures change detection: null, power, real, calibration, speed.

    python -m benchmarks.detection [--quick] [--only null,power,…] [--write]

Prints tables in Markdown; --write keeps them in benchmarks/results and draws docs/figures.md anew.
The whole takes about half an hour of one core; --quick a quarter of a minute, for the tests.
Otava takes part when benchmarks/oracles.txt is installed in .venv-oracles.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from benchmarks import (
    calibration,
    detection_null,
    detection_power,
    detection_real,
    detection_speed,
    intervals,
    peers,
    recorded,
)
from benchmarks.cells import Cell
from webapp.stats.changes import scale

SEED = 20251121
BINS = (0.0, 0.5, 0.7, 0.85, 0.95, 0.99, 1.0)


@dataclass(frozen=True, slots=True)
class Size:
    """How much is simulated."""

    null_series: int
    trials: int
    quiet_series: int
    calibration_series: int
    repeats: int


WHOLE = Size(2000, 100, 30, 250, 100)
QUICK = Size(4, 4, 2, 4, 5)


def tables(size: Size, seed: int, otava: peers.Otava | None) -> dict[str, Callable[[], str]]:
    """Return the tables by name, each as a function that measures it."""
    others = peers.all_peers(otava)
    kinds: tuple[Cell, ...] = detection_power.CELLS
    if size.trials < detection_power.MANY:
        others, kinds = others[:3], kinds[:1]
    return {
        "null": lambda: detection_null.report(size.null_series, seed),
        "power": lambda: detection_power.report(others, size.trials, size.quiet_series, seed),
        "real": lambda: detection_real.report(others),
        "calibration": lambda: reliability(size.calibration_series, seed),
        "speed": lambda: detection_speed.report(otava, size.repeats),
    }


def reliability(series: int, seed: int) -> str:
    """Return the table of stated probability against truth, on series not used to set it."""
    rng = np.random.default_rng(seed)
    rows = []
    for state, count in (("confirmed", series), ("candidate", max(series // 4, 1))):
        scores, real = calibration.scored_changes(rng, count, state)
        revisions = 1 if state == "candidate" else 2
        stated = np.array([scale.probability(score, revisions) for score in scores])
        for low, high in pairwise(BINS):
            inside = (stated >= low) & (stated < high)
            total = int(inside.sum())
            if total:
                hits = int(real[inside].sum())
                truth = intervals.with_range(intervals.share(hits, total))
                row = (state, f"{low:g} to {high:g}", f"{stated[inside].mean():.2f}", truth)
                rows.append((*row, str(total)))
    return (
        "Series of 200 revisions with steps at random (one in sixty revisions, half to ten "
        "standard deviations) in a mixture of cells. A change is real when a planted step lies "
        "in its interval, or one revision beside it.\n\n"
        + intervals.table(("state", "stated", "mean stated", "really", "changes"), rows)
    )


def main() -> None:
    """Measure what was asked for, print it, and write it down if asked to."""
    parser = argparse.ArgumentParser(description="Measure change detection.")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="null,power,real,calibration,speed")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--trials", type=int, help="series a row of the power table")
    options = parser.parse_args()
    otava = peers.Otava() if peers.ORACLES.exists() and not options.quick else None
    size = QUICK if options.quick else WHOLE
    if options.trials:
        size = replace(size, trials=options.trials, quiet_series=max(options.trials // 3, 1))
    makers = tables(size, options.seed, otava)
    for name in options.only.split(","):
        text = makers[name]()
        flags = " --quick" if options.quick else ""
        if options.trials:
            flags += f" --trials {options.trials}"
        command = f"python -m benchmarks.detection{flags} --only {name} --seed {options.seed}"
        print(f"## {name}\n\n{text}\n\n`{command}`\n", flush=True)
        if options.write:
            recorded.record(f"detection-{name}", text, command=command)
            recorded.write()
    if otava is not None:
        otava.close()


if __name__ == "__main__":
    main()
