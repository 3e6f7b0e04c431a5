"""What functions cost along a tree: which revisions take part, series, and what is found."""

from collections.abc import Sequence

import pytest

from tests.stats.profiles.sides import Stacks, boot, side
from webapp.stats.profiles.calls import Function
from webapp.stats.profiles.costs import Side
from webapp.stats.profiles.function_series import (
    FunctionCosts,
    ProfiledRevision,
    changed_among,
    costliest,
    function_costs,
    series_of,
)

PATH: Stacks = {
    "main;input": 3000,
    "main;input;lookup": 1500,
    "main;output": 5400,
    "main;cpu_idle": 100,
}
LOOKUP, INPUT = Function("lookup", "kernel"), Function("input", "kernel")


def revision(at: int, its: Side) -> ProfiledRevision:
    return ProfiledRevision(at, f"r{at}", its)


def path(*, lookup: int = 1500, pps: float = 1e6, jitter: Sequence[int] = (0, 30, -20)) -> Side:
    return side({**PATH, "main;input;lookup": lookup}, jitter, pps=pps)


def wandering(at: int) -> tuple[int, int, int]:
    """Boots that differ from revision to revision."""
    return (7 * at % 11 - 5, 5 * at % 13 - 6, 3 * at % 7 - 3)


def along(*, step: int, lookup: int, pps: float, count: int = 12) -> FunctionCosts:
    """So many revisions, the newest first; from ``step`` on the lookup takes other samples."""
    sides = [
        path(jitter=wandering(at))
        if at < step
        else path(lookup=lookup, pps=pps, jitter=wandering(at))
        for at in range(count)
    ]
    return function_costs(revision(at, sides[at]) for at in reversed(range(count)))


def test_costs_are_in_percent_of_the_first_packet() -> None:
    """By hand: of 10,000 samples at 1 Mpps 1,500 are the lookup's. At 0.8 Mpps 3,500 of 12,000:
    29.17 % of a packet that costs 1.25 as much, 36.46 % of the first.
    """
    sides = [
        Side((boot(PATH, pps=1e6),)),
        Side((boot({**PATH, "main;input;lookup": 3500}, pps=0.8e6),)),
    ]
    costs = function_costs([revision(2, sides[1]), revision(1, sides[0])])
    at = costs.at(LOOKUP)
    assert at is not None
    assert costs.labels == ["r1", "r2"]
    values = [one.samples[0] for one in costs.points(at, with_calls=False)]
    assert values == pytest.approx([15, 100 * 1.25 * 3500 / 12000])


def test_a_step_is_found_where_it_is() -> None:
    costs = along(step=6, lookup=2000, pps=1e6 * 10000 / 10500)
    at = costs.at(LOOKUP)
    assert at is not None
    (lookup,) = series_of(costs, [at], with_calls=False)
    (change,) = lookup.changes
    assert (change.revision.label, change.verdict, change.state) == ("r6", "worse", "confirmed")
    assert change.low_pct < 100 / 3 < change.high_pct
    assert len(lookup.levels) == 2
    everything = series_of(costs, costliest(costs, with_calls=False), with_calls=False)
    assert [one.function for one in changed_among(everything)] == [LOOKUP]


def test_one_revision_far_off_is_no_change_of_level() -> None:
    sides = [
        path(
            lookup=2500 if at == 6 else 1500, pps=1e7 / 11 if at == 6 else 1e6, jitter=wandering(at)
        )
        for at in range(14)
    ]
    costs = function_costs(revision(at, sides[at]) for at in reversed(range(14)))
    at = costs.at(LOOKUP)
    assert at is not None
    (whole,), (parted,) = (series_of(costs, [at], one, with_calls=False) for one in ([], [13]))
    for lookup in (whole, parted):
        assert not lookup.changes
        assert [one.first.label for one in lookup.others.excursions] == ["r6"]


def test_with_all_it_calls_the_caller_changes_too() -> None:
    costs = along(step=6, lookup=2000, pps=1e6 * 10000 / 10500)
    at = costs.at(INPUT)
    assert at is not None
    (own,), (whole,) = (series_of(costs, [at], with_calls=on) for on in (False, True))
    assert not own.changes
    assert [one.revision.label for one in whole.changes] == ["r6"]
    assert whole.means[0] == pytest.approx(45, abs=0.5)


def test_a_function_that_vanishes_has_a_change() -> None:
    costs = along(step=6, lookup=0, pps=1e6 * 10000 / 8500)
    at = costs.at(LOOKUP)
    assert at is not None
    (lookup,) = series_of(costs, [at], with_calls=False)
    (change,) = lookup.changes
    assert (change.revision.label, change.verdict) == ("r6", "better")
    assert change.change_pct < -99
    assert min(lookup.means) == 0


def test_nothing_is_found_across_epochs() -> None:
    costs = along(step=6, lookup=2000, pps=1e6 * 10000 / 10500)
    at = costs.at(LOOKUP)
    assert at is not None
    (lookup,) = series_of(costs, [at], [6], with_calls=False)
    assert not lookup.changes
    assert len(lookup.levels) == 2


def test_what_cannot_be_claimed_is_left_out_with_its_reason() -> None:
    cut = Side((boot(PATH, truncated=True, label="cut.graph"),))
    idle = Side((boot({**PATH, "main;cpu_idle": 2000}),))
    costs = function_costs(
        [
            revision(5, cut),
            revision(4, path()),
            revision(3, idle),
            revision(2, Side((boot(PATH, pps=None),))),
            revision(1, Side((boot(PATH, event="other"),))),
            revision(0, path()),
        ]
    )
    assert costs.labels == ["r0", "r4"]
    reasons = {one.name: one.why for one in costs.left_out}
    assert reasons == {
        "r1": "The profiles are of different events (instructions, other)",
        "r2": "The packets per second of side r2 are unknown",
        "r3": "Side r3 was 17 % idle",
        "r5": "cut.graph of side r5 is truncated",
    }


def test_rates_of_plain_runs_and_of_profiled_boots_are_not_mixed() -> None:
    plain = Side((boot(PATH, pps=None),) * 2, plain_pps=(1e6, 1.01e6))
    both = function_costs([revision(2, plain), revision(1, plain)])
    assert (both.labels, both.is_plain) == (["r1", "r2"], True)
    mixed = function_costs([revision(2, path()), revision(1, plain)])
    assert (mixed.labels, mixed.is_plain) == (["r2"], False)
    (left_out,) = mixed.left_out
    assert left_out.why == "The packets per second while profiled are known of r2 and not of r1"


def test_without_any_revision_there_is_nothing() -> None:
    costs = function_costs([revision(1, Side((boot(PATH, truncated=True),)))])
    assert not costs.revisions
    assert costliest(costs, with_calls=False) == []
    assert series_of(costs, [], with_calls=False) == []
    assert changed_among([]) == []


def test_in_a_rare_function_nothing_is_looked_for() -> None:
    rare = {**PATH, "main;rare": 9, "main;gone": 2}
    costs = function_costs(revision(at, side(rare, wandering(at))) for at in (3, 2, 1))
    at = costs.at(Function("rare", ""))
    assert at is not None
    (found,) = series_of(costs, [at], with_calls=False)
    assert found.analysis is None
    assert at not in costliest(costs, with_calls=False)


def test_idle_functions_are_not_among_the_costliest() -> None:
    costs = along(step=6, lookup=1500, pps=1e6)
    named = [costs.functions[at].name for at in costliest(costs, with_calls=False)]
    assert named == ["output", "input", "lookup"]
