"""Differences of profiles: what is claimed, what is not, and in which words."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import ttest_ind

from benchmarks.profile_worlds import Machine, World
from tests.stats.profiles.sides import Stacks, boot, side
from webapp.stats.profiles import Difference, Row, Side, difference, headline
from webapp.stats.profiles.calls import Function
from webapp.stats.profiles.sides import same_functions

STACKS = {
    "main;send": 5000,
    "main;read;copy": 2000,
    "main;read": 1000,
    "main;free": 800,
    "main;lock": 600,
    "main;log": 600,
}


def row_of(found: Difference, name: str) -> Row:
    return next(row for row in found.rows if row.function == name)


def changed(**samples: int) -> Stacks:
    """`STACKS` with other samples of leaves, by name."""
    return {stack: samples.get(stack.split(";")[-1], count) for stack, count in STACKS.items()}


def grown(stacks: Stacks, jitter: tuple[int, ...] = (0, 3, -2, 1, -1)) -> Side:
    """A side whose packet costs what its samples show: `STACKS` cost one at 1,000,000 a second."""
    return side(stacks, jitter, pps=1e6 * sum(STACKS.values()) / sum(stacks.values()))


def test_a_dearer_function_is_found_and_others_are_not() -> None:
    found = difference(side(STACKS), grown(changed(copy=3000)))
    assert [row.function for row in found.rows if row.is_claimed] == ["copy"]
    assert row_of(found, "copy").change == pytest.approx(10, abs=0.1)
    assert row_of(found, "read").inclusive.verdict == "dearer"
    assert row_of(found, "read").verdict == "equivalent"
    assert found.rows[0].function == "copy"


def test_sides_swapped_mirror_verdicts() -> None:
    a, b = side(STACKS), grown(changed(copy=3000))
    assert row_of(difference(b, a), "copy").verdict == "cheaper"


def test_where_all_rise_together_no_function_is_dearer() -> None:
    found = difference(side(STACKS), side(STACKS, pps=9e5))
    assert found.claims == 0
    assert found.total is not None
    assert found.total.change == pytest.approx(11.1, abs=0.1)


def test_the_cost_of_a_packet_is_compared_by_students_t_of_its_logarithms() -> None:
    a, b = side(STACKS, pps=1e6), side(STACKS, (2, -1, 3, 4), pps=0.9999e6)
    total = difference(a, b).total
    assert total is not None
    rates = [[1e6 * (1 + step / 1e4) for step in (0, 3, -2, 1, -1)]]
    rates += [[0.9999e6 * (1 + step / 1e4) for step in (2, -1, 3, 4)]]
    expected = ttest_ind(*(np.log(one) for one in rates)).pvalue
    assert 0.1 < expected < 0.9
    assert total.p_value == pytest.approx(expected, rel=0.01)


def test_without_rates_a_cheaper_function_makes_no_other_dearer() -> None:
    found = difference(side(STACKS, pps=None), side(changed(copy=1000), pps=None))
    assert not found.is_cost
    assert {row.function: row.verdict for row in found.rows if row.is_claimed} == {
        "copy": "cheaper"
    }


def test_one_boot_a_side_proves_nothing() -> None:
    found = difference(side(STACKS, (0,)), side(changed(copy=9000), (0,)))
    assert found.claims == 0
    assert not found.is_tested
    assert any("One boot a side" in text for text in found.warnings)
    assert row_of(found, "copy").low is not None


def test_a_function_with_another_name_is_renamed_and_not_claimed() -> None:
    other = {stack.replace("free", "release"): count for stack, count in STACKS.items()}
    found = difference(side(STACKS), side(other))
    assert row_of(found, "free").renamed_to == "release"
    assert row_of(found, "free").verdict == "equivalent"
    assert found.claims == 0
    assert found.vanished == ()


def test_a_renamed_function_can_be_dearer() -> None:
    other = {stack.replace("free", "release"): count for stack, count in changed(free=1300).items()}
    row = row_of(difference(side(STACKS), grown(other)), "free")
    assert (row.renamed_to, row.verdict) == ("release", "dearer")


def test_a_function_without_a_match_is_dearer() -> None:
    other = {**STACKS, "main;read;new": 300}
    found = difference(side(STACKS), grown(other))
    assert row_of(found, "new").verdict == "dearer"


def test_neighbours_that_trade_samples_are_tested_together() -> None:
    found = difference(side(STACKS), side(changed(lock=900, free=500)))
    assert found.claims == 0
    assert "may trade samples with" in row_of(found, "lock").why
    assert not row_of(found, "lock").inclusive.is_claimed


def test_a_gain_of_a_trading_pair_is_the_pairs() -> None:
    found = difference(side(STACKS), grown(changed(lock=1000, free=550)))
    assert row_of(found, "lock").verdict == "dearer"
    assert row_of(found, "free").verdict == "cannot tell"


def test_a_gain_that_a_neighbours_scatter_may_hide_is_not_claimed() -> None:
    """The large one lost 20 of 1,000 samples, or the 150 that the small one gained: it scatters."""

    def boots(small: int, large: int, scatter: int) -> Side:
        found = []
        for step in (0, 3, -3, 1, -1):
            stacks = {"main;small": small + step, "main;large": large + scatter * step}
            total = 8000 + sum(stacks.values())
            found.append(boot({**stacks, "main;rest": 8000}, pps=1e10 / total))
        return Side(tuple(found))

    hidden = difference(boots(20, 1000, 50), boots(170, 980, 50))
    assert row_of(hidden, "small").verdict == "cannot tell"
    assert "may trade samples with large" in row_of(hidden, "small").why
    plain = difference(boots(20, 1000, 1), boots(170, 980, 1))
    assert row_of(plain, "small").verdict == "dearer"


def test_a_caller_without_a_module_is_the_function_that_has_one() -> None:
    functions, same = same_functions([Function("read", "kernel"), Function("read", "")])
    assert functions == (Function("read", "kernel"),)
    assert same.tolist() == [0, 0]
    apart, _ = same_functions([Function("read", "a"), Function("read", "b"), Function("read", "")])
    assert len(apart) == 3


def test_three_builds_a_side_are_the_observations() -> None:
    a = side(STACKS, (0, 1, 200, 201, -200, -201))
    b = grown(changed(copy=2300), (0, 1, 200, 201, -200, -201))
    builds = ("x", "x", "y", "y", "z", "z")
    by_boot = difference(a, b)
    by_build = difference(replace(a, builds=builds), replace(b, builds=builds))
    assert by_build.freedom < by_boot.freedom
    assert not any("build" in text for text in by_build.warnings)
    assert any("these builds" in text for text in by_boot.warnings)


def test_a_history_adds_degrees_of_freedom() -> None:
    one = side(STACKS)
    assert difference(one, one).freedom == 8
    assert difference(one, one, history=[one, side(STACKS, (0, 5, -5))]).freedom == 14


def test_claims_of_equal_sides_are_rare_and_intervals_hold() -> None:
    noise = np.random.default_rng(4)
    held = []
    claims = 0
    for _ in range(40):
        machine = Machine(World(8.0), noise)
        found = difference(machine.side(5), machine.side(5))
        claims += found.claims > 0
        held += [
            row.low < 0 < row.high
            for row in found.rows
            if row.low is not None and row.high is not None and row.a_pct > 0.2
        ]
    assert claims <= 5
    assert 0.93 < sum(held) / len(held) < 0.97


def test_the_headline_names_what_explains_the_change() -> None:
    found = headline(difference(side(STACKS), grown(changed(copy=3000))), "r1", "D9")
    assert found.text == (
        "D9 makes a packet 10 % dearer than r1 (9.1 % fewer packets per second). "
        "10 of these 10 points are copy: 20 % of a packet became 30 %."
    )
    assert found.parts[0].is_proven


def test_the_headline_states_that_no_function_explains_it() -> None:
    found = headline(difference(side(STACKS), side(STACKS, pps=9e5)), "r1", "VIMAGE")
    assert found.parts == ()
    assert found.text == (
        "VIMAGE makes a packet 11 % dearer than r1 (10 % fewer packets per second). "
        "No single function explains it."
    )


def test_a_small_function_is_in_no_headline() -> None:
    found = difference(side(STACKS), grown(changed(log=630)))
    assert headline(found, "r1", "D9").parts == ()
