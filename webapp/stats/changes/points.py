"""One revision's samples as one value: a robust location on the log scale and its scatter."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain, repeat
from math import exp, inf, isfinite
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from webapp.stats import StatisticsError

Floats = NDArray[np.float64]

MOST_SAMPLES, MOST_KEPT = 31, 12
"""More samples than these are first averaged in as many blocks of neighbouring order statistics:
pairs grow with the square, and a wild sample still touches the outermost block only. And how many
are kept to recognise two modes, evenly picked, in order."""

WILD = 6.0
"""Standard deviations from the median at which one sample of a revision is left out."""

SHAMOS_FACTORS = {
    2: 0.500, 3: 0.499, 4: 1.005, 5: 0.896, 6: 0.796, 7: 0.866, 8: 0.957, 9: 0.974, 10: 0.932
}  # fmt: skip
SHAMOS_FACTOR_FOR_MANY = 1.0989
"""Square of the factor that makes the lower median of |xi - xj| of n normal samples estimate
their variance without bias (`python -m benchmarks.calibration shamos`); for many samples it is
1.0483 squared (Shamos 1976; Rousseeuw and Croux 1993)."""

FINEST = 1e-5
"""The smallest relative standard deviation of one revision that is believed: equal values are
rounded values; without a floor any last digit would be a change."""

OFF_GRID = 1e-6
"""Last digits by which a logarithm of a sample that was rounded may miss them."""


class BadSeriesError(StatisticsError):
    """The points cannot be a series: the message names the point and what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Point:
    """One revision of a series with all its samples, in the metric's unit.

    `position` orders points along the tree, `label` names the revision. `boots` and `builds`
    say, sample by sample, what each was measured in; None where that is not known.
    """

    position: int
    label: str
    samples: Sequence[float]
    boots: Sequence[object] | None = None
    builds: Sequence[object] | None = None


class Value(NamedTuple):
    """A point reduced: `location` and `variance` on the log scale.

    `variance` is that of one sample inside one build, with `freedom` degrees of freedom (0 when
    it is not known); `share` is 1 / samples. `in_boot` is the variance inside one boot with
    `in_boot_freedom`, and `boots` the number of known boots (0 when they are not known).
    `logs` are at most `MOST_KEPT` of the samples, on the log scale.
    """

    position: int
    label: str
    location: float
    variance: float
    freedom: int
    share: float
    logs: tuple[float, ...]
    in_boot: float = 0.0
    in_boot_freedom: int = 0
    boots: int = 0


def reduce_points(points: Sequence[Point]) -> list[Value | None]:
    """Return one Value per point, None where fewer than half of its samples are positive.

    A sample of zero or less has no logarithm: it is a measurement that failed, and is set
    aside; the median of a point that mostly failed is such a sample. Raises BadSeriesError for a
    sample that is not a finite number, for a point without samples, and for boots or builds of
    another length than the samples.
    """
    values: list[Value | None] = [None] * len(points)
    groups: dict[int, list[int]] = {}
    usable = _all_usable(points)
    for i, (point, size) in enumerate(zip(points, map(len, usable), strict=True)):
        if size and point.builds is not None and len(set(point.builds)) > 1:
            values[i] = _reduce_builds(point)
        else:
            groups.setdefault(size, []).append(i)
    for size, members in groups.items():
        if size:
            rows = _as_rows([usable[i] for i in members], size)
            for i, value in zip(members, _reduce_rows(points, members, rows), strict=True):
                values[i] = value
    return [
        value if point.boots is None else _with_boots(value, point)
        for value, point in zip(values, points, strict=True)
    ]


def of_logs(value: Value, logs: Floats) -> Value:
    """Return `value` with other samples, given by their logarithms: (samples,), in any order."""
    rows = np.sort(logs)[None, :]
    locations, variances = _location_and_variance(rows)
    return value._replace(
        location=float(locations[0]), variance=float(variances[0]), logs=tuple(rows[0].tolist())
    )


def half_digit(logs: Sequence[float]) -> float:
    """Return half of the last digit with which samples were printed, relative to them; of natural
    logarithms of samples, in order.

    Samples of few digits are rounded values: how they scatter below that is not known. 0 where it
    is less than `FINEST`.
    """
    samples = [exp(log) for log in logs]
    middle, unit = samples[len(samples) // 2], 1.0
    while unit > 2 * FINEST * middle:
        if all(one >= unit / 2 and _off_grid(one / unit) < OFF_GRID for one in samples):
            return unit / 2 / middle
        unit /= 10
    return 0.0


def _off_grid(count: float) -> float:
    """By how much it misses a whole number; not a number where it is infinite."""
    return min(count % 1.0, 1.0 - count % 1.0)


def _all_usable(points: Sequence[Point]) -> list[Sequence[float]]:
    """The positive samples of each point, checked: all at once, and one by one where any is odd."""
    samples = [point.samples for point in points]
    together = np.fromiter(chain.from_iterable(samples), dtype=float)
    # Nothing is above what is not a number, nor is the least of samples with one of those.
    if not len(together) or not (together.min() > 0 and together.max() < inf):
        return [_usable(point) for point in points]
    if all(map(len, samples)) and all(map(_has_its_marks, points)):
        return samples
    return [_usable(point) for point in points]


def _has_its_marks(point: Point) -> bool:
    size = len(point.samples)
    is_whole = point.boots is None or len(point.boots) == size
    return is_whole and (point.builds is None or len(point.builds) == size)


def _usable(point: Point) -> Sequence[float]:
    """The positive samples of a point, checked; none where they are fewer than half."""
    samples = point.samples
    if len(samples) == 0:
        raise BadSeriesError(f"revision {point.label} has no samples")
    if not isfinite(sum(samples)) and not all(isfinite(sample) for sample in samples):
        raise BadSeriesError(f"revision {point.label} has a sample that is not a finite number")
    for name, marks in (("boots", point.boots), ("builds", point.builds)):
        if marks is not None and len(marks) != len(samples):
            raise BadSeriesError(
                f"revision {point.label} has {len(samples)} samples but {len(marks)} {name}"
            )
    if min(samples) > 0:
        return samples
    positive = [sample for sample in samples if sample > 0]
    return positive if 2 * len(positive) >= len(samples) else []


def _reduce_rows(points: Sequence[Point], members: list[int], rows: Floats) -> list[Value]:
    """Reduce points of one build each and equally many samples: rows is (points, samples)."""
    size = rows.shape[1]
    logs = np.sort(np.log(rows), axis=1)
    locations, variances = _location_and_variance(logs)
    columns = (
        [points[i].position for i in members],
        [points[i].label for i in members],
        locations.tolist(),
        variances.tolist(),
        repeat(size - 1),
        repeat(1.0 / size),
        map(tuple, _keep(logs).tolist()),
        repeat(0.0),
        repeat(0),
        repeat(0),
    )
    # `Value._make` is as much without the call in between, which took a third of the time.
    return list(map(partial(tuple.__new__, Value), zip(*columns, strict=False)))


def _as_rows(samples: Sequence[Sequence[float]], size: int) -> Floats:
    """Samples of points that have `size` each; an array of lists would be asked for its shape."""
    return np.fromiter(chain.from_iterable(samples), float, len(samples) * size).reshape(-1, size)


def _keep(logs: Floats) -> Floats:
    size = logs.shape[1]
    if size <= MOST_KEPT:
        return logs
    return logs[:, (np.arange(MOST_KEPT) * size + size // 2) // MOST_KEPT]


def _reduce_builds(point: Point) -> Value:
    """Reduce a point of several builds: the mean of its builds' locations."""
    by_build = _by_mark(point, point.builds)
    parts = [_location_and_variance(np.sort(np.log([row]), axis=1)) for row in by_build]
    sizes = [len(row) for row in by_build]
    freedom = sum(size - 1 for size in sizes)
    pooled = sum((n - 1) * float(v[0]) for n, (_, v) in zip(sizes, parts, strict=True))
    logs = np.sort(np.log([[sample for row in by_build for sample in row]]), axis=1)
    location = sum(float(location[0]) for location, _ in parts) / len(parts)
    variance = pooled / freedom if freedom else 0.0
    share = sum(1.0 / size for size in sizes) / len(sizes) ** 2
    kept = tuple(_keep(logs)[0].tolist())
    return Value(point.position, point.label, location, variance, freedom, share, kept)


def _with_boots(value: Value | None, point: Point) -> Value | None:
    """Add what the boots show: the scatter inside a boot, where one boot has several samples."""
    if value is None or point.boots is None or None in point.boots:
        return value
    boots = len(set(point.boots))
    if boots == len(point.boots):
        return value._replace(boots=boots) if boots > 1 else value
    marks = list(zip(point.boots, point.builds or [None] * len(point.samples), strict=True))
    rows = [row for row in _by_mark(point, marks) if len(row) > 1]
    freedom = sum(len(row) - 1 for row in rows)
    pooled = sum((len(row) - 1) * _variance_of(row) for row in rows)
    variance = pooled / freedom if freedom else 0.0
    return value._replace(boots=boots, in_boot=variance, in_boot_freedom=freedom)


def _by_mark(point: Point, marks: Sequence[object] | None) -> list[list[float]]:
    """The positive samples grouped by their marks."""
    groups: dict[object, list[float]] = {}
    for sample, mark in zip(point.samples, marks or (), strict=True):
        if sample > 0:
            groups.setdefault(mark, []).append(sample)
    return list(groups.values())


def _variance_of(samples: list[float]) -> float:
    return float(_location_and_variance(np.sort(np.log([samples]), axis=1))[1][0])


def _location_and_variance(logs: Floats) -> tuple[Floats, Floats]:
    """Return the robust location and the variance of each sorted row of a (points, samples) array.

    Location: Hodges and Lehmann (1963), the median of the means of all pairs (of three samples the
    middle one, which one wild sample cannot move). Variance: Shamos (1976), from the lower
    median of the absolute differences of all pairs.
    """
    if logs.shape[1] > MOST_SAMPLES:
        return _location_and_variance_of_many(logs)
    size = logs.shape[1]
    if size == 1:
        return logs[:, 0], np.zeros(len(logs))
    first, second = _pairs(size)
    differences = np.sort(logs[:, second] - logs[:, first], axis=1)
    # The lower median: of four samples one wild one spoils three differences of six.
    variances = differences[:, (len(first) - 1) // 2] ** 2
    variances *= SHAMOS_FACTORS.get(size, SHAMOS_FACTOR_FOR_MANY)
    if size == 3:
        return logs[:, 1], variances
    locations = medians_of(np.concatenate((logs, (logs[:, first] + logs[:, second]) / 2), axis=1))
    if size > 3:
        _leave_out_wild(logs, locations, variances)
    return locations, variances


def _leave_out_wild(logs: Floats, locations: Floats, variances: Floats) -> None:
    """Look again at rows with a wild sample, without it: it would pull the location to its side.

    Rows are sorted, so that a wild sample is the first or the last.
    """
    middle = _middles(logs)
    far = WILD * np.sqrt(variances) + 1e-9
    is_low, is_high = middle - logs[:, 0] > far, logs[:, -1] - middle > far
    for is_wild, rest in ((is_low & ~is_high, logs[:, 1:]), (is_high & ~is_low, logs[:, :-1])):
        if is_wild.any():
            locations[is_wild], _ = _location_and_variance(rest[is_wild])


def _location_and_variance_of_many(logs: Floats) -> tuple[Floats, Floats]:
    """The same for many samples, from block means (location) and quantiles (variance)."""
    size = logs.shape[1]
    edges = np.linspace(0, size, MOST_SAMPLES + 1).astype(np.intp)
    blocks = np.add.reduceat(logs, edges[:-1], axis=1) / np.diff(edges)
    picked = logs[:, (edges[:-1] + edges[1:]) // 2]
    _, variances = _location_and_variance(picked)
    locations, _ = _location_and_variance(blocks)
    return locations, variances


@cache
def _pairs(size: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    return np.triu_indices(size, 1)


def medians_of(rows: Floats) -> Floats:
    """Return the median of each row."""
    return _middles(np.sort(rows, axis=1))


def _middles(ordered: Floats) -> Floats:
    size = ordered.shape[1]
    return np.asarray((ordered[:, (size - 1) // 2] + ordered[:, size // 2]) / 2)
