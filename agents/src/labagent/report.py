"""What the agent prints: a line for each run, and one line for each reason to skip."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Sequence

from labagent.model import Run, Samples, Skip

_NAMED = 3


def one_line(text: str) -> str:
    """`text` on one line of a terminal: what would move the cursor, or is no character, escaped."""
    return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in text)


def run_lines(runs: Sequence[Run]) -> Iterator[str]:
    """The runs as aligned lines: hardware, tree, revision, mode, metrics."""
    if not runs:
        return
    rows = [(run.hardware, run.tree, run.revision, str(run.mode)) for run in runs]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for run, row in zip(runs, rows, strict=True):
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        yield one_line("  ".join([*cells, ", ".join(map(_metric, run.samples))]))


def _metric(samples: Samples) -> str:
    if samples.histograms:
        counted = sum(sum(one.counts) for one in samples.histograms)
        return f"{samples.metric.name} histogram of {counted} values"
    median = statistics.median(samples.values)
    return f"{samples.metric.name} {median:.8g} {samples.metric.unit} (n={len(samples.values)})"


def reason_lines(what: str, skips: Iterable[Skip], *, every: bool = False) -> Iterator[str]:
    """One line for each reason for which runs were `what` (skipped, rejected): how many, and the
    first three; with `every`, all of them, a line each."""
    for reason, names in _by_reason(skips).items():
        if every:
            yield one_line(f"{what} {len(names)}: {reason}")
            yield from (one_line(f"  {name}") for name in names)
            continue
        more = f", … {len(names) - _NAMED} more: -v" if len(names) > _NAMED else ""
        yield one_line(f"{what} {len(names)}: {reason} ({', '.join(names[:_NAMED])}{more})")


def skip_reasons(skips: Iterable[Skip]) -> str:
    """The reasons in one line: `2 no usable sample; 4 profiled, so not a measurement`."""
    reasons = (f"{len(names)} {reason}" for reason, names in _by_reason(skips).items())
    return one_line("; ".join(reasons))


def _by_reason(skips: Iterable[Skip]) -> dict[str, list[str]]:
    reasons: dict[str, list[str]] = {}
    for skip in skips:
        reasons.setdefault(skip.reason, []).append(skip.where)
    return reasons


def warning_lines(runs: Iterable[Run]) -> Iterator[str]:
    """One line for each warning of a label, with the number of its runs."""
    counted: dict[tuple[str, str], int] = {}
    for run in runs:
        for warning in run.warnings:
            key = (f"{run.hardware} {run.facts.get('label', '')}", warning)
            counted[key] = counted.get(key, 0) + 1
    for (where, warning), count in counted.items():
        yield one_line(f"warning: {where}: {warning}" + f" ({count} runs)" * (count > 1))
