"""Findings are a function of the points alone, and one more point costs no more than the last."""

import json
from dataclasses import replace
from time import perf_counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.online import advance, detect
from tests.stats.series import simulated
from webapp.stats.changes import BadSeriesError
from webapp.stats.changes.online_analysis import present
from webapp.stats.changes.online_state import RING, OnlineState
from webapp.stats.simulate import Drift, OutlierRevision, OutlierSample, Scatter, Step

SERIES = {
    "step": simulated(Step(40, -4.0), Step(90, 3.0), revisions=150),
    "drift": simulated(Drift(30, 120, -9.0), Step(130, 5.0), revisions=150),
    "odd": simulated(
        OutlierRevision(20, 30.0), OutlierSample(50, 1e-6), Step(90, 2.0), revisions=150
    ),
    "noisy": simulated(revisions=300, scatter=Scatter(build=0.02, memory=0.6), seed=11),
    "bimodal": simulated(Step(100, 8.0), revisions=150, scatter=Scatter(two_modes=True)),
}


@pytest.mark.parametrize("name", SERIES)
def test_reading_one_by_one_and_all_at_once_find_exactly_the_same(name):
    state = OnlineState()
    for stop, point in enumerate(SERIES[name], 1):
        state = advance(state, [point])
        if stop % 10 == 0:
            assert present(state, "more") == detect(SERIES[name][:stop])


@pytest.mark.parametrize("name", SERIES)
@given(data=st.data())
@settings(max_examples=15)
def test_batches_and_storage_between_them_change_nothing(name, data):
    points = SERIES[name]
    cuts = data.draw(st.lists(st.integers(0, len(points)), max_size=5).map(sorted))
    state = OnlineState()
    for first, last in zip([0, *cuts], [*cuts, len(points)], strict=True):
        state = advance(state, points[first:last])
        state = OnlineState.from_data(json.loads(json.dumps(state.to_data())))

    assert present(state, "less") == detect(points, better="less")


@pytest.mark.parametrize("name", SERIES)
@given(data=st.data())
@settings(max_examples=10)
def test_the_order_of_arrival_changes_nothing(name, data):
    points = SERIES[name]

    assert detect(data.draw(st.permutations(points))) == detect(points)


@pytest.mark.parametrize("name", SERIES)
def test_a_late_point_read_from_the_state_before_it_ends_where_timely_arrival_ends(name):
    points = SERIES[name]
    late = points[100]
    states = {}
    state = OnlineState()
    for point in (p for p in points if p is not late):
        state = advance(state, [point])
        states[point.position] = state

    before = max(position for position in states if position < late.position)
    again = advance(states[before], [p for p in points if p.position > before])

    assert present(again, "more") == detect(points)


@pytest.mark.parametrize("name", SERIES)
def test_advancing_leaves_the_state_before_as_it_was(name):
    state = OnlineState()
    for first in range(0, len(SERIES[name]), 7):
        stored = json.dumps(state.to_data())
        following = advance(state, SERIES[name][first : first + 7])
        assert json.dumps(state.to_data()) == stored
        state = following


def test_samples_in_any_order_give_the_same():
    points = SERIES["step"]

    turned = [replace(point, samples=point.samples[::-1]) for point in points]

    assert detect(turned) == detect(points)


def test_a_point_out_of_order_is_refused_with_the_remedy():
    points = SERIES["step"]
    state = advance(OnlineState(), points[:50])

    with pytest.raises(BadSeriesError, match="from a state before it"):
        advance(state, [points[49]])


def test_a_state_of_another_version_is_refused():
    data = advance(OnlineState(), SERIES["step"][:5]).to_data()

    with pytest.raises(ValueError, match="analyse the series anew"):
        OnlineState.from_data({**data, "version": 0})


def test_the_stored_state_is_bounded():
    points = simulated(revisions=2000, scatter=Scatter())
    fullest = [2 * RING - 1 + k * RING for k in (1, 18)]  # just before the oldest are dropped

    early, late = (len(json.dumps(advance(OnlineState(), points[:n]).to_data())) for n in fullest)

    assert late < 40_000
    assert late < 1.2 * early


def test_one_more_revision_costs_the_same_at_sixty_and_at_five_thousand():
    points = simulated(revisions=5001, scatter=Scatter())
    early, late = advance(OnlineState(), points[:60]), advance(OnlineState(), points[:5000])

    assert _quickest(late, points[5000:]) < 3 * _quickest(early, points[60:61]) + 1e-3


def _quickest(state, points):
    times = []
    for _ in range(20):
        begin = perf_counter()
        present(advance(state, points), "more")
        times.append(perf_counter() - begin)
    return min(times)


@pytest.mark.parametrize("seed", range(4))
def test_what_memory_makes_of_long_series_never_outlives_the_kept_revisions(seed):
    """Strong memory makes breaks late and far back; each is settled while the ring holds it."""
    memory = Scatter(run=0.005, build=0.01, memory=0.6)
    state = OnlineState()
    for point in simulated(revisions=700, scatter=memory, seed=seed):
        state = advance(state, [point])
        if state.breaks and not state.breaks[-1].settled:
            assert state.breaks[-1].index - 2 >= state.ring.start


@pytest.mark.parametrize("seed", range(3))
def test_the_sums_of_every_regime_are_those_of_its_revisions(seed):
    """Through breaks, moves, retractions, bends and a ring that forgets: counts never slip."""
    drifting = Scatter(run=0.005, build=0.004, memory=0.3)
    events = (Drift(50, 390, -30.0), Step(420, 4.0), OutlierRevision(300, 20.0))
    state = OnlineState()
    for i, point in enumerate(simulated(*events, revisions=500, scatter=drifting, seed=seed)):
        state = advance(state, [point])
        regimes = state.regimes
        assert sum(regime.count for regime in regimes) == i + 1
        assert [r.first + r.count for r in regimes] == [*(r.first for r in regimes[1:]), i + 1]
        assert len(state.breaks) == len(regimes) - 1
        newest = regimes[-1]
        at = newest.first - state.ring.start
        if at >= 0:
            assert newest.weight == pytest.approx(sum(state.ring.weight[at:]))
            assert newest.total == pytest.approx(
                sum(
                    w * c
                    for w, c in zip(state.ring.weight[at:], state.ring.clipped[at:], strict=True)
                )
            )
