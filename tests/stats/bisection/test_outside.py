"""A culprit that is not in the range: the good end is bad already, or the bad one good still."""

from tests.stats.bisection.one_series import decide
from webapp.stats.bisection import (
    Boot,
    Evidence,
    Kind,
    Noise,
    Plan,
    Purpose,
    Side,
    State,
)

PLAN = Plan((1.0,) * 16, -2.0, Noise(0.3, 0.3))


def at_ends(good, bad, count=4):
    pairs = ((0, good), (16, bad)) * count
    return tuple(Boot(index, value, purpose=Purpose.VALIDATING) for index, value in pairs)


def neighbours(indices, level):
    return tuple(Boot(index, level + 0.2 * (-1) ** n) for index in indices for n in range(4))


def test_a_good_end_that_is_bad_already_is_stated_and_where_the_step_was_measured():
    known = (*neighbours(range(-9, -2), 0.0), *neighbours(range(-2, 1), -2.0))

    decision = decide(PLAN, Evidence((*known, *at_ends(-2.0, -2.0))))

    outcome = decision.outcome
    assert outcome.kind is Kind.OUTSIDE
    assert (outcome.outside.side, outcome.outside.between) == (Side.BEFORE, (-3, -2))
    assert outcome.probability > 0.95
    assert "the good end is bad already. Bisect with an earlier good revision." in decision.text


def test_a_bad_end_that_is_good_still_is_stated_too():
    known = neighbours(range(-9, 1), 0.0)
    beyond = neighbours(range(17, 20), -2.0)

    decision = decide(PLAN, Evidence((*known, *at_ends(0.0, 0.0)), beyond=beyond))

    assert decision.outcome.kind is Kind.OUTSIDE
    assert decision.outcome.outside.side is Side.BEHIND
    assert decision.outcome.outside.between == (16, 17)
    assert "the bad end is good still. Bisect with a later bad revision." in decision.text


def test_a_change_beside_the_range_does_not_hide_the_step_in_it():
    known = neighbours(range(-9, 1), 0.0)
    beyond = neighbours(range(-12, -9), 2.0)

    decision = decide(PLAN, Evidence((*known, *at_ends(0.0, -2.0)), beyond=beyond))

    assert decision.state is State.SEARCHING


def test_a_machine_that_changed_since_is_not_taken_for_a_step_before_the_range():
    known = (*neighbours(range(-9, 1), 0.0), *neighbours(range(16, 19), 0.0))

    decision = decide(PLAN, Evidence((*known, *at_ends(-2.0, -2.0))))

    assert decision.outcome.kind is not Kind.OUTSIDE


def test_where_history_has_no_boot_of_that_end_the_machine_is_named_as_well():
    known = neighbours(range(-9, 0), 0.0)

    decision = decide(PLAN, Evidence((*known, *at_ends(-2.0, -2.0))))

    assert decision.outcome.kind is Kind.OUTSIDE
    assert "Unless the machine changed since then" in decision.text


def test_without_a_history_beside_the_ends_it_is_not_reproduced():
    decision = decide(PLAN, Evidence(at_ends(0.0, 0.0)))

    assert decision.outcome.kind is Kind.NOT_REPRODUCED
