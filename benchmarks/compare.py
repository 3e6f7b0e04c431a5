"""Speed of comparisons: ``python -m benchmarks.compare`` prints one JSON object a line."""

import json
import time
from collections.abc import Callable
from statistics import median

import numpy as np

from webapp.stats.compare.comparing import compare
from webapp.stats.compare.levels import Level, Samples, Side, Summary
from webapp.stats.compare.levels import summarize as summarize_levels
from webapp.stats.compare.many import compare_many
from webapp.stats.compare.summaries import Summaries
from webapp.stats.ministat import difference, difference_from_moments, render, summarize

PAIRS = 100_000
REPEATS = 21
SEED = 20160801

BEFORE = [635734.0, 625167.0, 629014.0, 636936.5, 641688.0]
AFTER = [1207046.0, 1150867.0, 1139815.5, 1138692.0, 1146448.0]


def main() -> None:
    random = np.random.default_rng(SEED)
    a, b = _summaries(random), _summaries(random)
    compare_many(a, b)  # the tables of critical values are made once a process
    _report("compare_many", lambda: compare_many(a, b), unit="ms", factor=1e3, n=PAIRS)
    before, after = summarize(BEFORE), summarize(AFTER)
    moments = (5, before.mean, before.variance, 5, after.mean, after.variance)
    single: dict[str, Callable[[], object]] = {
        "ministat.summarize": lambda: summarize(BEFORE),
        "ministat.difference": lambda: difference(before, after),
        "ministat.difference_from_moments": lambda: difference_from_moments(*moments),
        "ministat.render": lambda: render([("a", BEFORE), ("b", AFTER)]),
        "compare": lambda: compare(BEFORE, AFTER),
        "summarize": lambda: summarize_levels(Samples(BEFORE, boots=range(5))),
    }
    for name, call in single.items():
        _report(name, _repeated(call, 1000), unit="us", factor=1e6 / 1000, n=5)


def _summaries(random: np.random.Generator) -> Summaries:
    """Points of 3 to 10 runs, about the size of real ones, with a scatter of 0.5 to 5 %."""
    level = np.log(random.uniform(1e5, 1e7, PAIRS)).tolist()
    deviation = random.uniform(0.005, 0.05, PAIRS).tolist()
    counts = random.integers(3, 11, PAIRS).tolist()
    return Summaries([_summary(*one) for one in zip(level, deviation, counts, strict=True)])


def _summary(level: float, deviation: float, n: int) -> Summary:
    side = {Level.RUN: Side(level, deviation, 1 / n, n - 1, n, between=False)}
    return Summary(n=n, builds=1, boots=None, exponent=0, linear=side, log=side)


def _repeated(call: Callable[[], object], times: int) -> Callable[[], None]:
    def run() -> None:
        for _ in range(times):
            call()

    return run


def _report(name: str, call: Callable[[], object], *, unit: str, factor: float, n: int) -> None:
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        call()
        times.append((time.perf_counter() - start) * factor)
    line = {"name": name, "value": round(median(times), 3), "unit": unit, "n": n}
    print(json.dumps({**line, "best": round(min(times), 3), "repeats": REPEATS, "seed": SEED}))


if __name__ == "__main__":
    main()
