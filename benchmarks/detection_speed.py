"""Speed: CPU time of a whole series and of one more revision, beside the peers.

Measured is all that is reported of a series, and the online update alone, which is a part of it.
`python -m benchmarks.detection_speed` prints JSON lines; CPU time of the process is taken, so that
a busy machine disturbs less.
"""

import json
from collections.abc import Callable, Iterator
from functools import partial
from statistics import mean, median
from time import process_time

import numpy as np

from benchmarks import intervals, online, peers
from benchmarks.cells import CLEAN, Floats, series_of
from webapp.stats.changes import (
    Point,
    Report,
    State,
    advance,
    detect,
    present,
    start,
)
from webapp.stats.simulate import draw_levels, draw_samples

LENGTHS = (60, 500, 5000)
GOAL_WHOLE_MS = {60: 3.0, 500: 10.0, 5000: 100.0}
GOAL_ONE_MS = dict.fromkeys(LENGTHS, 3.0)
STORED = "one new revision, state read and stored"
IN_A_ROW = 160
MEAN, USUAL, WORST = (f"{what} of {IN_A_ROW} such in a row" for what in ("mean", "median", "most"))
"""As many as pass between two steps: with what a step makes of the revisions after it."""

GOALS = {"whole series": GOAL_WHOLE_MS, STORED: GOAL_ONE_MS, MEAN: GOAL_ONE_MS}
STEP_EVERY = 150
"""Revisions between the changes of the measured series."""

EDIVISIVE_MOST = 500
"""The slow reference is not run on longer series."""


def values_of(length: int, seed: int = 1) -> Floats:
    """Return one series with a step now and then."""
    cell = CLEAN[2]
    rng = np.random.default_rng(seed)
    levels = draw_levels(rng, 1, length, cell.scatter)[0]
    for i, at in enumerate(range(STEP_EVERY // 3, length, STEP_EVERY)):
        levels[at:] += 0.05 * (-1) ** i
    return draw_samples(rng, levels, 5, cell.scatter)


def milliseconds(work: Callable[[], object], repeats: int) -> float:
    """Return the median CPU milliseconds of `work`."""
    times = []
    for _ in range(repeats):
        begin = process_time()
        work()
        times.append(process_time() - begin)
    return 1000 * median(times)


def measure(otava: peers.Otava | None, repeats: int) -> Iterator[tuple[str, int, float]]:
    """Yield name, length and milliseconds."""
    for length in LENGTHS:
        values = values_of(length + IN_A_ROW)
        points = series_of(values)
        count = max(3, repeats * 60 // length)
        before = advance(start(), points[:length])
        yield "whole series", length, milliseconds(partial(detect, points[:length]), count)
        present(before, "more")
        update = partial(online.detect, points[:length])
        yield "whole series, the online update alone", length, milliseconds(update, count)
        one_more = partial(_one_more, before, points[length : length + 1])
        yield "one new revision", length, milliseconds(one_more, repeats)
        stored = json.dumps(before.to_data())
        one_stored = partial(_one_stored, stored, points[length : length + 1])
        yield STORED, length, milliseconds(one_stored, repeats)
        times = _in_a_row(stored, points[length:])
        yield MEAN, length, mean(times)
        yield USUAL, length, median(times)
        yield WORST, length, max(times)
        pelt = partial(peers.pelt(2.0), [values[:length]])
        yield "PELT (ruptures), whole", length, milliseconds(pelt, count)
        if length <= EDIVISIVE_MOST:
            slow = partial(peers.mongodb(), [values[:length]])
            yield "E-divisive, slow reference", length, milliseconds(slow, 1)
        if otava is not None:
            _, seconds = otava.ask([values[:length]] * max(3, count // 4), 1e-3)
            yield "Otava, whole", length, 1000 * median(seconds)


def _one_more(state: State, points: list[Point]) -> Report:
    return present(advance(state, points), "more")


def _one_stored(stored: str, points: list[Point]) -> tuple[Report, str]:
    """As the worker does where a state is due: of 16 revisions it stores the state of one."""
    state = advance(State.from_data(json.loads(stored)), points)
    return present(state, "more"), json.dumps(state.to_data())


def _in_a_row(stored: str, points: list[Point]) -> list[float]:
    """The least CPU milliseconds of three for each of `points`, the state stored after each."""
    times = []
    for point in points:
        one = partial(_one_stored, stored, [point])
        times.append(min(milliseconds(one, 1) for _ in range(3)))
        _, stored = one()
    return times


def report(otava: peers.Otava | None, repeats: int) -> str:
    """Return the table."""
    figures: dict[str, dict[int, float]] = {}
    for name, length, value in measure(otava, repeats):
        figures.setdefault(name, {})[length] = value
    rows = []
    for name, by_length in figures.items():
        goals = GOALS.get(name, {})
        cells = [
            f"{by_length[n]:.2f}{_mark(by_length[n], goals.get(n))}" if n in by_length else "-"
            for n in LENGTHS
        ]
        rows.append((name, *cells))
    return "CPU milliseconds, median; the goal in brackets.\n\n" + intervals.table(
        ("", *(f"n = {n}" for n in LENGTHS)), rows
    )


def _mark(value: float, goal: float | None) -> str:
    if goal is None:
        return ""
    return f" (≤ {goal:g})" if value <= goal else f" (≤ {goal:g}: **no**)"


def main() -> None:
    """Print one JSON object a line."""
    otava = peers.Otava() if peers.ORACLES.exists() else None
    for name, length, value in measure(otava, 100):
        figure = {"name": f"changes: {name}", "value": round(value, 3), "unit": "ms", "n": length}
        print(json.dumps(figure), flush=True)
    if otava is not None:
        otava.close()


if __name__ == "__main__":
    main()
