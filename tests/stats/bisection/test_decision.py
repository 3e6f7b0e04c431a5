"""What a bisect does next, and how it ends, on evidence made by hand."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from tests.stats.bisection.one_series import decide
from webapp.stats import OutOfRangeError
from webapp.stats.bisection import (
    Boot,
    Budget,
    Costs,
    Evidence,
    Kind,
    Measure,
    Noise,
    Plan,
    Purpose,
    State,
)

V, S, C = Purpose.VALIDATING, Purpose.SEARCHING, Purpose.CONFIRMING
QUIET = Noise(0.2, 0.2)


def plan(commits=16, effect=-2.0, noise=QUIET, **more):
    return Plan((1.0,) * commits, effect, noise, **more)


def boots(purpose, *pairs):
    return tuple(Boot(index, value, purpose=purpose) for index, value in pairs)


ENDS = boots(V, (0, 0.0), (16, -2.0), (0, 0.1), (16, -2.1))
NAMED = (
    *ENDS,
    *boots(S, (8, -2.0), (4, 0.0), (6, 0.1), (7, -1.9), (6, 0.0), (7, -2.0)),
    *boots(C, (7, -2.1), (6, -0.1), (7, -2.0)),
)


PAST = tuple(Boot(-back, 0.05 * (-1) ** n) for back in range(8) for n in range(4))
"""Neighbours of the good end: their builds do not scatter."""


def test_it_begins_with_good_and_bad_in_turn():
    first = decide(plan(), Evidence())
    second = decide(plan(), Evidence(boots(V, (0, 0.0))))
    third = decide(plan(noise=Noise(1.0)), Evidence(boots(V, (0, 0.0), (16, -1.0))))

    assert first.state is State.VALIDATING
    assert first.actions == (Measure(0, V),)
    assert second.actions == (Measure(16, V),)
    assert third.actions == (Measure(0, V),)
    assert "ratio" in first.text


def test_history_counts_but_both_ends_are_booted_at_least_once():
    past = tuple(Boot(-i, 0.0) for i in range(6)) + tuple(Boot(16 + i, -2.0) for i in range(6))

    begun = decide(plan(), Evidence(past))
    one = decide(plan(), Evidence(past + boots(V, (16, -2.0))))
    both = decide(plan(), Evidence(past + boots(V, (16, -2.0), (0, 0.0))))

    assert begun.state is State.VALIDATING
    assert one.actions == (Measure(0, V),)
    assert both.state is State.SEARCHING
    assert both.effort == 2


def test_a_name_that_rests_on_the_weights_is_searched_on():
    weights = (1.0,) * 6 + (1.0,) + (0.05,) * 9
    search = boots(S, (6, 0.0), (8, -2.0), (6, 0.1), (0, 0.0), (16, -2.0), (8, -1.9), (7, -1.05))
    doubted = replace(plan(noise=Noise(0.3, 0.3)), weights=weights)

    decision = decide(doubted, Evidence(PAST + ENDS + search))

    assert decision.posterior.top == 7
    assert decision.posterior.candidates[6] >= 0.95
    assert decision.state is State.SEARCHING
    assert "if all commits had begun with the same weight" in decision.text


def test_a_step_that_is_not_there_is_not_reproduced():
    ends = boots(V, (0, 0.0), (16, 0.1), (0, 0.1), (16, 0.0))

    decision = decide(plan(), Evidence(ends))

    assert decision.state is State.DONE
    assert decision.outcome.kind is Kind.NOT_REPRODUCED
    assert "2 boots of good and 2 of bad" in decision.text


def test_twenty_boots_a_side_without_an_answer_are_inconclusive_with_how_many_more():
    ends = boots(V, *[(0, 0.0), (16, -0.8)] * 20)

    decision = decide(plan(noise=Noise(2.0)), Evidence(ends))

    assert decision.outcome.kind is Kind.INCONCLUSIVE
    assert decision.outcome.more_boots > 0
    assert len(decision.outcome.candidates) == 16


def test_the_search_begins_in_the_middle_and_prefers_what_is_cheap():
    middle = decide(plan(), Evidence(ENDS))
    cached = decide(
        plan(costs=Costs(build=1.0, boot=0.1), cached=frozenset({5})),
        Evidence(ENDS),
    )

    assert middle.state is State.SEARCHING
    assert middle.actions == (Measure(8, S),)
    assert cached.actions == (Measure(5, S),)


def test_a_weak_answer_is_measured_again():
    weak = boots(S, (8, -2.0), (4, 0.0), (6, -1.0))

    decision = decide(plan(), Evidence(PAST + ENDS + weak), agents=2)

    # A lab that stepped would explain it as well: an end is booted beside it.
    assert decision.actions == (Measure(0, Purpose.ANCHOR), Measure(6, S))


def test_several_agents_get_different_revisions_and_what_is_pending_counts():
    many = decide(plan(), Evidence(ENDS), agents=3)
    pending = decide(plan(), Evidence(ENDS), pending=many.actions[:1])

    assert len({action.index for action in many.actions}) == 3
    assert pending.actions == many.actions[1:2]


def test_ends_are_shared_between_agents_too():
    many = decide(plan(), Evidence(), agents=4)

    assert [action.index for action in many.actions] == [0, 16, 0, 16]


def test_culprit_and_parent_are_booted_in_turn_before_a_name():
    search = ENDS + boots(S, (8, -2.0), (4, 0.0), (6, 0.1), (7, -1.9), (6, 0.0), (7, -2.0))
    first = decide(plan(), Evidence(search))
    second = decide(plan(), Evidence(search + boots(C, (7, -2.1))))
    third = decide(plan(), Evidence(search + boots(C, (7, -2.1), (6, 0.0))))
    both = decide(plan(), Evidence(search), agents=2)
    named = decide(plan(), Evidence(NAMED))

    assert first.state is State.CONFIRMING
    assert [d.actions for d in (first, second, third)] == [
        (Measure(7, C),),
        (Measure(6, C),),
        (Measure(7, C),),
    ]
    assert both.actions == (Measure(7, C), Measure(6, C))
    assert named.state is State.DONE
    assert named.outcome.kind is Kind.SINGLE
    assert named.outcome.candidates == (7,)
    assert named.outcome.probability > 0.99


def test_confirming_boots_that_disagree_send_it_back_to_the_search():
    search = ENDS + boots(S, (8, -2.0), (4, 0.0), (6, 0.1), (7, -1.9))
    against = boots(C, (7, -0.2), (6, 0.0), (7, 0.1), (7, 0.0))

    decision = decide(plan(), Evidence(search + against))

    assert decision.state is not State.DONE
    assert decision.posterior.top != 7


def test_one_boot_that_went_wrong_is_set_aside_and_measured_again():
    search = boots(S, (0, 0.0), (16, -2.0), (8, -2.0), (4, -40.0))

    decision = decide(plan(), Evidence(ENDS + search))

    assert decision.odd == (7,)
    assert decision.actions == (Measure(4, S),)
    assert "Set aside as gone wrong, far from both levels: revision 4" in decision.text


def test_a_second_boot_that_agrees_brings_it_back():
    search = boots(S, (0, 0.0), (16, -2.0), (8, -2.0), (4, -40.0), (4, -40.1))

    assert decide(plan(), Evidence(ENDS + search)).odd == ()


@pytest.mark.parametrize("wrong", [(0, -40.0), (16, 30.0)])
def test_one_boot_of_an_end_that_went_wrong_decides_nothing(wrong):
    first = boots(V, wrong, (16 - wrong[0], -2.0 if wrong[0] == 0 else 0.0))
    others = boots(V, *[(0, 0.0), (16, -2.0)] * 2)

    begun = decide(plan(), Evidence(first))
    settled = decide(plan(), Evidence(first + others))

    assert begun.state is State.VALIDATING
    assert settled.state is State.SEARCHING
    assert settled.odd == (0,)


def test_a_step_much_larger_than_alerted_is_not_taken_for_boots_that_went_wrong():
    large = boots(V, *[(0, 0.0), (16, -9.0)] * 3) + boots(S, (8, -9.1), (4, 0.1), (6, -8.9))

    decision = decide(plan(), Evidence(large))

    assert decision.odd == ()
    assert decision.actions == (Measure(5, S),)


def test_the_same_evidence_gives_the_same_decision():
    one, other = (decide(plan(), Evidence(NAMED[:7])) for _ in range(2))

    assert (one.actions, one.text) == (other.actions, other.text)


def test_a_skipped_culprit_ends_in_a_range_that_lists_it():
    skipped = frozenset({7})
    search = boots(S, (8, -2.0), (6, 0.0), (8, -2.1), (6, 0.1), *[(8, -2.0), (6, 0.0)] * 8)

    decision = decide(plan(), Evidence(ENDS + search, skipped=skipped))

    assert decision.outcome.kind is Kind.RANGE
    assert decision.outcome.candidates == (7, 8)
    assert "Could not be measured: 1" in decision.text


def test_when_everything_between_is_skipped_the_range_is_everything():
    ends = ENDS + boots(S, *[(0, 0.0), (16, -2.0)] * 10)

    decision = decide(plan(), Evidence(ends, skipped=frozenset(range(1, 16))))

    assert decision.outcome.kind is Kind.RANGE
    assert decision.outcome.candidates == tuple(range(1, 17))


def test_an_end_that_cannot_be_measured_is_a_failure_of_the_lab_unless_history_knows_it():
    skipped = frozenset({16})
    past = tuple(Boot(16 + i, -2.0) for i in range(1, 4))

    failed = decide(plan(), Evidence(skipped=skipped))
    known = decide(plan(), Evidence(past, skipped=skipped))
    gave_up = decide(plan(), Evidence(failure="The machine does not answer."))

    assert failed.outcome.kind is Kind.LAB_FAILED
    assert "bad end" in failed.text
    assert known.actions == (Measure(0, V),)
    assert gave_up.outcome.kind is Kind.LAB_FAILED
    assert gave_up.text == "The machine does not answer."


def test_with_history_at_an_end_that_cannot_be_booted_the_other_decides():
    past = tuple(Boot(16 + i, -2.0) for i in range(1, 4))
    good = boots(V, (0, 0.0), (0, 0.1), (0, 0.0), (0, -0.1))

    decision = decide(plan(), Evidence(past + good, skipped=frozenset({16})))

    assert decision.state is State.SEARCHING


def test_one_candidate_is_named_when_its_step_is_confirmed():
    one = plan(commits=1)
    ends = boots(V, (0, 0.0), (1, -2.0), (0, 0.1), (1, -2.1))

    confirm = decide(one, Evidence(ends))
    named = decide(one, Evidence(ends + boots(C, (1, -2.0), (0, 0.0), (1, -2.0))))

    assert confirm.actions == (Measure(1, C),)
    assert named.outcome.candidates == (1,)


def test_builds_that_scatter_as_much_as_the_step_end_in_a_range_or_are_built_again():
    noisy = plan(noise=Noise(0.2, 0.2, build=1.0))
    wander = (1.3, -1.3)
    levels = [(i, (0.0 if i < 6 else -2.0) + wander[i % 2]) for i in range(17) if i not in {6, 7}]
    levels += [(6, 2.0), (7, -4.0)]
    sure = Evidence(boots(S, *levels, *levels, *levels))

    decision = decide(noisy, sure)
    again = decide(replace(noisy, can_rebuild=True), sure)

    assert decision.posterior.candidates[6] > 0.95
    assert decision.outcome.kind is Kind.RANGE
    assert 7 in decision.outcome.candidates
    assert "builds scatter" in decision.text
    assert again.actions[0].rebuild
    assert again.actions[0].index in {6, 7}


def test_two_steps_are_an_answer_of_their_own():
    level = {0: 0.0, 3: 0.0, 4: -1.0, 5: -1.0, 7: -1.0, 8: -2.0, 16: -2.0}
    noise = Noise(0.15)

    decision = decide(
        plan(noise=noise), Evidence(boots(S, *[pair for _ in range(4) for pair in level.items()]))
    )

    assert decision.outcome.kind is Kind.TWO_STEPS
    assert decision.outcome.candidates == (4,)
    assert decision.outcome.second == (8,)


def test_one_boot_at_half_height_is_not_yet_two_steps():
    quiet = plan(commits=8, noise=Noise(0.2))
    half = boots(S, (0, 0.0), (8, -2.0), (0, 0.0), (8, -2.0), (4, -2.0), (2, 0.0), (3, -1.0))
    ends = boots(Purpose.ANCHOR, (0, 0.0), (8, -2.0))

    decision = decide(quiet, Evidence(PAST + half + ends))

    assert decision.posterior.two > 0.95
    assert decision.actions == (Measure(3, S),)


def test_a_search_that_finds_one_level_everywhere_takes_the_step_back():
    flat = boots(S, *[(i, 0.05 * (-1) ** i) for i in range(16)], *[(16, 0.1)] * 4)

    assert decide(plan(), Evidence(flat)).outcome.kind is Kind.NOT_REPRODUCED


@pytest.mark.parametrize(
    ("budget", "hours", "reason"),
    [
        (Budget(boots=5), 0.0, "budget of 5 boots"),
        (Budget(hours=3.0), 2.5, "budget of 3 machine hours"),
        (Budget(deadline=datetime(2026, 1, 1, tzinfo=UTC)), 0.0, "deadline"),
    ],
)
def test_a_budget_that_is_used_ends_the_search_and_is_named(budget, hours, reason):
    evidence = Evidence(ENDS + boots(S, (8, -2.0)), hours=hours)

    decision = decide(plan(budget=budget), evidence, now=datetime(2026, 1, 2, tzinfo=UTC))

    assert decision.outcome.kind is Kind.RANGE
    assert decision.outcome.candidates == tuple(range(1, 9))
    assert reason in decision.text


def test_a_budget_that_ends_before_anything_is_excluded_is_inconclusive():
    decision = decide(plan(budget=Budget(boots=1)), Evidence(boots(V, (0, 0.0))))

    assert decision.outcome.kind is Kind.INCONCLUSIVE


def test_a_probable_culprit_is_not_named_when_the_budget_ends_before_it_is_confirmed():
    search = ENDS + boots(S, (8, -2.0), (4, 0.0), (6, 0.1), (7, -1.9), (6, 0.0), (7, -2.0))

    decision = decide(plan(budget=Budget(boots=10)), Evidence(search))

    assert decision.outcome.kind is Kind.RANGE
    assert decision.outcome.candidates == (7,)
    assert "could not be confirmed" in decision.text


def test_while_the_last_boot_is_under_way_it_waits():
    decision = decide(
        plan(budget=Budget(boots=5)), Evidence(ENDS), pending=(Measure(8, S),), agents=2
    )

    assert decision.outcome is None
    assert decision.actions == ()


def test_what_a_person_pins_is_measured_next():
    evidence = Evidence(ENDS, pinned=(3, 3, 5), skipped=frozenset({5}))

    decision = decide(plan(), evidence, agents=2)

    assert decision.actions[0] == Measure(3, S)
    assert decision.actions[1].index not in {3, 5}


def test_a_person_who_forces_a_candidate_gets_it_confirmed_or_refuted():
    forced = frozenset({9})

    decision = decide(plan(), Evidence(ENDS, forced=forced))
    refuted = decide(
        plan(),
        Evidence(ENDS + boots(C, (9, 0.0), (9, 0.1), (9, 0.0), (9, 0.1)), forced=forced),
        agents=2,
    )

    assert decision.state is State.CONFIRMING
    assert {decision.actions[0].index} <= {8, 9}
    assert refuted.outcome is None
    assert [measure.index > 9 for measure in refuted.actions if measure.purpose is S] == [True]


@pytest.mark.parametrize(
    "arguments", [{"agents": 0}, {"pending": (Measure(17, S),)}, {"pending": (Measure(-1, S),)}]
)
def test_a_question_that_makes_no_sense_is_refused(arguments):
    with pytest.raises(OutOfRangeError):
        decide(plan(), Evidence(), **arguments)


def test_sizes_are_percent_of_the_level_before_and_not_logarithms():
    level = 1600.0
    far = tuple(
        Boot(i, level + (-36.0 if i >= 4 else 0.0), purpose=S)
        for i in (0, 8, 0, 8, 0, 8, 4, 3, 4, 3)
    )
    wild = Boot(2, level + 69.0, purpose=S)

    whole = Plan((1.0,) * 8, -36.0, Noise(0.2))

    assert "revision 2 (+99." in decide(whole, Evidence((*far, wild))).text
