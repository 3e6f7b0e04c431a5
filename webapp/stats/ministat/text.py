"""The text of ``ministat(1)``, as C's ``printf`` would print it."""

from collections.abc import Iterator, Sequence
from math import copysign, inf, isnan, nan

from webapp.stats.errors import OutOfRangeError
from webapp.stats.ministat.numbers import (
    FLAVOURS,
    Difference,
    Flavour,
    Summary,
    difference,
    summarize,
)
from webapp.stats.ministat.plot import MOST_SETS, SYMBOLS, draw
from webapp.stats.student import critical_value

DEFAULT_WIDTH = 74
HEADER = "    N           Min           Max        Median           Avg        Stddev"


def render(
    datasets: Sequence[tuple[str, Sequence[float]]],
    *,
    confidence: float = 95.0,
    width: int = DEFAULT_WIDTH,
    plot: bool = True,
    separate_bars: bool = False,
    brief: bool = False,
    quiet: bool = False,
    flavour: Flavour = "current",
) -> str:
    """What ``ministat`` prints for one to seven named sets, each compared with the first.

    ``brief`` leaves out plot and comparison (``-n``), ``quiet`` names and header (``-q``),
    ``plot=False`` is ``-A``, ``separate_bars`` is ``-s``. Raises `StatisticsError`.
    """
    if not 1 <= len(datasets) <= MOST_SETS:
        raise OutOfRangeError(f"{len(datasets)} sets: ministat takes 1 to {MOST_SETS}")
    critical_value(1, confidence)  # an unknown level is refused even where nothing is compared
    summaries = [summarize(values, flavour) for _, values in datasets]
    lines: list[str] = []
    if not quiet:
        lines += [
            f"{symbol} {name}" for symbol, (name, _) in zip(SYMBOLS[1:], datasets, strict=False)
        ]
    if plot and not brief:
        points = [values for _, values in datasets]
        lines += draw(points, summaries, width=width, separate_bars=separate_bars)
    if not quiet:
        lines.append(HEADER)
    lines += _table(summaries, confidence, flavour, brief=brief)
    return "\n".join(lines) + "\n"


def difference_lines(
    found: Difference, baseline: Summary, flavour: Flavour = "current"
) -> list[str]:
    """What ministat says of a difference from ``baseline``: four lines, or one."""
    level = f"{found.confidence:.1f}% confidence"
    if not found.proven:
        return [f"No difference proven at {level}"]
    percent, percent_error = _printed_percentages(found, baseline, flavour)
    return [
        f"Difference at {level}",
        f"\t{_general(found.delta)} +/- {_general(found.error)}",
        f"\t{_general(percent)}% +/- {_general(percent_error)}%",
        f"\t(Student's t, pooled s = {_general(found.pooled_stddev)})",
    ]


def _table(
    summaries: Sequence[Summary], confidence: float, flavour: Flavour, *, brief: bool
) -> Iterator[str]:
    baseline = summaries[0]
    yield _row(SYMBOLS[1], baseline)
    for symbol, summary in zip(SYMBOLS[2:], summaries[1:], strict=False):
        yield _row(symbol, summary)
        if not brief:
            found = difference(baseline, summary, confidence, flavour)
            yield from difference_lines(found, baseline, flavour)


def _row(symbol: str, summary: Summary) -> str:
    numbers = (summary.minimum, summary.maximum, summary.median, summary.mean, summary.stddev)
    columns = (f"{_general(number, 8):>13}" for number in numbers)
    return f"{symbol} {summary.n:3d} {' '.join(columns)}"


def _printed_percentages(
    found: Difference, baseline: Summary, flavour: Flavour
) -> tuple[float, float]:
    """C divides by a zero mean too, and gives the error the sign of the mean."""
    if found.percent is not None and found.percent_error is not None:
        return found.percent, copysign(found.percent_error, baseline.mean)
    absolute = FLAVOURS[flavour].absolute_relative_error
    scatter = found.error if absolute else baseline.variance
    return copysign(inf, found.delta), inf if scatter > 0 else nan


def _general(number: float, digits: int = 6) -> str:
    """C's ``%g``; the NaN that an invalid operation makes on amd64 prints with its sign."""
    return "-nan" if isnan(number) else f"{number:.{digits}g}"
