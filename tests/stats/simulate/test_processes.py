"""Trials over several processes."""

import os

import pytest

from webapp.stats import OutOfRangeError
from webapp.stats.simulate.bisect_cells import ONE_THREAD, Cell, play_trials, spread_over

pytestmark = pytest.mark.bench

EASY = Cell(8, -2.0, 0.5, 0.5)


def test_two_processes_play_the_same_bisects_in_the_same_order():
    alone = play_trials(EASY, trials=12, seed=4)

    with spread_over(2) as spread:
        assert play_trials(EASY, trials=12, seed=4, spread=spread) == alone

    assert len({trial.boots for trial in alone}) > 1


def test_the_environment_is_as_it_was_afterwards(monkeypatch):
    monkeypatch.delenv(ONE_THREAD[0], raising=False)
    monkeypatch.setenv(ONE_THREAD[1], "3")

    with spread_over(2) as spread:
        assert list(spread(os.getenv, ONE_THREAD[:2])) == ["1", "3"]

    assert ONE_THREAD[0] not in os.environ


def test_no_process_is_none_at_all():
    with pytest.raises(OutOfRangeError, match="processes"), spread_over(0):
        pass
