"""The text of ministat(1) with `-A`, that is without its plot, at 95 %."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import copysign, inf, nan, sqrt

from labagent.compare.student import tabulated_t

LEAST_POINTS = 3
HEADER = "    N           Min           Max        Median           Avg        Stddev"

Set = tuple[str, Sequence[float]]


def ministat(a: Set, b: Set) -> str:
    """What `ministat -A` prints for two named sets of three samples each at least."""
    lines = [f"x {a[0]}", f"+ {b[0]}", HEADER, _row("x", a[1]), _row("+", b[1])]
    return "\n".join([*lines, *_difference(a[1], b[1])]) + "\n"


def _row(symbol: str, values: Sequence[float]) -> str:
    ordered, mean = sorted(values), _mean(values)
    middle = len(ordered) // 2
    median = ordered[middle]
    if len(ordered) % 2 == 0:
        median = (ordered[middle] + ordered[middle - 1]) / 2
    numbers = (ordered[0], ordered[-1], median, mean, sqrt(_variance(values, mean)))
    return f"{symbol} {len(values):3d} " + " ".join(f"{f'{number:.8g}':>13}" for number in numbers)


def _difference(a: Sequence[float], b: Sequence[float]) -> Iterator[str]:
    (n1, mean1, var1), (n2, mean2, var2) = (_moments(values) for values in (a, b))
    df = n1 + n2 - 2
    t = tabulated_t(df)
    pooled = sqrt(((n1 - 1) * var1 + (n2 - 1) * var2) / df)
    error, delta = t * (pooled * sqrt(1 / n1 + 1 / n2)), mean2 - mean1
    if not abs(delta) > error:
        yield "No difference proven at 95.0% confidence"
        return
    if mean1 == 0:
        percent, spread = copysign(inf, delta), inf if var1 > 0 else nan
    else:
        scatter = (n2 - 1) * var2 + (n1 - 1) * var1 * (mean2 / mean1) * (mean2 / mean1)
        percent = delta * 100 / mean1
        spread = t * sqrt(scatter * (n1 + n2) / (n1 * n2 * df)) * 100 / mean1
    shown = "-nan" if spread != spread else f"{spread:.6g}"  # noqa: PLR0124 (NaN)
    yield "Difference at 95.0% confidence"
    yield f"\t{delta:.6g} +/- {error:.6g}"
    yield f"\t{percent:.6g}% +/- {shown}%"
    yield f"\t(Student's t, pooled s = {pooled:.6g})"


def _moments(values: Sequence[float]) -> tuple[int, float, float]:
    mean = _mean(values)
    return len(values), mean, _variance(values, mean)


def _variance(values: Sequence[float], mean: float) -> float:
    """Two passes, the second over the sorted values."""
    total = 0.0
    for value in sorted(values):
        total += (value - mean) * (value - mean)
    return total / (len(values) - 1)


def _mean(values: Sequence[float]) -> float:
    """Summed from left to right, as the original does."""
    total = 0.0
    for value in values:
        total += value
    return total / len(values)
