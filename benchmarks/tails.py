"""`python -m benchmarks.tails`: how quantiles compare, boots as units, in five shapes of tails.

Five boots a side of one build, 20,000 values each; boots scatter by 1 % as a whole. Two equal sides
give the error of the first kind, and a side whose values above its 95th percentile are 20 % larger
the power. *Detects* is the change that the power computation promises from the same scatter.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.intervals import share, with_range
from webapp.stats.compare import Samples, Verdict, compare
from webapp.stats.histograms import DERIVED, PARTS, Histogram
from webapp.stats.power import NoiseLevels, Plan, provable_change

Values = NDArray[np.float64]
BOOTS, VALUES = 5, 20_000
BOOT_NOISE = 0.01
TAIL, FACTOR = 0.95, 1.2
DIFFER = {Verdict.BETTER, Verdict.WORSE}


def _bimodal(random: np.random.Generator, size: int) -> Values:
    """Nineteen in twenty from a cache, the others past it."""
    fast, slow = random.normal(100, 5, size), random.normal(1000, 50, size)
    return np.where(random.random(size) < 0.95, fast, slow)


def _hiccups(random: np.random.Generator, size: int) -> Values:
    """Bursts of stalls, two values in a thousand, in a calm stream."""
    found = 50 * random.lognormal(0, 0.3, size)
    for length in random.geometric(0.25, random.poisson(size / 2000)):
        at = random.integers(size)
        stalls = found[at : at + length]
        stalls[:] = random.uniform(1000, 3000, len(stalls))
    return found


SHAPES: Mapping[str, Callable[[np.random.Generator, int], Values]] = {
    "exponential": lambda random, size: random.exponential(100, size),
    "log-normal": lambda random, size: random.lognormal(4, 1, size),
    "Pareto": lambda random, size: 50 * (1 + random.pareto(2.5, size)),
    "bimodal": _bimodal,
    "hiccups": _hiccups,
}


class World(NamedTuple):
    """A quantile of each boot: of two equal sides, and of the second with a longer tail."""

    a: list[float]
    same: list[float]
    longer: list[float]


def histogram(values: Values) -> Histogram:
    """Of values above 0, as `Histogram.of` makes it of lists."""
    fractions, exponents = np.frexp(values)
    indices = exponents * PARTS + ((fractions - 0.5) * 2 * PARTS).astype(np.int64)
    found, counts = np.unique(indices, return_counts=True)
    return Histogram(tuple(found.tolist()), tuple(counts.tolist()), float(values.max()))


def boots(random: np.random.Generator, shape: str) -> list[Values]:
    """The values of each boot of a side."""
    return [
        SHAPES[shape](random, VALUES) * np.exp(random.normal(0, BOOT_NOISE)) for _ in range(BOOTS)
    ]


def rows(trials: int, seed: int, shapes: Iterable[str] = SHAPES) -> Iterator[dict[str, Any]]:
    """A row for each shape and quantile."""
    for shape in shapes:
        random = np.random.default_rng(seed)
        start = float(np.quantile(SHAPES[shape](random, 1_000_000), TAIL))
        worlds: dict[str, list[World]] = defaultdict(list)
        for _ in range(trials):
            a, same = boots(random, shape), boots(random, shape)
            longer = [np.where(one > start, one * FACTOR, one) for one in same]
            sides = [_quantiles(side) for side in (a, same, longer)]
            for name in DERIVED:
                worlds[name].append(World(*(side[name] for side in sides)))
        yield from (_row(shape, name, worlds[name]) for name in DERIVED)


def _quantiles(side: Sequence[Values]) -> dict[str, list[float]]:
    derived = [histogram(one).derived() for one in side]
    return {name: [one[name] for one in derived] for name in DERIVED}


def _differ(a: Sequence[float], b: Sequence[float]) -> bool:
    sides = (Samples(one, boots=[*range(BOOTS)]) for one in (a, b))
    return compare(*sides, better="less", margin=0).verdict in DIFFER


def _row(shape: str, name: str, worlds: Sequence[World]) -> dict[str, Any]:
    logs = np.log([one.a for one in worlds])
    scatter = 100 * float(np.sqrt(np.mean(np.var(logs, axis=1, ddof=1))))
    detects = provable_change(Plan(1, BOOTS, 1), NoiseLevels(0.0, boot=scatter)) or 0.0
    scaled = 1 + detects / 100
    return {
        "shape": shape,
        "quantile": name,
        "scatter of boots, %": f"{scatter:.2f}",
        "error of the first kind, %": _percent([_differ(one.a, one.same) for one in worlds]),
        "longer tail found, %": _percent([_differ(one.a, one.longer) for one in worlds]),
        "detects, %": f"{detects:.1f}",
        "of such changes found, %": _percent(
            [_differ(one.a, [value * scaled for value in one.same]) for one in worlds]
        ),
    }


def _percent(found: Sequence[bool]) -> str:
    value, low, high = share(sum(found), len(found))
    return with_range((100 * value, 100 * low, 100 * high), 1)


def main() -> None:
    """Print a JSON object a row."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tails")
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    for row in rows(given.trials, given.seed):
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
