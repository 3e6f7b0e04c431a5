"""Where the calibrated constants of webapp/stats/changes come from.

    python -m benchmarks.calibration shamos    # points.SHAMOS_FACTORS
    python -m benchmarks.calibration scan      # scale.SCANNED, and the rates of scale.CONFIRM
    python -m benchmarks.calibration odds      # scale.CONFIRMED_ODDS and scale.CANDIDATE_ODDS
    python -m benchmarks.calibration kinds     # other_findings.REAL

Prints the figures; they are copied into the modules by hand, so that a change of method shows in
a diff. Each takes a few minutes of one core; `--series N` makes it shorter, `--seed S` another.
"""

import argparse
from collections.abc import Iterator
from math import erfc, sqrt

import numpy as np
from numpy.typing import NDArray

from benchmarks import intervals
from benchmarks.calibration_kinds import KINDS, count_kinds
from benchmarks.cells import CLEAN, MIXED, Cell, random_steps, series_of
from benchmarks.online import advance
from webapp.stats.changes import Analysis, Change, scale
from webapp.stats.changes.online_analysis import present
from webapp.stats.changes.online_state import OnlineState
from webapp.stats.changes.points import Point
from webapp.stats.simulate import draw_levels, draw_samples

SCORES = (2.0, 2.5, 3.0, 3.5)


def main() -> None:
    """Print the constants asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("what", choices=("shamos", "scan", "odds", "kinds"))
    parser.add_argument("--series", type=int, default=400)
    parser.add_argument("--seed", type=int, default=20251120)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    measures = {"shamos": shamos, "scan": scan, "odds": odds, "kinds": kinds}
    measures[options.what](rng, options.series)


def shamos(rng: np.random.Generator, series: int) -> None:
    """Print 1 / E[(lower median of |xi - xj|)²] for n normal samples of variance 1."""
    for size in range(2, 32):
        first, second = np.triu_indices(size, 1)
        means = []
        for _ in range(max(1, series // 40)):
            draws = rng.standard_normal((100_000, size))
            spread = np.sort(np.abs(draws[:, second] - draws[:, first]), axis=1)
            means.append(float((spread[:, (len(first) - 1) // 2] ** 2).mean()))
        print(f"{size:3d} {1 / np.mean(means):.4f}")


def scan(rng: np.random.Generator, series: int) -> None:
    """Print how often the scan of one revision reaches a score without any change."""
    scores = np.array(
        [
            analysis.newest.scan_score
            for cell in CLEAN
            for analysis in _each_revision(rng, cell, series // 10)
            if analysis.newest is not None and analysis.count > 20
        ]
    )
    print(f"{scores.size} revisions of series without a change, clean cells")
    for score in SCORES:
        share = float((scores >= score).mean())
        print(f"score {score}: share {share:.5f}, SCANNED {share / erfc(score / sqrt(2)):.2f}")


def _each_revision(rng: np.random.Generator, cell: Cell, count: int) -> Iterator[Analysis]:
    levels = draw_levels(rng, count, 100, cell.scatter)
    for values in draw_samples(rng, levels, 5, cell.scatter):
        state = OnlineState()
        for i, row in enumerate(values.tolist()):
            state = advance(state, [Point(i, str(i), row)])
            yield present(state, "more")


def odds(rng: np.random.Generator, series: int) -> None:
    """Print the logistic fit of "is real" on the score, over series with changes of all sizes."""
    for state in ("confirmed", "candidate"):
        scores, real = scored_changes(rng, series, state)
        middle, slope = _fit(scores, real)
        print(f"{state}: {len(scores)} changes, {real.mean():.3f} real: {middle:.2f}, {slope:.2f}")


def kinds(rng: np.random.Generator, series: int) -> None:
    """Print how many findings of each kind that is no change of level are real."""
    reported, real = count_kinds(rng, series)
    for kind in KINDS:
        share, low, high = intervals.share(real[kind], reported[kind])
        print(f"{kind}: {reported[kind]} reported, {share:.3f} [{low:.3f}, {high:.3f}] real")


def scored_changes(
    rng: np.random.Generator, series: int, state: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return score and truth (0 or 1) of each reported change of one state, over all cells.

    A series is looked at after each revision for candidates, at its end for confirmed changes.
    """
    scores, real = [], []
    for cell in MIXED:
        for _ in range(series):
            levels, truth = random_steps(rng, cell, 200)
            points = series_of(draw_samples(rng, levels[None], 5, cell.scatter)[0])
            for analysis in _looks(points, state):
                found = [change for change in analysis.changes if change.state == state]
                scores += [change.score for change in found]
                real += [float(_is_real(change, truth)) for change in found]
    return np.array(scores), np.array(real)


def _is_real(change: Change, truth: list[int]) -> bool:
    return any(change.first.position - 1 <= at <= change.last.position + 1 for at in truth)


def _looks(points: list[Point], state: str) -> Iterator[Analysis]:
    if state == "confirmed":
        yield present(advance(OnlineState(), points), "more")
        return
    reading = OnlineState()
    for point in points:
        reading = advance(reading, [point])
        yield present(reading, "more")


def _fit(scores: NDArray[np.float64], real: NDArray[np.float64]) -> tuple[float, float]:
    """Return middle and slope of a logistic curve, by Newton's method on the likelihood."""
    design = np.column_stack((np.ones_like(scores), np.minimum(scores, 2 * scale.CONFIRM)))
    beta = np.zeros(2)
    for _ in range(50):
        p = 1 / (1 + np.exp(-design @ beta))
        hessian = design.T @ (design * (p * (1 - p))[:, None]) + 1e-9 * np.eye(2)
        beta += np.linalg.solve(hessian, design.T @ (real - p))
    return float(-beta[0] / beta[1]), float(beta[1])


if __name__ == "__main__":
    main()
