"""Small simulations with fixed seeds: what a bisect promises, with generous margins.

The full tables are in docs/figures.md; `python -m webapp.stats.bisection --table` prints them.
"""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from benchmarks.bisection.peers import git_bisect, pinpoint_like, rank_p, try_peer
from tests.stats.bisection.one_series import forecast
from webapp.stats import OutOfRangeError
from webapp.stats.bisection import Boot, Costs, Evidence, Kind, Noise, Plan
from webapp.stats.simulate.bisect_cells import Cell, counted, play_trials, simulate

pytestmark = pytest.mark.bench

EASY = Cell(64, -2.0, 0.5, 0.5)


def test_a_step_of_two_percent_is_found_in_about_twenty_boots():
    result = simulate(EASY, trials=60, seed=11)

    assert result.right_single >= 0.95
    assert result.wrong_single <= 0.02
    # What it may take while the machine may have moved; two go to the test of a second culprit.
    assert result.boots_median <= 20


def test_a_step_smaller_than_alerted_is_found_or_not_but_nobody_is_wrongly_named_for_it():
    result = simulate(replace(EASY, step=-1.4, alerted=-2.0), trials=100, seed=11)

    assert result.right_single >= 0.7
    assert result.wrong_single <= 0.05


def test_a_false_alert_is_not_reproduced_after_a_few_boots():
    result = simulate(replace(EASY, false_alert=True), trials=60, seed=11)

    assert result.outcomes[Kind.NOT_REPRODUCED] >= 0.95
    assert result.boots_median <= 8


def test_out_of_reach_it_ends_without_naming_somebody():
    result = simulate(Cell(64, -1.0, 1.0, 1.0), trials=12, seed=11)

    assert result.wrong_single <= 0.04
    assert result.outcomes[Kind.RANGE] + result.outcomes[Kind.INCONCLUSIVE] >= 0.7


def test_builds_that_scatter_by_half_the_step_lead_to_a_range_that_holds_the_culprit():
    noisy = replace(EASY, build=1.0, history=30)

    result = simulate(noisy, trials=25, seed=11)

    assert result.outcomes[Kind.RANGE] >= 0.7
    assert result.range_right >= 0.85
    assert result.wrong_single <= 0.04


def test_a_lab_that_can_rebuild_names_the_commit_all_the_same():
    result = simulate(replace(EASY, build=1.0, history=30, rebuilds=True), trials=25, seed=11)

    assert result.right_single >= 0.7


def test_the_same_seed_gives_the_same_answer_and_an_improvement_is_found_like_a_loss():
    small = Cell(16, 2.0, 0.3, 0.3)

    assert simulate(small, trials=10, seed=3) == simulate(small, trials=10, seed=3)
    assert simulate(small, trials=10, seed=3).right_single >= 0.9


def played_by(search, trials):
    """How a peer does in the easy cell."""
    play_one = partial(try_peer, search)
    return counted(play_trials(EASY, trials=trials, seed=1, play_one=play_one))


def test_a_bisect_that_never_doubts_blames_the_wrong_commit_about_every_second_time():
    result = played_by(git_bisect, trials=200)

    assert 0.35 <= result.wrong_single <= 0.75
    assert result.boots_median <= 7


def test_a_pinpoint_like_search_needs_many_times_the_boots():
    result = played_by(pinpoint_like, trials=10)

    assert result.boots_median >= 80


def test_the_rank_test_knows_what_is_apart_and_what_is_not():
    values = np.arange(10.0).tolist()

    assert rank_p(values, [value + 100 for value in values]) < 0.001
    assert rank_p(values[::2], values[1::2]) > 0.3


@pytest.mark.parametrize(
    "change",
    [{"commits": 0}, {"step": 0.0}, {"step": -100.0}, {"history": 2}, {"neighbours": -1}],
)
def test_a_cell_that_makes_no_sense_names_the_field(change):
    with pytest.raises(OutOfRangeError, match=next(iter(change))):
        replace(EASY, **change)


PLAN = Plan((1.0,) * 64, -2.0, Noise(0.5, 0.5), costs=Costs(build=0.2, boot=0.15))
PAST = Evidence(tuple(Boot(-back, 0.1 * (-1) ** n) for back in range(10) for n in range(5)))


def test_a_forecast_before_the_start_is_what_the_simulation_needs():
    coming = forecast(PLAN, PAST)

    assert 10 <= coming.boots_median <= 20
    assert coming.boots_median <= coming.boots_p90 <= 40
    assert coming.hours_median >= 0.15 * coming.boots_median
    assert coming.outcomes[Kind.SINGLE] >= 0.7
    assert sum(coming.outcomes.values()) == pytest.approx(1)
    assert coming == forecast(PLAN, PAST)


def test_a_forecast_states_beforehand_that_it_will_end_in_a_range():
    noisy = replace(PLAN, noise=Noise(0.5, 0.5, build=1.2))

    coming = forecast(noisy, PAST, trials=12)

    assert next(iter(coming.outcomes)) is Kind.RANGE


def test_a_forecast_of_nearly_nothing_left_is_short():
    search = (0, 64, 0, 64, 32, 16, 24, 20, 19, 20, 19)
    boots = tuple(Boot(i, -2.0 if i >= 20 else 0.0, purpose="searching") for i in search)

    assert forecast(PLAN, replace(PAST, boots=PAST.boots + boots)).boots_median <= 6
