"""A second culprit of the other sign is looked for before one commit is named alone."""

from webapp.stats.bisection import Boot, Evidence, Kind, Noise, Plan, Purpose, State, decide
from webapp.stats.bisection.second import MOST_BOOTS

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
    assert "another commit contributes" in decision.text


def test_a_gain_that_shows_makes_the_loss_the_first_of_several():
    decision = decide(PLAN, Evidence(searched(-2.9)))

    outcome = decision.outcome
    assert outcome is None or outcome.kind is not Kind.SINGLE or outcome.several


def test_without_any_sign_of_a_second_one_the_commit_is_named_alone():
    more = at(Purpose.CONFIRMING, *[(32, -2.0), (8, -2.0)] * 3)

    decision = decide(PLAN, Evidence(searched(-2.0) + more))

    assert decision.outcome.kind is Kind.SINGLE
    assert not decision.outcome.several


def test_the_question_costs_so_many_boots_and_no_more():
    doubt = at(Purpose.CONFIRMING, *[(32, -2.15), (8, -2.3)] * (MOST_BOOTS // 2))

    decision = decide(PLAN, Evidence(searched(-2.4) + doubt))

    assert decision.state is State.DONE
