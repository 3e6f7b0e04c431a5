"""What the lab does while a bisect runs: drift, a step of its own, flaky boots, more noise."""

from dataclasses import replace

import numpy as np
import pytest

from tests.stats.bisection.one_series import decide, posterior
from webapp.stats.bisection import Boot, Evidence, Kind, Noise, Plan, Purpose
from webapp.stats.bisection.explain import lab
from webapp.stats.bisection.posterior import Lab
from webapp.stats.bisection.tally import outlier_boots
from webapp.stats.bisection.timeline import STATES, STEP_WEIGHT

COMMITS, CULPRIT = 16, 9
PLAN = Plan((1.0,) * COMMITS, -2.0, Noise(0.3, 0.3))
PAST = tuple(Boot(-back, 0.1 * (-1) ** n) for back in range(8) for n in range(4))
ORDER = (0, 16, 0, 16, 8, 0, 12, 16, 10, 0, 9, 8, 16, 9, 8, 0, 9, 8)


def measured(shift, order=ORDER, seed=1, sd=0.3):
    rng = np.random.default_rng(seed)
    return PAST + tuple(
        Boot(
            index,
            (-2.0 if index >= CULPRIT else 0.0) + shift(number) + sd * float(rng.normal()),
            purpose=Purpose.SEARCHING,
        )
        for number, index in enumerate(order)
    )


def test_the_states_of_the_lab_are_all_that_is_possible():
    assert sum(state.weight for state in STATES) + STEP_WEIGHT == pytest.approx(1)


def test_a_steady_lab_is_believed_to_be_steady_and_its_culprit_found():
    now = posterior(PLAN, Evidence(measured(lambda _: 0.0)))

    assert now.lab.unsteady < 0.2
    assert (now.top, now.candidates[CULPRIT - 1] > 0.99) == (CULPRIT, True)


def test_a_drift_is_seen_in_the_ends_and_its_course_reported():
    now = posterior(PLAN, Evidence(measured(lambda number: -0.2 * number)))

    assert now.lab.moves > 0.9
    assert now.lab.moved == pytest.approx(-0.2 * (len(ORDER) - 1), abs=0.8)
    assert len(now.lab.shift) == len(ORDER)
    assert now.top == CULPRIT


def test_a_drift_whose_size_nobody_knows_yet_is_not_reported_as_nothing():
    found = Lab(moves=0.7, steps=0.1, step_after=0, shift=(0.0, 0.01), scatter=1.0)

    assert lab(found) == "The machine probably moved (80 %); how far is not known yet."
    assert "drifted by −1.98 %" in lab(replace(found, shift=(0.0, -2.0)))


def test_a_step_of_the_lab_is_placed_and_reported():
    boots = measured(lambda number: -2.0 if number >= 10 else 0.0)

    decision = decide(PLAN, Evidence(boots))

    lab = decision.posterior.lab
    assert lab.steps > 0.5
    assert lab.step_after == 10
    assert lab.step == pytest.approx(-2.0, abs=0.5)
    assert "The machine itself stepped by −" in decision.text
    assert "after boot 10" in decision.text


def test_a_drop_of_everything_since_a_moment_accuses_nobody():
    order = (0, 16, 0, 16, 12, 14, 15, 13, 15, 14, 15)
    values = (0.0, -2.0, 0.1, -2.1, -2.0, -2.0, -2.1, -1.9, -2.0, -2.1, -2.0)
    moved = (0, 8, 4, 4, 3)
    boots = [Boot(i, v, purpose=Purpose.SEARCHING) for i, v in zip(order, values, strict=True)]
    boots += [Boot(i, -2.0, purpose=Purpose.SEARCHING) for i in moved]

    now = posterior(PLAN, Evidence(PAST + tuple(boots)))

    assert now.candidates.max() < 0.95
    assert now.lab.unsteady > 0.5


def test_an_anchor_is_booted_as_soon_as_the_lab_may_move():
    ends = tuple(Boot(i, v) for i, v in ((0, 0.0), (16, -2.0), (0, 0.1), (16, -2.1)))
    fresh = tuple(Boot(b.index, b.value, purpose=Purpose.VALIDATING) for b in ends)
    search = (8, 12, 10, 9)
    seen = tuple(
        Boot(i, -2.0 - 0.5 * n if i >= CULPRIT else -0.5 * n, purpose=Purpose.SEARCHING)
        for n, i in enumerate(search, 1)
    )

    decision = decide(PLAN, Evidence(PAST + fresh + seen))

    assert decision.posterior.lab.unsteady > 0.15
    [anchor] = decision.actions
    assert anchor.purpose is Purpose.ANCHOR
    assert anchor.index in (0, COMMITS)


def test_noise_that_history_misjudged_is_learnt():
    now = posterior(PLAN, Evidence(measured(lambda _: 0.0, order=ORDER * 2, sd=1.2)))

    assert 2 < now.lab.scatter < 4
    assert now.boot_sd == pytest.approx(1.2, rel=0.3)


def test_boots_that_no_hypothesis_explains_stop_the_search_with_the_figure():
    wild = measured(lambda number: 6.0 * (-1) ** (number // 2), order=ORDER)

    decision = decide(PLAN, Evidence(wild))

    assert decision.odd == ()
    assert decision.outcome.kind is Kind.SUSPECTED
    assert "times as much as the history of the series" in decision.text


def test_a_lab_that_can_build_again_does_so_where_builds_may_scatter():
    wandering = replace(PLAN, noise=Noise(0.2, 0.2, build=0.4))
    confirming = tuple(
        Boot(index, value, purpose=Purpose.CONFIRMING)
        for index, value in ((9, -2.1), (8, -0.1), (9, -2.0))
    )
    boots = measured(lambda _: 0.0, sd=0.1) + confirming

    once = decide(wandering, Evidence(boots))
    again = decide(replace(wandering, can_rebuild=True), Evidence(boots))

    assert once.outcome.candidates == (CULPRIT,)
    assert again.outcome is None
    assert again.actions[0].rebuild
    assert again.actions[0].index in {CULPRIT - 1, CULPRIT}


def odd_of(*values_by_build):
    """Boots set aside of builds of revision 4, 5, … where both ends are known."""
    ends = [Boot(i, v) for i, v in ((0, 0.0), (16, -2.0)) for _ in range(10)]
    more = [
        Boot(4 + build, value) for build, values in enumerate(values_by_build) for value in values
    ]
    return [at - len(ends) for at in outlier_boots(PLAN, ends + more, COMMITS)]


def test_flaky_boots_are_a_mixture_by_build():
    assert odd_of([-9.0]) == [0]
    assert odd_of([-9.0, -9.1, -9.0]) == []
    assert odd_of([0.0, 0.1, -9.0, -9.1, 0.0]) == [2, 3]
    # Where others went wrong too, two that agree prove no build.
    others = ([0.0, -9.0], [0.1, -9.0, -2.0], [0.0, -9.0], [0.0])
    assert odd_of([-9.0, -9.1], *others) == [0, 1, 3, 5, 8]


def test_a_boot_is_set_aside_six_standard_deviations_of_build_and_boot_beyond_a_level():
    # √(0.3² + 0.4²) = 0.5: three percent beyond the good level, or below the bad one.
    noisy = Plan((1.0,) * COMMITS, -2.0, Noise(0.0, boot=0.3, build=0.4))
    ends = [Boot(index, value) for index, value in ((0, 0.0), (16, -2.0)) for _ in range(10)]
    for value, odd in ((2.9, ()), (3.1, (20,)), (-4.9, ()), (-5.1, (20,))):
        assert outlier_boots(noisy, [*ends, Boot(4, value)], COMMITS) == odd
