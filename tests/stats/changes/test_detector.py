"""What the online update reports first and what levels show still stands, as one."""

import json

import numpy as np
import pytest

from benchmarks import online as update
from benchmarks.cells import series_of
from benchmarks.worlds.noises import with_modes
from benchmarks.worlds.reading import USUAL, draw
from webapp.stats.changes import State, advance, detect, present, start
from webapp.stats.changes.window import BLOCK, GUARD, KEPT
from webapp.stats.simulate import Scatter

NOISY = Scatter(run=3 * USUAL.run, build=3 * USUAL.build)


def series(shift, seed=1):
    return series_of(draw(np.random.default_rng(seed), np.asarray(shift, dtype=float)))


def stepped(count, *steps):
    shift = np.zeros(count)
    for first, log in steps:
        shift[first:] += log
    return shift


def at(detected):
    return [change.revision.position for change in detected.analysis.changes]


LONG = stepped(560, (150, -0.05), (300, 0.04), (500, -0.06))
LONG[60] -= 0.5


def test_what_is_found_does_not_depend_on_the_pieces_in_which_points_came():
    points = series(LONG)
    state = start()
    for first in range(0, len(points), 37):
        state = advance(state, points[first : first + 37])
        state = State.from_data(json.loads(json.dumps(state.to_data())))

    detected = present(state, "more")

    assert detected == detect(points)
    assert at(detected) == [150, 300, 500]
    assert [one.first.position for one in detected.others.excursions] == [60]


def test_levels_reach_across_what_is_settled():
    detected = detect(series(LONG))

    ends = [(one.first.position, one.last.position) for one in detected.analysis.segments]
    assert ends == [(0, 149), (150, 299), (300, 499), (500, 559)]
    assert [one.count for one in detected.analysis.segments] == [150, 150, 200, 60]


@pytest.mark.parametrize("beyond", [-65, -63, -2, -1, 0, 1, 2, 8, 64])
def test_a_change_where_a_window_begins_is_reported_once(beyond):
    at_index, count = BLOCK + GUARD + beyond, KEPT + BLOCK + 16
    detected = detect(series(stepped(count, (at_index, -0.05)), seed=at_index + 1))

    assert [abs(one - at_index) <= 1 for one in at(detected)] == [True]
    assert sum(one.count for one in detected.analysis.segments) == count
    ends = [(one.first.position, one.last.position) for one in detected.analysis.segments]
    assert [last + 1 for _, last in ends] == [*(first for first, _ in ends[1:]), count]


def test_a_settled_part_never_changes():
    points = series(LONG)
    early = detect(points[:515]).others

    later = detect(points).others

    assert early.steps[:1] == later.steps[:1]
    assert early.excursions == later.excursions


def test_the_stored_state_is_bounded():
    most = KEPT + BLOCK - 4
    calm = series(np.zeros(2 * most))
    state = advance(start(), calm[:most])
    sizes = [len(json.dumps(state.to_data()))]
    sizes.append(len(json.dumps(advance(state, calm[most:]).to_data())))

    assert sizes[1] < 1.2 * sizes[0]


def test_what_is_settled_is_carried_along_as_text_and_written_anew_where_there_is_more():
    points = series(stepped(800, (150, -0.05), (300, 0.04), (500, -0.06)))
    state = State.from_data(json.loads(json.dumps(advance(start(), points[:520]).to_data())))
    first = state.to_data()

    same = advance(state, points[520:521]).to_data()
    later = advance(state, points[520:]).to_data()

    assert first["past"]
    assert same["past"] is first["past"]
    assert same["window"]["settled"] is first["window"]["settled"]
    assert later["past"] != first["past"]
    assert later["window"]["settled"] != first["window"]["settled"]
    assert later == advance(start(), points).to_data()


def test_the_fold_finds_when_and_levels_find_how_large():
    points = series(stepped(60, (30, -0.08)))
    [online] = update.detect(points).changes

    detected = detect(points)

    [change] = detected.analysis.changes
    [step] = detected.others.steps
    assert change.confirmed_by == online.confirmed_by
    assert (change.change_pct, change.low_pct) == (step.finding.pct, step.finding.low_pct)
    assert change.low_pct < 100 * np.expm1(-0.08) < change.high_pct


def test_levels_that_return_stand_although_the_fold_finds_none():
    shift = np.zeros(75)
    for first, stop in ((15, 26), (37, 48), (59, 68)):
        shift[first:stop] = np.log(0.95)
    for seed in range(40):
        points = series(shift, seed)
        if not update.detect(points).changes:
            break
    else:
        pytest.fail("the online update reports some in each series")

    detected = detect(points)

    found = at(detected)
    assert len(found) >= 5
    assert all(change.confirmed_by is not None for change in detected.analysis.changes)


def test_what_the_fold_takes_for_steps_in_growing_noise_does_not_stand():
    detected, online = 0, 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        values = np.concatenate((draw(rng, np.zeros(100)), draw(rng, np.zeros(80), NOISY)))
        points = series_of(values)
        online += len(update.detect(points).changes)
        detected += len(
            [one for one in detect(points).analysis.changes if one.state == "confirmed"]
        )

    assert online >= 6
    assert detected <= 2


def test_what_the_fold_takes_for_steps_among_two_modes_does_not_stand():
    detected, online = 0, 0
    for seed in range(4):
        points = series_of(with_modes(np.random.default_rng(seed), 0.0, 0.2, -18.0))
        online += len(update.detect(points).changes)
        detected += len(
            [one for one in detect(points).analysis.changes if one.state == "confirmed"]
        )

    assert online >= 12
    assert detected <= 1


def test_a_young_series_has_the_word_of_the_fold():
    points = series(stepped(8, (5, -0.3)))[:5]

    assert detect(points).analysis == update.detect(points)


def test_a_change_that_only_the_fold_finds_is_retracted_once_levels_could_bear_it_out():
    for seed in range(60):
        points = series(stepped(70, (35, -0.016)), seed)
        online = update.detect(points)
        detected = detect(points)
        if online.changes and not detected.others.steps:
            break
    else:
        pytest.fail("both agree in each series")

    assert detected.analysis.changes == ()
    assert online.changes[0].revision in [one.revision for one in detected.analysis.retracted]
