"""Samples from published figures.

Values of bench-lab are medians of whole numbers, so they lie on the grid of halves. Minimum,
maximum, median, mean and standard deviation are five equations: five samples follow from them,
and are found again here. Ten samples do not; of those that have the figures, the first that a
fixed search meets is taken, so their order along the axis (their plot) is not the published one.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from math import ceil, floor, log10, sqrt

from webapp.demo.published import Block, RowFigures
from webapp.stats import ministat

GRID = 0.5
PARTS = tuple(i / 8 for i in range(1, 8))
"""Where between an end and the middle four of ten samples may lie."""

STEPS = 512
"""Grid steps by which one sample is moved to meet the last digit of a deviation."""

MIDDLE_GAPS = (0.1, 0.3, 0.6)
"""How far apart, in standard deviations, the two middle samples of ten may lie."""

Samples = tuple[float, ...]


class FiguresError(ValueError):
    """No samples, or more than one set of five, have these figures."""


def solve_block(block: Block) -> tuple[Samples, ...]:
    """The samples of each row, ascending, such that every printed figure of the block agrees.

    Raises:
        FiguresError: there are none.
    """
    choices = [list(_solutions(row.figures)) for row in block.rows]
    for rows in product(*choices):
        if _differences_fit(block, rows):
            return rows
    raise FiguresError(f"no samples have the figures of block {block.number}")


def _differences_fit(block: Block, rows: Sequence[Samples]) -> bool:
    for figures, samples in zip(block.differences, rows[1:], strict=True):
        found = ministat.difference(rows[0], samples, flavour=block.flavour)
        if found.proven if figures is None else not figures.fit(found):
            return False
    return True


def _solutions(figures: RowFigures) -> Iterator[Samples]:
    """At most one set of samples for each total that the printed mean leaves open."""
    solve = {5: _solve_five, 10: _solve_ten}.get(figures.n)
    if solve is None:
        raise FiguresError(f"rows of {figures.n} samples are not known how to solve")
    for total in _grid_values(figures.mean, figures.n):
        samples = solve(figures, total)
        if samples is not None:
            yield samples


def _grid_values(printed: float, n: int) -> list[float]:
    """The totals on the grid whose n-th part prints as `printed` does, the nearest first."""
    middle = round(printed * n / GRID) * GRID
    near = [middle + i * GRID for i in range(-2 * n, 2 * n + 1)]
    same = [total for total in near if f"{total / n:.8g}" == f"{printed:.8g}"]
    return sorted(same, key=lambda total: (abs(total - printed * n), total))


def _solve_five(figures: RowFigures, total: float) -> Samples | None:
    known = (figures.minimum, figures.median, figures.maximum)
    found = list(_completed(figures, known, total))
    if len(found) > 1:
        raise FiguresError(f"{len(found)} sets of five samples have the figures {figures}")
    return found[0] if found else None


def _solve_ten(figures: RowFigures, total: float) -> Samples | None:
    for known in _eight_of_ten(figures):
        if _lower_of_pair(figures, known, total) is None:
            continue
        # The deviation of a pair moves in steps that are larger than what its last digit allows;
        # moving a third sample a little makes one of them meet it.
        for step in range(STEPS):
            moved = (known[0] + step * GRID, *known[1:])
            for samples in _completed(figures, moved, total):
                return samples
    return None


def _eight_of_ten(figures: RowFigures) -> Iterator[Samples]:
    """All but one of the lower and one of the upper half; the first may be moved."""
    for low, high in _middle_pairs(figures):
        for below, above in product(combinations(PARTS, 2), repeat=2):
            yield (
                *(_between(figures.minimum, low, part) for part in below),
                *(_between(high, figures.maximum, part) for part in above),
                *(figures.minimum, low, high, figures.maximum),
            )


def _middle_pairs(figures: RowFigures) -> Iterator[tuple[float, float]]:
    """Pairs on the grid whose mean prints as the median does."""
    for twice in _grid_values(figures.median, 2):
        for gap in MIDDLE_GAPS:
            low = _on_grid((twice - gap * figures.stddev) / 2)
            yield low, twice - low


def _completed(figures: RowFigures, known: Sequence[float], total: float) -> Iterator[Samples]:
    """`known` and each pair on the grid, ascending, such that every figure agrees."""
    bounds = _lower_of_pair(figures, known, total)
    if bounds is None:
        return
    rest = total - sum(known)
    first, last = (floor(bounds[0] / GRID), ceil(bounds[1] / GRID))
    for low in (step * GRID for step in range(first, last + 1)):
        samples = tuple(sorted((*known, low, rest - low)))
        if low <= rest - low and figures.fit(samples):
            yield samples


def _lower_of_pair(
    figures: RowFigures, known: Sequence[float], total: float
) -> tuple[float, float] | None:
    """Between what bounds the lower one of the pair lies that completes `known`.

    Around the mean the two have a known sum s and a known sum of squares q, so they lie
    sqrt(2 q - s²) apart; the deviation's last printed digit leaves q a little freedom. None where
    that is no number, or the pair would not lie on both sides of the median.
    """
    mean = total / figures.n
    rest = total - sum(known)
    others = sum((one - mean) ** 2 for one in known)
    most, least = (
        2
        * ((figures.n - 1) * (figures.stddev + sign * _half_a_digit(figures.stddev)) ** 2 - others)
        - (rest - 2 * mean) ** 2
        for sign in (1, -1)
    )
    if most < 0:
        return None
    bounds = ((rest - sqrt(most)) / 2, (rest - sqrt(max(least, 0.0))) / 2)
    low_fits = figures.minimum <= bounds[1] and bounds[0] <= figures.median
    high_fits = figures.median <= rest - bounds[0] and rest - bounds[1] <= figures.maximum
    return bounds if low_fits and high_fits else None


def _half_a_digit(printed: float) -> float:
    """How far a number that prints with 8 significant digits may lie from what is printed."""
    return 0.5 * 10.0 ** (floor(log10(printed)) - 7) if printed else 0.0


def _between(low: float, high: float, part: float) -> float:
    return _on_grid(low + part * (high - low))


def _on_grid(value: float) -> float:
    return round(value / GRID) * GRID
