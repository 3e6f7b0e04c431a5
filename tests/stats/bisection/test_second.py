"""A second culprit of the other sign is looked for before one commit is named alone."""

from dataclasses import replace
from math import expm1

import numpy as np
import pytest

from tests.stats.bisection.one_series import decide
from webapp.stats.bisection import (
    Boot,
    Budget,
    Evidence,
    Kind,
    Noise,
    Plan,
    Purpose,
    State,
    ending,
    explain,
)
from webapp.stats.bisection.confirming import MOST_BOOTS
from webapp.stats.bisection.posterior import SHARE, largest_size
from webapp.stats.intervals import TWO_SIDED_95

PLAN = Plan((1.0,) * 32, -2.0, Noise(0.4, 0.4))
PAST = tuple(Boot(-back, 0.3 * (-1) ** n) for back in range(8) for n in range(4))
LOSS = 8


def at(purpose, *pairs):
    return tuple(Boot(index, value, purpose=purpose) for index, value in pairs)


def searched(behind):
    """The loss of 3 % is found; ``behind`` is the level from it on."""
    ends = at(Purpose.VALIDATING, *[(0, 0.1), (32, -2.0)] * 2)
    search = ((16, behind), (4, 0.0), (10, behind), (7, 0.1), (8, behind), (7, 0.0), (8, behind))
    confirm = ((8, behind), (7, 0.0), (8, behind), (7, 0.1))
    return PAST + ends + at(Purpose.SEARCHING, *search) + at(Purpose.CONFIRMING, *confirm)


def test_while_a_gain_behind_the_loss_is_possible_both_sides_of_it_are_booted_again():
    decision = decide(PLAN, Evidence(searched(-2.45)))

    assert decision.state is State.CONFIRMING
    assert decision.posterior.top == LOSS
    assert [one.purpose for one in decision.actions] == [Purpose.CONFIRMING]
    assert decision.actions[0].index >= LOSS
    assert "whether another commit contributes is open" in decision.text


WANDERS = replace(PLAN, noise=Noise(0.4, 0.4, build=0.35))
"""Builds may scatter by more than a tenth of the step, and by less than a fifth."""


def test_where_it_may_be_the_luck_of_builds_another_build_in_between_is_booted_first():
    decision = decide(WANDERS, Evidence(searched(-2.45)))

    assert decision.posterior.top == LOSS
    first, last = decision.posterior.rest.between
    assert [one.index for one in decision.actions] == [(first - 1 + last) // 2]
    assert decision.actions[0].purpose is Purpose.CONFIRMING
    there = {boot.index for boot in searched(-2.45)}
    assert decision.actions[0].index not in there


def test_a_revision_that_cannot_be_booted_is_not_asked_for():
    usual = decide(WANDERS, Evidence(searched(-2.45))).actions[0].index

    other = decide(WANDERS, Evidence(searched(-2.45), skipped=frozenset({usual})))

    assert other.actions[0].index == usual - 1


@pytest.mark.parametrize(("ratio", "expected"), [(0.3, True), (-0.3, False)])
def test_where_boots_ran_out_the_sign_decides_also_where_builds_may_scatter(ratio, expected):
    now = decide(WANDERS, Evidence(searched(-2.45))).posterior
    assert ending.is_sharp(WANDERS, now)
    assert ending.may_scatter(now)

    undecided = replace(now, rest=replace(now.rest, ratio=ratio))

    assert ending.is_first_of_several(WANDERS, undecided) is expected


def test_of_a_machine_that_moved_the_sign_decides_nothing():
    now = decide(WANDERS, Evidence(searched(-2.45))).posterior
    moved = replace(now, lab=replace(now.lab, moves=0.7), rest=replace(now.rest, ratio=0.3))

    assert moved.lab.unsteady >= ending.MOVED
    assert not ending.is_first_of_several(WANDERS, moved)


def test_a_gain_that_shows_makes_the_loss_the_first_of_several():
    decision = decide(PLAN, Evidence(searched(-2.9)))

    outcome = decision.outcome
    assert outcome is None or outcome.kind is not Kind.SINGLE or outcome.several


def test_without_any_sign_of_a_second_one_the_commit_is_named_alone():
    more = at(Purpose.CONFIRMING, *[(32, -2.0), (8, -2.0)] * 3)

    decision = decide(PLAN, Evidence(searched(-2.0) + more))

    assert decision.outcome.kind is Kind.SINGLE
    assert not decision.outcome.several
    assert decision.outcome.other < 1.0
    assert "not ruled out" not in decision.text


def test_the_question_costs_so_many_boots_and_no_more():
    doubt = at(Purpose.CONFIRMING, *[(32, -2.15), (8, -2.3)] * (MOST_BOOTS // 2))

    decision = decide(PLAN, Evidence(searched(-2.4) + doubt))

    assert decision.state is State.DONE
    assert decision.outcome.kind is Kind.SINGLE


def test_what_a_second_change_can_still_hide_is_stated_where_boots_ran_out():
    noise = Noise(0.8, 0.5)
    made = Evidence(searched(-2.2))
    short = replace(PLAN, noise=noise, budget=Budget(boots=made.effort))

    outcome = decide(short, made).outcome

    assert outcome.kind is Kind.SINGLE
    assert not outcome.several
    assert outcome.other > SHARE * 2.0
    sentence = (
        f"Another change of up to {100 * expm1(outcome.other / 100):.1f} % in this range is not"
    )
    assert sentence in outcome.text


def test_of_a_machine_that_moved_it_is_stated_that_nothing_is_known():
    assert explain.not_ruled_out(None) == (
        " Because the machine moved, another change in this range is not ruled out."
    )


def test_the_largest_size_holds_so_much_of_the_mixture():
    one = largest_size(np.array([0.0]), np.array([1.0]), np.array([1.0]))
    far = largest_size(np.array([3.0]), np.array([1.0]), np.array([1.0]))
    both = largest_size(np.array([0.0, -3.0]), np.array([1e-6, 1e-6]), np.array([0.5, 0.5]))

    assert one == pytest.approx(TWO_SIDED_95, abs=1e-5)
    assert far == pytest.approx(3 + 1.644854, abs=1e-4)
    assert both == pytest.approx(3.0, abs=1e-3)
