"""How often modes of a machine agree that one revision was odd: of nothing, and of a real one.

    python -m benchmarks.machine_excursions [--trials 150] [--seed 16]

One JSON object a world: 120 revisions, five runs each, runs and builds scatter by 1 %; `shared` of
the variance of builds is common to all modes, as it is within one boot.
"""

import argparse
import json
from collections import Counter

import numpy as np
from numpy.typing import NDArray

from webapp.stats.changes import Point, advance, present, start
from webapp.stats.several_series import faint_excursions, modes_agree

Floats = NDArray[np.float64]
REVISIONS, ODD = 120, 60
WORLDS = [
    *((modes, shared, tails, 0.0) for modes in (3, 9) for shared in (0.0, 0.25, 0.75)
      for tails in (False, True)),
    *((3, 0.25, False, pct) for pct in (-7.0, -9.0, -12.0)),
]  # fmt: skip
"""Modes, shared part, heavy tails (Student's t with 3 degrees of freedom), and how far off in
percent the modes are at one revision."""


def main() -> None:
    """Print the figures of all worlds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=150)
    parser.add_argument("--seed", type=int, default=16)
    given = parser.parse_args()
    for modes, shared, tails, pct in WORLDS:
        rng = np.random.default_rng(given.seed)
        false = found = 0
        trials = given.trials if modes == 3 else given.trials // 3
        for _ in range(trials):
            odd = _odd(rng, modes, shared, tails=tails, pct=pct)
            found += pct != 0 and ODD in odd
            false += len(odd - {ODD}) if pct else len(odd)
        name = {"modes": modes, "shared": shared, "tails": "t3" if tails else "normal", "pct": pct}
        figures = {"false_per_1000": 1000 * false / trials / REVISIONS, "found": found / trials}
        print(
            json.dumps({"name": "machine_excursions", **name, "n": trials, **figures}), flush=True
        )


def _odd(
    rng: np.random.Generator, modes: int, shared: float, *, tails: bool, pct: float
) -> set[int]:
    """The revisions of one machine at which its modes agree, in the losing direction."""
    common, own = _draw(rng, (REVISIONS,), tails), _draw(rng, (modes, REVISIONS), tails)
    builds = 0.01 * (np.sqrt(shared) * common + np.sqrt(1 - shared) * own)
    builds[:, ODD] += np.log1p(pct / 100)
    off: Counter[int] = Counter()
    for of_mode in builds:
        runs = 1e6 * np.exp(of_mode[:, None] + 0.01 * _draw(rng, (REVISIONS, 5), tails))
        state = advance(start(), [Point(i, f"r{i}", row.tolist()) for i, row in enumerate(runs)])
        found = present(state, "more").others
        every = (*found.excursions, *faint_excursions(state.window.rows.values(), found))
        off.update(one.first.position for one in every if one.pct < 0)
    return {at for at, count in off.items() if modes_agree(count, modes)}


def _draw(rng: np.random.Generator, shape: tuple[int, ...], tails: bool) -> Floats:
    """Unit variance."""
    return rng.standard_t(3, shape) / np.sqrt(3) if tails else rng.standard_normal(shape)


if __name__ == "__main__":
    main()
