"""Levels are looked for anew only where a series is not at rest, in whatever pieces it came."""

import json

import numpy as np
import pytest

from benchmarks.cells import series_of
from benchmarks.worlds.reading import draw
from tests.stats.series import worlds
from webapp.stats.changes import (
    Point,
    State,
    advance,
    detect,
    detector,
    present,
    start,
    why_flagged,
)
from webapp.stats.changes.level_findings import find_in


def series(rng, count, steps=0, odd=0, unusable=0):
    """A series of `count` revisions with so many steps, odd revisions, and some without a value."""
    shift = np.zeros(count)
    for first in rng.integers(1, count, steps):
        shift[first:] += rng.normal(0.0, 0.06)
    shift[rng.integers(0, count, odd)] -= 0.3
    points = series_of(draw(rng, shift))
    for at in rng.integers(0, count, unusable):
        points[at] = Point(points[at].position, points[at].label, [0.0])
    return points


def passed_on(state):
    return State.from_data(json.loads(json.dumps(state.to_data())))


@pytest.mark.parametrize("seed", worlds(*range(12), first=3))
def test_one_by_one_finds_what_the_whole_does(seed):
    rng = np.random.default_rng([3, seed])
    count = int(rng.integers(20, 120))
    points = series(rng, count, *rng.integers(0, 4, 3))
    state = start()

    for number, point in enumerate(points, 1):
        state = advance(state, [point])
        if rng.random() < 0.5:
            present(state, "more")
            state = passed_on(state)

        assert present(state, "more") == detect(points[:number])


@pytest.mark.parametrize("seed", worlds(*range(6), first=2))
def test_pieces_of_any_length_find_what_the_whole_does_of_a_long_series(seed):
    rng = np.random.default_rng([4, seed])
    points = series(rng, 700, 5, 3, 4)
    state, first = start(), 0
    while first < len(points):
        stop = first + int(rng.integers(1, 90))
        state = passed_on(advance(state, points[first:stop]))
        first = stop
        if rng.random() < 0.5:
            present(state, "more")

    assert present(state, "more") == detect(points)
    assert passed_on(state).window.found() == state.window.found()


def looks_of(points):
    """The numbers of revisions in which levels are looked for, as they come one by one."""
    state, looks = start(), []
    for number, point in enumerate(points, 1):
        state = advance(state, [point])
        if state.window.looked == len(state.window.rows):
            looks.append(number)
    return looks


def test_a_series_at_rest_has_levels_looked_for_at_the_ends_of_its_blocks():
    points = series(np.random.default_rng(1), 300)

    looks = looks_of(points)

    ends = {at for at in range(1, 301) if detector.ends_block(at)}
    assert ends <= set(looks)
    assert len(set(looks) - ends) <= 0.1 * len(points)
    assert max(np.diff(looks)) == detector.LONGEST


def test_after_a_step_levels_are_looked_for_with_each_revision():
    rng = np.random.default_rng(2)
    points = series_of(draw(rng, np.where(np.arange(300) < 200, 0.0, 0.08)))

    looks = looks_of(points)

    first_found = next(at for at in range(201, 300) if detect(points[:at]).analysis.changes)
    assert set(range(first_found + 1, 200 + detector.FRESH)) <= set(looks)


def test_where_levels_were_not_looked_for_the_last_one_goes_on():
    points = series(np.random.default_rng(1), 300)
    state = start()
    for point in points:
        state = advance(state, [point])
        if len(state.window.rows) - state.window.looked > 5:
            break
    values = state.window.rows.values()
    earlier = find_in(values[: state.window.looked]).stretches[-1]

    *_, last = state.window.found().stretches

    assert (last.last.position, last.count) == (values[-1].position, len(values))
    assert (last.level, last.low, last.high) == (earlier.level, earlier.low, earlier.high)


def test_a_series_that_loses_by_and_by_is_never_at_rest():
    points = series_of(draw(np.random.default_rng(5), np.linspace(0.0, -0.1, 203)))
    state = start()
    for point in points:
        state = advance(state, [point])
    assert state.window.looked < len(points)

    [slow] = present(state, "more").others.slow

    assert slow == find_in(state.window.rows.values()).slow[0]
    assert slow.last.position == points[-1].position


@pytest.mark.parametrize(("newest", "text"), [(1, "the newest"), (5, "the newest 5")])
def test_what_a_level_does_not_weigh_yet_is_stated_beside_its_size(newest, text):
    """Who checks the figure by hand takes the same revisions."""
    rng = np.random.default_rng(3)
    logs = 0.005 * rng.standard_normal((130, 1)) + 0.01 * rng.standard_normal((130, 5))
    points = series_of(1000 * np.exp(logs + np.log(0.9) * (np.arange(130)[:, None] >= 40)))
    analyses = [detect(points[:count]).analysis for count in (96, 96 + newest)]

    (before,), (after,) = (one.changes for one in analyses)
    assert (before.revisions_after, before.unweighed) == (56, 0)
    assert (after.revisions_after, after.unweighed) == (56 + newest, newest)
    assert (after.level, after.change_pct) == (before.level, before.change_pct)
    assert f"from 40 on (all but {text} weighed so far) are" in why_flagged(after, analyses[1])
    assert "from 40 on are" in why_flagged(before, analyses[0])
