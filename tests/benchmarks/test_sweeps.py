"""Sweeps over machines and modes, in small: sentences are seldom wrong and name what there is."""

import pytest

from benchmarks.worlds import sweeps
from benchmarks.worlds.figures import Figure, verdict

pytestmark = pytest.mark.bench

TRIALS = 60


@pytest.fixture(scope="module")
def figures() -> list[Figure]:
    return sweeps.measure(TRIALS, 1)


def test_without_an_effect_the_sentence_claims_none(figures: list[Figure]) -> None:
    of_nothing = [one for one in figures if "no effect" in one.name]
    assert len(of_nothing) == 2 * len(sweeps.BUILD_RATIOS) + 3
    assert all(verdict(one) == "met" for one in of_nothing)


def test_with_an_effect_it_is_seldom_wrong(figures: list[Figure]) -> None:
    wrong = [one.measured[0] for one in figures if one.name.endswith("sentence wrong")]
    assert sum(wrong) / len(wrong) <= 5


def test_an_option_that_depends_on_the_machine_is_reported_as_such(figures: list[Figure]) -> None:
    depending = [one for one in figures if "every other machine" in one.name]
    assert all(verdict(one) == "met" for one in depending if "sentence" not in one.name)


def test_what_a_plan_promises_is_reported_in_most_sweeps(figures: list[Figure]) -> None:
    reported = [one for one in figures if one.name.endswith("the loss is reported") and one.goal]
    own = [
        one for one in reported if "on all machines" not in one.name and "nobody" not in one.name
    ]
    assert len(own) == 3 * len(sweeps.BUILD_RATIOS) + 5
    assert {verdict(one) for one in own} == {"met"}


def test_builds_that_all_machines_share_promise_less_and_claim_nothing_wrong(
    figures: list[Figure],
) -> None:
    shared = [one for one in figures if "on all machines" in one.name]
    assert all(one.measured[0] <= 5 for one in shared if one.name.endswith("sentence wrong"))
    assert all(one.measured[0] > 20 for one in shared if one.name.endswith("is reported"))
