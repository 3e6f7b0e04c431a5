import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from webapp.stats.compare.comparing import BuildNoise, Verdict, compare
from webapp.stats.compare.many import VERDICTS, Comparisons, Moments, compare_many
from webapp.stats.errors import NotFiniteError, OutOfRangeError

finite = st.floats(-1e150, 1e150)
side = st.tuples(st.integers(1, 12), finite, st.floats(0, 1e300))


def moments(sets: list[np.ndarray]) -> Moments:
    n = [len(values) for values in sets]
    variance = [values.var(ddof=1) if len(values) > 1 else 0 for values in sets]
    return Moments(n, [values.mean() for values in sets], variance)


def verdicts(found: Comparisons) -> list[Verdict]:
    return [VERDICTS[code] for code in found.verdict]


def none(value: float | None) -> float:
    return np.nan if value is None else value


@pytest.mark.parametrize("noise", [None, BuildNoise(2, 12)])
@pytest.mark.parametrize("better", ["more", "less"])
def test_rows_with_a_few_percent_of_scatter_agree_with_single_comparisons(better, noise) -> None:
    random = np.random.default_rng(1)
    levels = random.uniform(1e-3, 1e9, 300)
    first = [random.normal(x, 0.01 * x, random.integers(2, 9)) for x in levels]
    shifts = random.normal(1, 0.02, 300)
    second = [
        random.normal(x * s, 0.01 * x, random.integers(2, 9))
        for x, s in zip(levels, shifts, strict=True)
    ]
    known = {} if noise is None else {"build_percent": noise.percent, "build_df": noise.df}
    many = compare_many(moments(first), moments(second), better=better, **known)
    single = [
        compare(a, b, better=better, build_noise=noise) for a, b in zip(first, second, strict=True)
    ]
    assert many.percent == pytest.approx([one.change.percent for one in single], abs=0.06)
    width = np.array([one.change.high - one.change.low for one in single])
    assert np.abs(many.low - [one.change.low for one in single]).max() < 0.06 * width.max()
    assert np.mean([m is one.verdict for m, one in zip(verdicts(many), single, strict=True)]) > 0.98


def test_rows_with_means_of_any_sign_are_the_same_as_single_comparisons() -> None:
    random = np.random.default_rng(2)
    first = [
        random.normal(random.choice([-5, 0, 0.5, 5]), 1, random.integers(1, 7)) for _ in range(300)
    ]
    second = [-np.abs(random.normal(4, 1, random.integers(1, 7))) for _ in range(300)]
    many = compare_many(moments(first), moments(second))
    single = [compare(a, b) for a, b in zip(first, second, strict=True)]
    assert verdicts(many) == [one.verdict for one in single]
    for column in ("percent", "low", "high", "visible", "df"):
        expected = [none(getattr(one.change, column)) for one in single]
        assert getattr(many, column) == pytest.approx(expected, rel=1e-4, nan_ok=True), column


def test_rows_without_scatter_follow_the_rule_of_ranks() -> None:
    n = [1, 3, 5, 5, 5, 5]
    found = compare_many(Moments(n, [1, 1, 1, 1, 0, 0], 0), Moments(n, [1, 1, 1, 2, 0, 1], 0))
    expected = [
        compare([a] * k, [b] * k)
        for k, a, b in zip(n, [1, 1, 1, 1, 0, 0], [1, 1, 1, 2, 0, 1], strict=True)
    ]
    assert verdicts(found) == [one.verdict for one in expected]
    assert found.percent == pytest.approx(
        [none(one.change.percent) for one in expected], nan_ok=True
    )


def test_the_direction_may_differ_from_row_to_row() -> None:
    rows = compare_many(
        Moments(5, [100, 100], 1), Moments(5, [110, 110], 1), better=["more", "less"]
    )
    assert verdicts(rows) == [Verdict.BETTER, Verdict.WORSE]


def test_negligible_rows_are_marked() -> None:
    found = compare_many(Moments(5, 100, 0.01), Moments(5, 101, 0.01))
    assert verdicts(found) == [Verdict.EQUIVALENT]
    assert found.negligible.tolist() == [True]


def test_no_rows_are_no_comparisons() -> None:
    found = compare_many(Moments([], [], []), Moments([], [], []))
    assert found.verdict.shape == (0,)


@given(st.lists(st.tuples(side, side), min_size=1, max_size=5), st.floats(0, 5))
def test_no_finite_moments_raise_or_prove_what_has_no_interval(rows, build) -> None:
    a, b = (Moments(*map(list, zip(*sides, strict=True))) for sides in zip(*rows, strict=True))
    found = compare_many(a, b, build_percent=build, build_df=9)
    alone = np.minimum(a.n, b.n) == 1
    assert (found.verdict[alone] == 0).all()
    decided = np.isin(found.verdict, (2, 3))
    assert (found.proven[decided] != 0).all()
    bounded = ~np.isnan(found.low)
    assert (found.low[bounded] <= found.high[bounded]).all()


def test_moments_out_of_range_are_refused() -> None:
    good = Moments(5, 1, 1)
    for bad in (Moments(5, np.nan, 1), Moments(5, 1, np.inf)):
        with pytest.raises(NotFiniteError):
            compare_many(good, bad)
    for bad in (Moments(0, 1, 1), Moments(5, 1, -1)):
        with pytest.raises(OutOfRangeError):
            compare_many(bad, good)
    with pytest.raises(OutOfRangeError):
        compare_many(good, good, build_percent=-1)
