"""Which sides the runs of a directory are."""

import pytest

from webapp.analysis.queries import Side
from webapp.experiments.directories import Measured, NoSides, arrange, index_of
from webapp.results.models import ModeName


def measured(
    revision: str = "r1000",
    mode: str = "pf",
    variant: str = "",
    hardware: str = "a/b",
    tree: str = "head",
    configuration: str = "",
) -> Measured:
    position, parts = int(revision[1:]), ModeName.parse(mode)
    return Measured(tree, revision, position, variant, hardware, parts, "s", configuration)


def modes(*names: str) -> list[str]:
    """The sides that modes of one kernel are."""
    return [one.mode for one in arrange([measured(mode=name) for name in names])]


def test_two_commits_are_two_sides_the_earlier_first() -> None:
    found = arrange([measured("r1001"), measured("r1000")])
    assert [str(one) for one in found] == ["head:r1000::::s", "head:r1001::::s"]


def test_a_variant_stands_against_the_plain_kernel() -> None:
    found = arrange([measured(variant="D1"), measured(), measured(variant="a+b")])
    assert [one.kernel for one in found] == ["r1000", "r1000~D1", "r1000~a+b"]


def test_a_branch_stands_against_the_earlier_one() -> None:
    trees = ("head", "stable-11", "releng-11.0")
    found = arrange([measured(tree=tree) for tree in trees])
    assert [one.tree for one in found] == ["releng-11.0", "stable-11", "head"]


def test_an_option_stands_against_the_mode_without_it() -> None:
    assert modes("pf+VIMAGE", "pf") == ["", "+VIMAGE"]


def test_values_of_a_setting_are_in_order_behind_its_default() -> None:
    found = [
        measured(mode=f"forwarding+net.queue={value}", configuration=configuration)
        for value, configuration in ((16000, "16000"), (4000, "4000"), (8000, "8000-default"))
    ]
    values = [one.mode.partition("=")[2] for one in arrange(found)]
    assert values == ["8000", "4000", "16000"]
    assert modes("f+q=10", "f+q=9", "f+q=2") == ["+q=2", "+q=9", "+q=10"]


@pytest.mark.parametrize(
    ("names", "base"),
    [
        (("simple_tx_on", "simple_tx_off_default"), "simple_tx_off_default"),
        (("txabdicate_on", "txabdicate_off"), "txabdicate_off"),
        (("disabled", "enabled-default"), "enabled-default"),
        (("bridge", "no-bridge"), "no-bridge"),
        (("aes-gcm-128", "null"), "null"),
        (("pf", "ipfw", "fastforwarding"), "fastforwarding"),
        (("pf", "fastforwarding", "forwarding"), "forwarding"),
        (("tuned-lro", "tuned-base"), "tuned-base"),
    ],
)
def test_the_baseline_is_what_a_lab_would_take(names: tuple[str, ...], base: str) -> None:
    assert modes(*names)[0] == base
    assert modes(*reversed(names))[0] == base


def test_traffic_belongs_to_the_cell() -> None:
    workloads = ("forwarding", "ipf", "ipf-stateful", "ipfw", "ipfw-stateful", "pf", "pf-stateful")
    names = [f"{one}@{traffic}+x" for one in workloads for traffic in ("inet4", "inet6")]
    assert modes(*names) == [f"{one}@+x" for one in workloads]


def test_another_way_is_tried_where_one_fits_nothing() -> None:
    """Sets of options with no workload in common are workloads."""
    assert modes("pf+a", "ipfw+b") == ["ipfw+b", "pf+a"]


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        ([], "one side"),
        ([measured()], "one side"),
        ([measured(), measured(hardware="c/d")], "one side"),
        ([measured(mode="pf@inet4"), measured(mode="pf@inet6")], "one side"),
        (
            [measured("r1000", "pf"), measured("r1001", "ipfw")],
            "nothing was measured with all of them",
        ),
        ([measured(f"r{number}") for number in range(1000, 1008)], "8 kernels, .* at most 7"),
        ([measured(mode=f"w{number}") for number in range(8)], "8 workloads, .* at most 7"),
        ([measured(mode="pf"), measured(mode="ipfw", hardware="c/d")], "2 workloads, but nothing"),
    ],
)
def test_what_is_no_experiment_has_a_reason(found: list[Measured], reason: str) -> None:
    with pytest.raises(NoSides, match=reason):
        arrange(found)


SIDES = [
    Side("head", "r1", mode="simple_tx_off@"),
    Side("head", "r1", mode="simple_tx_on@"),
    Side("head", "r2", variant="D1"),
]


@pytest.mark.parametrize(
    ("name", "index"),
    [("off", 0), ("ON", 1), ("simple_tx_on", 1), ("D1", 2), ("r2", 2), ("r1", None), ("x", None)],
)
def test_a_side_is_found_by_what_it_is_called(name: str, index: int | None) -> None:
    assert index_of(SIDES, name) == index


def test_a_side_is_found_by_its_label() -> None:
    assert index_of(SIDES, "patched", ["", "", "patched"]) == 2
