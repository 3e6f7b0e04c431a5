"""The text of ministat(1) with `-A`, that is without its plot, at 95 %, and Student's t behind it.

Without SciPy, which has no wheel for some machines.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from math import comb, copysign, exp, inf, isinf, lgamma, log, log1p, nan, sqrt

_TERMS = 100_000
_SMALLEST = 1e-300
_PRECISION = 1e-16
_BISECTIONS = 200

LARGEST_TABULATED_DF = 100
"""Degrees of freedom above which ministat(1) uses the normal distribution."""

_NORMAL_95 = 1.960


def beta_share(a: float, b: float, x: float) -> float:
    """The regularized incomplete beta function I_x(a, b); a, b > 0 and 0 ≤ x ≤ 1.

    The continued fraction 26.5.8 of Abramowitz and Stegun by Lentz's method, on the side of the
    mean where it converges at once.
    """
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1) / (a + b + 2):
        return 1 - beta_share(b, a, 1 - x)
    front = a * log(x) + b * log1p(-x) + lgamma(a + b) - lgamma(a) - lgamma(b)
    return exp(front) / a / _fraction(a, b, x)


def _fraction(a: float, b: float, x: float) -> float:
    """The denominator 1 + d1/(1 + d2/(1 + …))."""
    value, numerator, denominator = 1.0, 1.0, 0.0
    for term in range(1, _TERMS):
        m = term // 2
        if term % 2:
            d = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            d = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        denominator = 1 / _nonzero(1 + d * denominator)
        numerator = _nonzero(1 + d / numerator)
        value *= numerator * denominator
        if abs(numerator * denominator - 1) < _PRECISION:
            break
    return value


def _nonzero(value: float) -> float:
    return value if abs(value) > _SMALLEST else _SMALLEST


def beta_quantile(a: float, b: float, share: float) -> float:
    """The x with I_x(a, b) = ``share``."""
    return _solve(lambda x: beta_share(a, b, x) < share, 0.0, 1.0)


def two_sided_p(t: float, df: float) -> float:
    """The chance that Student's t for ``df`` lies at least ``t`` ≥ 0 from zero (26.7.1)."""
    if isinf(t):
        return 0.0
    if t * t < 1:  # 1 - x has lost its digits there
        return 1 - beta_share(0.5, df / 2, t * t / (df + t * t))
    return beta_share(df / 2, 0.5, df / (df + t * t))


@cache
def critical_t(df: float, confidence: float = 95.0) -> float:
    """The two-sided critical value of Student's t; ``df`` ≥ 1 need not be whole."""
    tail = 1 - confidence / 100
    return _solve(lambda t: two_sided_p(t, df) > tail, 0.0, 1e6)


def tabulated_t(df: int) -> float:
    """The critical value at 95 % in the table of ministat(1): three decimals, normal above 100."""
    return _NORMAL_95 if df > LARGEST_TABULATED_DF else round(critical_t(df), 3)


def smallest_p(n1: int, n2: int) -> float:
    """The smallest two-sided p that ranks of sets of these sizes can reach."""
    return min(1.0, 2 / comb(n1 + n2, n1))


def counts_p(total_a: float, n_a: int, total_b: float, n_b: int) -> float:
    """Two-sided p of equal Poisson rates (Przyborowski and Wilenski, 1940)."""
    share = n_b / (n_a + n_b)
    below = 1 - beta_share(total_b + 1, total_a, share) if total_a > 0 else 1.0
    above = beta_share(total_b, total_a + 1, share) if total_b > 0 else 1.0
    return min(1.0, 2 * min(below, above))


def counts_limits(total_a: float, n_a: int, total_b: float, n_b: int) -> tuple[float, float]:
    """Limits at 95 % of B's rate relative to A's, percent of A's (Clopper and Pearson, 1934)."""
    low = beta_quantile(total_b, total_a + 1, 0.025) if total_b > 0 else 0.0
    high = beta_quantile(total_b + 1, total_a, 0.975) if total_a > 0 else 1.0
    ratios = (share / (1 - share) if share < 1 else inf for share in (low, high))
    lowest, highest = (100 * (ratio * n_a / n_b - 1) for ratio in ratios)
    return lowest, highest


def _solve(is_below: Callable[[float], bool], low: float, high: float) -> float:
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if is_below(middle) else (low, middle)
    return (low + high) / 2


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
