"""Call trees: from stacks and back, added, packed, counted by function."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from webapp.stats.profiles.calls import Calls, Function, added, calls_of, packed, unpacked

names = st.sampled_from([Function(name, "kernel") for name in "abcd"])
stacks = st.dictionaries(
    st.lists(names, min_size=1, max_size=6).map(tuple), st.integers(1, 9), max_size=8
)
sections = st.lists(stacks, min_size=1, max_size=3)


def summed(parts: list[dict[tuple[Function, ...], int]]) -> Counter[tuple[Function, ...]]:
    found: Counter[tuple[Function, ...]] = Counter()
    for part in parts:
        found.update(part)
    return found


def same(one: Calls, other: Calls) -> bool:
    return one.functions == other.functions and all(
        (getattr(one, column) == getattr(other, column)).all()
        for column in ("parent", "function", "counts")
    )


@given(sections)
def test_a_call_tree_gives_back_its_stacks(parts: list[dict[tuple[Function, ...], int]]) -> None:
    assert Counter(dict(calls_of(parts).stacks())) == summed(parts)


@given(sections)
def test_what_is_packed_comes_back(parts: list[dict[tuple[Function, ...], int]]) -> None:
    calls = calls_of(parts)
    assert same(unpacked(packed(calls), calls.functions), calls)


@given(sections, sections)
def test_added_trees_hold_the_stacks_of_both(
    one: list[dict[tuple[Function, ...], int]], other: list[dict[tuple[Function, ...], int]]
) -> None:
    both = added([calls_of(one), calls_of(other)])
    assert Counter(dict(both.stacks())) == summed([*one, *other])
    assert len(both.counts) == len(one) + len(other)


@given(sections)
def test_a_function_counts_once_a_sample_whose_stack_holds_it(
    parts: list[dict[tuple[Function, ...], int]],
) -> None:
    calls = calls_of(parts)
    own, inclusive = calls.own().sum(axis=0), calls.inclusive().sum(axis=0)
    for index, function in enumerate(calls.functions):
        stacks = summed(parts).items()
        assert own[index] == sum(count for stack, count in stacks if stack[-1] == function)
        assert inclusive[index] == sum(count for stack, count in stacks if function in stack)
