"""What the online update reports first and what levels show still stands, as one."""

import json
from dataclasses import replace

import numpy as np
import pytest

from benchmarks import online as update
from benchmarks.cells import series_of
from benchmarks.worlds.noises import with_modes
from benchmarks.worlds.reading import USUAL, draw
from tests.stats.series import simulated
from webapp.stats.changes import (
    Point,
    State,
    advance,
    detect,
    present,
    recoveries,
    start,
    why_flagged,
)
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


def test_a_rate_that_is_lost_is_a_change_until_more_is_measured_again():
    points = simulated(revisions=60)

    def lost(first, stop, samples=(0.0, 0.0)):
        return detect(
            replace(one, samples=samples, boots=None, builds=None) if first <= i < stop else one
            for i, one in enumerate(points)
        ).analysis

    [stays] = lost(57, 60).changes
    assert (stays.previous.label, stays.revision.label, stays.back) == ("r56", "r57", None)
    assert (stays.change_pct, stays.low_pct, stays.high_pct) == (-100, -100, -100)
    assert stays.before == pytest.approx(lost(57, 60).segments[-1].level)
    assert (stays.level, stays.revisions_before, stays.revisions_after) == (0, 57, 3)
    # One half of 58 (Jeffreys) to the third power; two revisions are enough.
    assert stays.p_value == pytest.approx((0.5 / 58) ** 3)
    assert stays.confirmed_by is not None
    assert stays.confirmed_by.label == "r58"

    usual = points[56].samples[0]
    assert lost(57, 60, (0.0, 0.0, 0.0, usual, usual)).changes == (stays,), "most samples failed"
    assert all(one.level for one in lost(57, 60, (0.0, 0.0, usual, usual)).changes), "half did"

    [over] = lost(40, 43).changes
    assert over.back is not None
    assert over.back.label == "r43"
    assert recoveries([over]) == (over.back,)
    assert "on measured 0." in why_flagged(over, lost(40, 43))
    assert "r43 measured more again." in why_flagged(over, lost(40, 43))

    for first, stop, samples in (
        (30, 31, (0.0,)),
        (2, 4, (0.0,)),
        (0, 5, (0.0,)),
        (40, 45, (-1.0,)),
    ):
        assert lost(first, stop, samples).changes == (), "one; too few before; none; below 0"


def test_a_rate_that_fails_now_and_then_is_lost_only_where_more_fail_than_ever():
    points = simulated(revisions=60)
    failing = [*range(0, 48, 6), *range(55, 60)]
    odd = [
        replace(one, samples=(0.0,), boots=None, builds=None) if i in failing else one
        for i, one in enumerate(points)
    ]

    assert detect(odd[:57]).analysis.changes == ()
    [found] = detect(odd).analysis.changes
    assert found.revision.label == "r55"
    # Eight of 55 failed before: 8.5 of 56 to the power of 4 is the first below one in a thousand.
    assert found.confirmed_by is not None
    assert found.confirmed_by.label == "r58"


def test_where_less_is_better_zero_is_no_loss():
    points = [
        replace(one, samples=(0.0,), boots=None, builds=None) if i > 50 else one
        for i, one in enumerate(simulated(revisions=60))
    ]
    assert detect(points, better="less").analysis.changes == ()


def test_a_rate_that_is_lost_is_found_whatever_the_pieces_it_came_in():
    points = [
        replace(one, samples=(0.0,), boots=None, builds=None)
        if i in (30, 31, 50, 57, 58, 59)
        else one
        for i, one in enumerate(simulated(revisions=60))
    ]
    state = start()
    for point in points:
        state = State.from_data(json.loads(json.dumps(advance(state, [point]).to_data())))
    whole = advance(start(), points)

    assert state.to_data() == whole.to_data()
    assert present(state, "more") == present(whole, "more")
    lost = [
        (one.revision.label, one.back and one.back.label) for one in detect(points).analysis.changes
    ]
    assert lost == [("r30", "r32"), ("r57", None)]


def test_a_count_that_rises_from_0_scatters_from_there_on():
    others = 0
    for seed in range(20):
        counts = np.random.default_rng(seed).poisson(np.r_[[0] * 30, [30] * 12][:, None], (42, 5))
        found = at(detect(series_of(np.maximum(counts, 1).astype(float))))
        assert 30 in found
        others += len(found) - 1
    assert others <= 2


@pytest.mark.parametrize(("low", "high"), [(3, 4), (12, 13), (40, 41)])
def test_equal_whole_numbers_have_no_memory(low, high):
    """Distances from a level that are those of arithmetic alone all have one sign."""
    points = [Point(i, f"r{i}", [float(high if i >= 30 else low)] * 5) for i in range(60)]

    [change] = detect(points).analysis.changes

    assert change.revision.label == "r30"
    assert (change.after.position, change.last.position) >= (28, 30)
    assert change.last.position <= 31
    assert change.here > 0.7
    assert change.probability > 0.95
    assert change.confirmed_by is not None
    assert change.confirmed_by.position <= 33
