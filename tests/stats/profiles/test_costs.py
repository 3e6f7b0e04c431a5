"""On what profiles are compared: cost per packet where it can be claimed, else shares alone."""

from dataclasses import replace

import pytest

from tests.stats.profiles.sides import boot, side
from webapp.stats.profiles import Boot, Difference, Row, Side, difference
from webapp.stats.profiles.calls import counts_unhalted_only, idle_share
from webapp.stats.profiles.costs import basis

STACKS = {"main;send": 600, "main;read": 300, "main;free": 100}


def _row(found: Difference, name: str) -> Row:
    return next(row for row in found.rows if row.function == name)


def test_functions_of_side_a_cost_a_whole_packet() -> None:
    found = difference(side(STACKS), side(STACKS, pps=5e5))
    assert sum(row.a_pct for row in found.rows) == pytest.approx(100)
    assert sum(row.b_pct for row in found.rows) == pytest.approx(200)


def test_the_cost_is_share_times_cores_over_rate() -> None:
    a = side({"main;send": 600, "main;read": 400}, (0,) * 3, pps=1e6, cores=4)
    b = side({"main;send": 500, "main;read": 500}, (0,) * 3, pps=2e6, cores=6)
    row = _row(difference(a, b), "send")
    assert row.a_pct == pytest.approx(60)
    assert row.b_pct == pytest.approx(50 * (6 / 2e6) / (4 / 1e6))


def test_idle_samples_stay_in_the_denominator_and_are_found_by_any_frame() -> None:
    one = boot({"main;send": 90, "fork;sched_idletd;intr": 10})
    assert idle_share(one.calls, one.event) == 0.1


def test_how_busy_is_unknown_where_halted_cpus_give_no_samples() -> None:
    busy = boot({"main;send": 90})
    assert counts_unhalted_only("CPU_CLK_UNHALTED_CORE")
    assert idle_share(busy.calls, "CPU_CLK_UNHALTED_CORE") is None
    assert idle_share(busy.calls, "instructions") == 0
    slept = boot({"main;send": 90, "acpi_cpu_c1": 1})
    assert idle_share(slept.calls, "CPU_CLK_UNHALTED_CORE") == 1 / 91


@pytest.mark.parametrize(
    ("known", "reason"),
    [
        ({"pps": None, "run_pps": None}, "packets per second of side B are unknown"),
        ({"event": "cycles"}, "different events"),
        ({"run_pps": 1.3e6}, "different amounts"),
    ],
)
def test_without_a_condition_of_cost_shares_alone_are_compared(
    known: dict[str, object], reason: str
) -> None:
    a = side(STACKS, run_pps=1.1e6)
    found = difference(a, side(STACKS, **{"run_pps": 1.1e6, **known}))
    assert not found.is_cost
    assert any(reason in text for text in found.warnings)
    assert sum(row.b_pct for row in found.rows) == pytest.approx(100)


def test_idle_sides_are_compared_by_shares_and_very_idle_ones_not_tested() -> None:
    some = side({**STACKS, "idle": 100})
    assert not difference(some, some).is_cost
    most = side({**STACKS, "idle": 2000})
    found = difference(side(STACKS), most)
    assert not found.is_tested
    assert "missed the traffic" in found.warnings[0]


def test_a_truncated_profile_is_never_tested() -> None:
    found = difference(side(STACKS), side({**STACKS, "main;send": 6000}, truncated=True))
    assert not found.is_tested
    assert found.claims == 0
    assert {row.verdict for row in found.rows} == {"cannot tell"}
    assert {row.low for row in found.rows} == {None}


def test_the_scatter_of_plain_runs_is_an_error_of_all_functions() -> None:
    plain = (0.98e6, 1.0e6, 1.02e6)
    unknown = replace(side(STACKS, pps=None), plain_pps=plain)
    found = basis(unknown, unknown)
    assert found.is_cost
    assert found.a.common == pytest.approx(0.0004 / 3, rel=0.01)
    own, common = (_row(difference(one, one), "send") for one in (side(STACKS), unknown))
    assert own.high is not None
    assert common.high is not None
    assert common.high > 1.2 * own.high


def test_uneven_cpus_are_reported_where_the_event_counts_unhalted_cycles() -> None:
    calls = boot(STACKS, sections=2).calls
    counts = calls.counts.copy()
    counts[1] //= 3
    one = Boot(replace(calls, counts=counts), event="CPU_CLK_UNHALTED_CORE", pps=1e6)
    assert any("halted in between" in text for text in basis(Side((one,)), Side((one,))).warnings)


def test_a_side_without_samples_is_refused() -> None:
    with pytest.raises(ValueError, match="without a profile"):
        Side(())
    with pytest.raises(ValueError, match="holds no samples"):
        Side((boot({}, label="empty.graph"),))
