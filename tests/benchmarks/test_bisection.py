"""`python -m benchmarks.bisection` as a shell sees it."""

import pytest

from benchmarks.bisection import cell_table
from benchmarks.bisection.__main__ import main
from tests.commands import run_text
from webapp.stats.simulate.bisect_cells import Cell, here


def run(*arguments):
    return run_text(main, *arguments)


def test_the_tables_have_a_row_for_each_cell_and_for_each_peer(monkeypatch):
    monkeypatch.setattr(cell_table, "KNOWN", {"tiny": Cell(4, -5.0, 0.2, 0.2)})

    printed = list(cell_table.lines(trials=2, seed=1, spread=here))
    rows = [line for line in printed if line.startswith("| tiny")]

    assert len(rows) == 1 + 1 + 3 + 2 + 2
    assert rows[0].startswith("| tiny | 100.0% | 0.0% |")
    assert rows[-2].endswith("| 3, 3 |")


def test_rows_of_forecasts_are_named_by_two_numbers():
    found = run("forecasts", "--rows", "3", "--trials", "2")

    assert found.returncode == 2
    assert "rows: first and last number, as 3:7" in found.stderr


@pytest.mark.parametrize(
    ("table", "row"),
    [("worlds", "| as modelled |"), ("machines", "| one machine |")],
)
def test_a_part_of_a_long_table_can_be_played(table, row):
    found = run(table, "--rows", "1:1", "--trials", "1", "--processes", "1")

    (last,) = found.stdout.splitlines()[4:]
    assert last.startswith(row)
