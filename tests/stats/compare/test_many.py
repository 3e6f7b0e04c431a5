"""Summaries compared in one call give what single comparisons of the samples give."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webapp.stats import OutOfRangeError
from webapp.stats.compare.comparing import BuildNoise, Comparison, Verdict, compare
from webapp.stats.compare.levels import Samples, summarize
from webapp.stats.compare.many import VERDICTS, Comparisons, compare_many
from webapp.stats.compare.summaries import LEVELS, Summaries

finite = st.floats(-1e300, 1e300)
counts = st.integers(0, 9).map(float)
ordinary = st.floats(90, 110)
noises = st.none() | st.builds(BuildNoise, st.floats(0, 9), st.floats(1, 40))


def sets(numbers: st.SearchStrategy[float]) -> st.SearchStrategy[Samples]:
    """Up to twelve runs, in up to four boots of up to three builds, with or without the labels."""
    rows = st.lists(
        st.tuples(numbers, st.integers(0, 3), st.sampled_from("pqr")), min_size=1, max_size=12
    )
    return st.builds(_labelled, rows, st.booleans(), st.booleans())


def _labelled(
    rows: Sequence[tuple[float, int, str]], with_boots: bool, with_builds: bool
) -> Samples:
    numbers, boots, builds = zip(*rows, strict=True)
    return Samples(
        numbers, boots=boots if with_boots else None, builds=builds if with_builds else None
    )


def many(
    a: Sequence[Samples],
    b: Sequence[Samples],
    noise: BuildNoise | None = None,
    *,
    same_build: bool | None = None,
    **settings: object,
) -> Comparisons:
    sides = (Summaries([summarize(one) for one in side]) for side in (a, b))
    same = [same_build] * len(a)
    return compare_many(*sides, build_noise=[noise] * len(a), same_build=same, **settings)


def verdicts(found: Comparisons) -> list[Verdict]:
    return [VERDICTS[code] for code in found.verdict]


def none(value: float | None) -> float:
    return np.nan if value is None else value


def agree(row: int, found: Comparisons, single: Comparison) -> None:
    change = single.change
    assert VERDICTS[found.verdict[row]] is single.verdict
    assert LEVELS[found.unit[row]] is change.unit
    assert found.proven[row] == change.proven
    assert found.negligible[row] == single.negligible
    assert found.one_build[row] == single.one_build
    for column in ("percent", "low", "high", "df", "p"):
        expected = pytest.approx(none(getattr(change, column)), rel=1e-9, abs=1e-9, nan_ok=True)
        assert getattr(found, column)[row] == expected, column
    visible = np.minimum([found.visible[row], none(change.visible)], 1e300)  # a table's millionth
    assert visible[0] == pytest.approx(visible[1], rel=1e-3, abs=1e-9, nan_ok=True)


@settings(max_examples=100)
@given(
    st.lists(st.tuples(sets(ordinary), sets(ordinary)), min_size=1, max_size=4),
    noises,
    st.sampled_from([True, False, None]),
)
def test_summaries_compare_as_the_samples_do(pairs, noise, same_build) -> None:
    first, second = zip(*pairs, strict=True)
    found = many(first, second, noise, same_build=same_build)
    for row, (a, b) in enumerate(pairs):
        agree(row, found, compare(a, b, build_noise=noise, same_build=same_build))


@settings(max_examples=100)
@given(st.tuples(sets(finite), sets(finite)), noises)
def test_summaries_of_any_sign_and_size_compare_as_the_samples_do(pair, noise) -> None:
    agree(0, many([pair[0]], [pair[1]], noise), compare(*pair, build_noise=noise))


@settings(max_examples=100)
@given(st.tuples(sets(counts), sets(counts)), noises)
def test_summaries_of_counts_compare_as_the_samples_do(pair, noise) -> None:
    agree(0, many([pair[0]], [pair[1]], noise), compare(*pair, build_noise=noise))


def test_what_is_read_back_from_json_compares_the_same() -> None:
    random = np.random.default_rng(1)
    pairs = [(random.normal(100, 1, 5), random.normal(101, 1, 7)) for _ in range(200)]
    found = many([Samples(a) for a, _ in pairs], [Samples(b) for _, b in pairs])
    for row, (a, b) in enumerate(pairs):
        agree(row, found, compare(a, b))


def test_very_many_rows_use_a_table_that_is_right_to_a_millionth() -> None:
    random = np.random.default_rng(2)
    pairs = [(random.normal(100, 1, 3), random.normal(101, 1, 4)) for _ in range(100)] * 50
    found = many([Samples(a) for a, _ in pairs], [Samples(b) for _, b in pairs])
    few = many([Samples(a) for a, _ in pairs[:100]], [Samples(b) for _, b in pairs[:100]])
    assert found.low[:100] == pytest.approx(few.low, rel=1e-5)


def test_rows_without_scatter_follow_the_rule_of_ranks() -> None:
    sizes = [1, 3, 5, 5, 5, 5]
    a, b = [1, 1, 1, 1, 0, 0], [1, 1, 1, 2, 0, 1]
    first = [Samples([x] * n) for x, n in zip(a, sizes, strict=True)]
    second = [Samples([x] * n) for x, n in zip(b, sizes, strict=True)]
    found = many(first, second)
    for row, pair in enumerate(zip(first, second, strict=True)):
        agree(row, found, compare(*pair))


def test_the_direction_may_differ_from_row_to_row() -> None:
    lower, higher = Samples([99, 100, 101]), Samples([109, 110, 111])
    rows = many([lower] * 2, [higher] * 2, better=["more", "less"])
    assert verdicts(rows) == [Verdict.BETTER, Verdict.WORSE]


def test_no_rows_are_no_comparisons() -> None:
    assert many([], []).verdict.shape == (0,)


def test_settings_out_of_range_are_refused() -> None:
    one = Summaries([summarize(Samples([1, 2]))])
    with pytest.raises(OutOfRangeError):
        compare_many(one, one, margin=-1)
    with pytest.raises(OutOfRangeError):
        compare_many(one, one, confidence=94)
    with pytest.raises(ValueError, match="as many"):
        compare_many(one, Summaries([]))
