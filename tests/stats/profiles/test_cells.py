"""Several cells: the machine is the unit."""

import pytest

from tests.stats.profiles.sides import side
from tests.stats.profiles.test_difference import STACKS, changed, grown
from webapp.stats.profiles import difference
from webapp.stats.profiles.headline import Cell, combined


def cells(machines: int, modes: int = 1) -> list[Cell]:
    return [
        Cell(f"m{at}", f"mode{mode}", difference(side(STACKS), grown(changed(copy=2400 + 20 * at))))
        for at in range(machines)
        for mode in range(modes)
    ]


def test_what_all_machines_show_is_claimed_even_of_single_boots() -> None:
    one_boot = [
        Cell(
            f"m{at}", "", difference(side(STACKS, (0,)), grown(changed(copy=2400 + 20 * at), (0,)))
        )
        for at in range(6)
    ]
    found = combined(one_boot)
    assert {row.function: row.verdict for row in found.rows}["copy"] == "dearer"


def test_modes_of_a_machine_are_one_observation() -> None:
    assert combined(cells(3, modes=4)).rows == combined(cells(3)).rows


def test_of_few_machines_it_is_stated_what_they_allow() -> None:
    assert "Only 2 machines" in combined(cells(2)).text
    assert "prove nothing" in combined(cells(1, modes=3)).text
    assert combined(cells(1, modes=3)).claims == 0


def test_no_cells_are_refused() -> None:
    with pytest.raises(ValueError, match="no cells"):
        combined([])
