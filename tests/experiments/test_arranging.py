"""Which sides the runs of a directory are."""

import pytest

from webapp.experiments.arranging import Measured, arrange
from webapp.results.models import ModeName


def measured(
    revision: str = "r1000", mode: str = "pf", variant: str = "", hardware: str = "a/b"
) -> Measured:
    position = int(revision[1:])
    parts = ModeName.parse(mode)
    return Measured("tree", revision, position, variant, hardware, parts, "s")


def test_two_commits_are_two_sides_the_earlier_first() -> None:
    found = arrange([measured("r1001"), measured("r1000")])
    assert [str(one) for one in found] == ["tree:r1000::::s", "tree:r1001::::s"]


def test_a_variant_stands_against_the_plain_kernel() -> None:
    found = arrange([measured(variant="D1"), measured()])
    assert [one.kernel for one in found] == ["r1000", "r1000~D1"]


def test_an_option_stands_against_the_mode_without_it() -> None:
    found = arrange([measured(mode="pf+VIMAGE"), measured(mode="pf")])
    assert [one.mode for one in found] == ["", "+VIMAGE"]


def test_workloads_stand_against_the_shortest() -> None:
    found = arrange([measured(mode=name) for name in ("fastforwarding", "forwarding")])
    assert [one.mode for one in found] == ["forwarding", "fastforwarding"]


@pytest.mark.parametrize(
    "found",
    [
        [],
        [measured()],
        [measured(), measured(hardware="c/d")],
        [measured("r1000", "pf"), measured("r1001", "ipfw")],
        [measured(f"r{number}") for number in range(1000, 1008)],
        [measured(mode="pf"), measured(mode="ipfw", hardware="c/d")],
    ],
)
def test_one_side_eight_or_none_with_a_common_cell_are_no_experiment(
    found: list[Measured],
) -> None:
    assert arrange(found) == []


def test_two_trees_are_no_experiment() -> None:
    other = Measured("other", "r1000", 1000, "", "a/b", ModeName.parse("pf"), "s")
    assert arrange([measured(), other]) == []
