"""Tables of how well a bisect works, as Markdown.

python -m benchmarks.bisection worlds --trials 200      worlds that break the model
python -m benchmarks.bisection machines --trials 200    several machines or modes at once
python -m benchmarks.bisection forecasts --trials 20    forecasts against what the bisects took
python -m benchmarks.bisection cells --trials 1000      the specification's cells, and peers
"""

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from functools import partial

from benchmarks.bisection import cell_table, forecast_table, team_table, world_table
from webapp.stats.simulate.bisect_cells import spread_over

TABLES: dict[str, Callable[..., Iterator[str]]] = {
    "worlds": world_table.lines,
    "machines": team_table.lines,
    "forecasts": forecast_table.lines,
    "cells": cell_table.lines,
}


def main(arguments: list[str] | None = None) -> int:
    """Print a table, each line as soon as it is known."""
    options = _parser().parse_args(arguments)
    lines = partial(TABLES[options.table], trials=options.trials, seed=options.seed)
    if options.table != "cells":
        lines = partial(lines, rows=options.rows)
    if options.table == "forecasts":
        lines = partial(lines, after=max(options.after, 0))
    with spread_over(options.processes) as spread:
        for line in lines(spread=spread):
            sys.stdout.write(line + "\n")
            sys.stdout.flush()
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bisection", description=__doc__)
    option = parser.add_argument
    option("table", choices=TABLES)
    option("--rows", type=_rows, default=slice(None), metavar="FROM:TO", help="but for cells")
    option("--after", type=int, default=0, metavar="BOOTS", help="forecasts of bisects that run")
    option("--trials", type=int, default=200, help="how many bisects a row")
    option("--seed", type=int, default=1, help="the same seed gives the same answer")
    option("--processes", type=int, default=os.cpu_count() or 1, help="play in so many at once")
    return parser


def _rows(text: str) -> slice:
    """``3:7`` are the third to the seventh row, to play a long table in parts."""
    first, _, last = text.partition(":")
    if not (first.isdecimal() and last.isdecimal() and 1 <= int(first) <= int(last)):
        raise argparse.ArgumentTypeError("rows: first and last number, as 3:7")
    return slice(int(first) - 1, int(last))


if __name__ == "__main__":
    sys.exit(main())
