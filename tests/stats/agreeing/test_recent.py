"""What one series says of its newest places: the detector's own scores."""

import json

import numpy as np
import pytest

from webapp.stats.agreeing import recent_of
from webapp.stats.agreeing.recent import KEPT_DEVIATIONS, LEAST_REVISIONS, PLACES
from webapp.stats.changes import Point, State, advance, present, start


def read(count: int = 40, *, step: float = 0.0, newest: int = 1, seed: int = 2) -> State:
    rng = np.random.default_rng(seed)
    levels = rng.normal(0, 0.01, count)
    levels[count - newest :] += step
    samples = 1000 * np.exp(levels[:, None] + rng.normal(0, 0.01, (count, 5)))
    return advance(
        start(), [Point(100 + i, f"r{100 + i}", s) for i, s in enumerate(samples.tolist())]
    )


def test_its_first_score_is_that_of_the_newest_revision() -> None:
    state = read(step=-0.025)
    recent, newest = recent_of(state, "more"), present(state, "more").newest
    assert recent is not None
    assert newest is not None
    assert recent.scores[0] == pytest.approx(-newest.score, rel=0.05)
    assert recent.gaps[0] == pytest.approx(np.log1p(newest.off_pct / 100), abs=0.002)
    assert recent.at == tuple(139 - i for i in range(PLACES + 1))


def test_a_large_step_is_told_at_its_size_though_it_counts_for_less() -> None:
    recent = recent_of(read(step=-0.5), "more")
    assert recent is not None
    assert recent.gaps[0] == pytest.approx(-0.5, abs=0.04)


def test_less_is_better_turns_it() -> None:
    state = read(step=-0.025)
    more, less = recent_of(state, "more"), recent_of(state, "less")
    assert more is not None
    assert less is not None
    assert less.scores == tuple(-one for one in more.scores)
    assert less.gaps == tuple(-one for one in more.gaps)
    assert list(less.deviations.values()) == [-one for one in more.deviations.values()]


def test_a_young_series_says_nothing() -> None:
    assert recent_of(start(), "more") is None
    assert recent_of(read(LEAST_REVISIONS - 1), "more") is None
    assert recent_of(read(LEAST_REVISIONS), "more") is not None


def test_deviations_are_those_of_the_latest_revisions_from_their_own_levels() -> None:
    state = read(80, step=-0.2, newest=20)
    recent = recent_of(state, "more")
    assert recent is not None
    assert len(recent.deviations) == KEPT_DEVIATIONS
    assert set(recent.deviations) == set(range(180 - KEPT_DEVIATIONS, 180))
    assert max(map(abs, recent.deviations.values())) <= 4.5


def test_right_after_a_break_only_the_new_level_counts() -> None:
    recent = recent_of(read(40, step=-0.2, newest=3), "more")
    assert recent is not None
    assert len(recent.scores) == 1


def test_equal_values_give_figures() -> None:
    state = advance(start(), [Point(i, str(i), [100.0] * 5) for i in range(30)])
    recent = recent_of(state, "more")
    assert recent is not None
    assert recent.scores == (0.0,) * PLACES


def test_it_passes_through_json_unchanged() -> None:
    recent = recent_of(read(), "more")
    assert recent is not None
    stored = json.loads(json.dumps(recent.to_data()))
    assert (tuple(stored["at"]), tuple(stored["scores"])) == (recent.at, recent.scores)
    off = json.loads(json.dumps(recent.deviations_to_data()))
    assert dict(zip(off["at"], off["off"], strict=True)) == dict(recent.deviations)
