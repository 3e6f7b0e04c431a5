"""Where the frames of a flame graph lie."""

from collections import Counter, defaultdict
from dataclasses import replace
from time import process_time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.charts.flame.trees import (
    callers,
    drawn,
    large_calls,
    of_function,
    overlaps,
    random_calls,
    stacks,
)
from webapp.charts.flame.layout import (
    MOST_FRAMES,
    MOST_RESTS,
    Flame,
    Kind,
    NoSuchFrame,
    difference,
    frames,
)
from webapp.stats.profiles.calls import Calls
from webapp.stats.profiles.sides import aligned

EVERY = 1e-9
"""Pixels: no frame is too narrow."""

SIMPLE = stacks("a;b;c@pf.ko 6", "a;b 3", "a;d@if_igb.ko 1", "idle;wait 10")
VIEWS = [(reverse, by_module) for reverse in (False, True) for by_module in (False, True)]


def places(flame: Flame) -> dict[tuple[str, int], tuple[float, float]]:
    return {(one.name, one.depth): (one.x, one.width) for one in flame.frames}


def by_path(flame: Flame) -> dict[tuple[str, ...], float]:
    found: dict[tuple[str, ...], float] = {}
    path: list[str] = []
    for frame in flame.frames:
        del path[frame.depth :]
        path.append(frame.name)
        found[tuple(path)] = frame.total
    return found


def test_callees_lie_below_their_caller_the_largest_first() -> None:
    assert places(frames(SIMPLE)) == {
        ("all", 0): (0, 20),
        ("a", 1): (0, 10),
        ("idle", 1): (10, 10),
        ("b", 2): (0, 9),
        ("d", 2): (9, 1),
        ("wait", 2): (10, 10),
        ("c", 3): (0, 6),
    }


def test_a_frame_knows_its_samples_and_their_share() -> None:
    flame = frames(SIMPLE, hide=of_function(SIMPLE, "idle"))
    b = next(one for one in flame.frames if one.name == "b")
    assert (b.total, b.own, b.percent, b.percent_drawn) == (9, 3, 45, 90)
    assert b.change is None


def test_hidden_samples_are_not_drawn_and_stay_in_the_denominator() -> None:
    flame = frames(SIMPLE, hide=of_function(SIMPLE, "idle"))
    assert {one.name for one in flame.frames} == {"all", "a", "b", "c", "d"}
    assert (flame.all, flame.drawn, flame.width) == (20, 10, 10)


@settings(max_examples=20)
@given(seed=st.integers(0, 10_000), view=st.sampled_from(VIEWS), least=st.sampled_from([EVERY, 20]))
def test_frames_lie_within_their_callers_and_beside_one_another(
    seed: int, view: tuple[bool, bool], least: float
) -> None:
    reverse, by_module = view
    flame = frames(random_calls(seed), reverse=reverse, by_module=by_module, least_px=least)
    slack = 1e-6 * flame.width
    sums: dict[int, float] = defaultdict(float)
    for caller, frame in callers(flame):
        assert frame.depth == caller.depth + 1
        assert caller.x - slack <= frame.x
        assert frame.x + frame.width <= caller.x + caller.width + slack
        sums[id(caller)] += frame.width
    assert all(sums[id(one)] + one.own <= one.width + slack for one in drawn(flame))
    assert overlaps(flame) == []


@settings(max_examples=20)
@given(seed=st.integers(0, 10_000))
def test_a_graph_is_the_tree_with_its_totals(seed: int) -> None:
    calls = random_calls(seed, number=60)
    found = by_path(frames(calls, least_px=EVERY))
    expected: Counter[tuple[str, ...]] = Counter()
    for stack, count in calls.stacks():
        for end in range(len(stack) + 1):
            expected["all", *(one.name for one in stack[:end])] += count
    assert found == expected


@settings(max_examples=20)
@given(seed=st.integers(0, 10_000))
def test_a_reversed_graph_begins_with_what_ran(seed: int) -> None:
    calls = random_calls(seed, number=60)
    found = by_path(frames(calls, reverse=True, least_px=EVERY))
    expected: Counter[tuple[str, ...]] = Counter()
    for stack, count in calls.stacks():
        path = [one.name for one in reversed(stack)]
        for end in range(len(path) + 1):
            expected["all", *path[:end]] += count
    assert found == expected


@settings(max_examples=20)
@given(seed=st.integers(0, 10_000), reverse=st.booleans())
def test_by_module_begins_with_the_module_of_what_ran(seed: int, reverse: bool) -> None:
    calls = random_calls(seed, number=60)
    found = by_path(frames(calls, by_module=True, reverse=reverse, least_px=EVERY))
    expected: Counter[tuple[str, ...]] = Counter()
    for stack, count in calls.stacks():
        names = [one.name for one in stack]
        path = [stack[-1].module or "no module", *(reversed(names) if reverse else names)]
        for end in range(len(path) + 1):
            expected["all", *path[:end]] += count
    assert found == expected


@pytest.mark.parametrize("reverse", [False, True])
def test_the_modules_beyond_the_largest_are_one(reverse: bool) -> None:
    calls = stacks(*(f"f@m{one} {100 + one}" for one in range(20)))
    found = by_path(frames(calls, by_module=True, reverse=reverse))
    modules = {path[1]: total for path, total in found.items() if len(path) == 2}
    assert modules.pop("other modules") == sum(100 + one for one in range(5))
    assert modules == {f"m{one}": 100 + one for one in range(5, 20)}


@pytest.mark.parametrize(("reverse", "by_module"), VIEWS)
def test_a_root_fills_the_picture_below_its_callers(reverse: bool, by_module: bool) -> None:
    calls = random_calls(3)
    whole = frames(calls, reverse=reverse, by_module=by_module, least_px=EVERY)
    chosen = next(one for one in whole.frames if one.depth == 2)
    flame = frames(calls, reverse=reverse, by_module=by_module, root=chosen.key, least_px=EVERY)
    above = [one for one in flame.frames if one.kind is Kind.ABOVE]
    assert [(one.depth, one.x, one.width) for one in above] == [
        (depth, 0, chosen.total) for depth in range(2)
    ]
    root, *below = drawn(flame)
    assert replace(root, x=0.0) == replace(chosen, x=0.0)
    at = whole.frames.index(chosen)
    inside = whole.frames[at + 1 : at + 1 + len(below)]
    assert [(one.key, one.total) for one in below] == [(one.key, one.total) for one in inside]
    assert len(below) > 3


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("key", ["0" * 16, "nonsense", "f" * 17, "١" * 16])
def test_a_root_that_there_is_not_is_refused(key: str, reverse: bool) -> None:
    with pytest.raises(NoSuchFrame):
        frames(SIMPLE, root=key, reverse=reverse)


def test_a_hidden_root_is_refused() -> None:
    key = next(one.key for one in frames(SIMPLE).frames if one.name == "wait")
    with pytest.raises(NoSuchFrame):
        frames(SIMPLE, root=key, hide=of_function(SIMPLE, "idle"))


def test_a_path_has_one_key_in_every_profile() -> None:
    other = stacks("x 1", "a;d@if_igb.ko 5", "a;b;c@pf.ko 1")
    keys = [
        {(one.name, one.depth): one.key for one in frames(calls).frames}
        for calls in (SIMPLE, other)
    ]
    shared = keys[0].keys() & keys[1].keys()
    assert shared == {("all", 0), ("a", 1), ("b", 2), ("c", 3), ("d", 2)}
    assert all(keys[0][one] == keys[1][one] for one in shared)
    assert len(set(keys[0].values())) == len(keys[0])


@pytest.mark.parametrize("reverse", [False, True])
def test_narrower_frames_are_one_mark_as_wide_as_all_of_them(reverse: bool) -> None:
    many = [f"a;f{one} 1" for one in range(200)]
    flame = frames(stacks("a;b 800", *many), width=1000, least_px=2, reverse=reverse)
    (mark,) = (one for one in flame.frames if one.kind is Kind.REST)
    assert (mark.x, mark.width, mark.name) == (800, 200, "")
    assert {one.name for one in drawn(flame)} == {"all", "a", "b"}


def test_an_empty_profile_and_one_all_hidden_are_one_frame_without_width() -> None:
    for calls in (stacks(), stacks("idle 3")):
        for reverse in (False, True):
            hide = of_function(calls, "idle")
            (top,) = frames(calls, hide=hide, reverse=reverse).frames
            assert (top.name, top.width, top.percent, top.percent_drawn) == ("all", 0, 0, 0)


@pytest.fixture(scope="module")
def large() -> Calls:
    return large_calls()


@pytest.mark.parametrize(("reverse", "by_module"), VIEWS)
def test_a_hundred_thousand_stacks_take_three_tenths_of_a_second(
    large: Calls, reverse: bool, by_module: bool
) -> None:
    assert np.count_nonzero(large.counts) > 100_000
    begin = process_time()
    flame = frames(large, reverse=reverse, by_module=by_module, least_px=0.05)
    assert process_time() - begin < 0.3  # a tenth where two cores do other things too
    assert 2000 < len(flame.frames) <= MOST_FRAMES + MOST_RESTS + 1


def test_a_difference_is_as_wide_as_side_b_and_knows_side_a() -> None:
    a, b = stacks("a;b 6", "a;gone 4", "idle 10"), stacks("a;b 2", "a;new 6", "idle 2")
    both = aligned(a, b)
    hide = of_function(both.calls, "idle")
    flame = difference(both.calls, a=both.a * 5.0, b=both.b * 10.0, hide=hide)
    found = {one.name: (one.width, one.before, one.change) for one in flame.frames}
    assert found == {
        "all": (80, 50, 30),
        "a": (80, 50, 30),
        "b": (20, 30, -10),
        "new": (60, 0, 60),
    }
    assert (flame.all, flame.is_difference) == (100, True)


@settings(max_examples=20)
@given(seed=st.integers(0, 10_000), reverse=st.booleans())
def test_a_difference_to_itself_has_no_change(seed: int, reverse: bool) -> None:
    both = aligned(random_calls(seed), random_calls(seed))
    flame = difference(both.calls, a=both.a / 7, b=both.b / 7, reverse=reverse)
    assert {one.change for one in drawn(flame)} == {0}


def test_aligned_sides_keep_their_samples() -> None:
    a, b = random_calls(1), random_calls(2)
    both = aligned(a, b)
    assert (both.a.sum(), both.b.sum()) == (a.samples, b.samples)
    for side, calls in ((both.a, a), (both.b, b)):
        again = Calls(both.calls.functions, both.calls.parent, both.calls.function, side[None])
        assert dict(again.stacks()) == dict(calls.stacks())
