"""What must hold for any numbers at all."""

import math
from dataclasses import fields, is_dataclass, replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from benchmarks.online import detect
from tests.stats.series import confirmed, simulated
from webapp.stats.changes import BadSeriesError, Point
from webapp.stats.changes.explain import what_helps, why_flagged, why_not
from webapp.stats.simulate import Drift, OutlierSample, Step

SERIES = simulated(Step(30, -5.0), Drift(50, 80, 4.0), OutlierSample(20, 1e-6), revisions=100)


def series_of(rows):
    return [Point(i, f"r{i}", row) for i, row in enumerate(rows)]


def numbers_in(thing):
    if is_dataclass(thing):
        for item in fields(thing):
            yield from numbers_in(getattr(thing, item.name))
    elif isinstance(thing, tuple):
        for item in thing:
            yield from numbers_in(item)
    elif isinstance(thing, float):
        yield thing


positive = st.floats(min_value=1e-300, max_value=1e300)
anything = st.one_of(positive, st.sampled_from([0.0, 1.0, 1e-300, 1e300, -5.0, 1e6]))
rows = st.lists(st.lists(anything, min_size=1, max_size=7), min_size=1, max_size=40)


@given(rows=rows)
@example(rows=[[1e-300]] * 20 + [[1e300]] * 20)
@example(rows=[[1e-300, 1e300]] * 10)
@example(rows=[[0.0]] * 10)
@example(rows=[[1.0], [2.0]])
@settings(max_examples=150)
def test_no_numbers_raise_or_give_anything_but_finite_figures(rows):
    analysis = detect(series_of(rows))

    assert [number for number in numbers_in(analysis) if not math.isfinite(number)] == []
    for change in analysis.changes:
        assert 0 <= change.probability <= 1
        assert change.after.position < change.first.position
        assert change.first.position <= change.revision.position <= change.last.position
        assert change.low_pct <= change.change_pct <= change.high_pct
    assert why_not(analysis)
    assert what_helps(analysis)
    assert all(why_flagged(change, analysis) for change in analysis.changes)


@given(factor=st.floats(min_value=1e-12, max_value=1e12))
@settings(max_examples=30)
def test_the_unit_does_not_matter(factor):
    scaled = [replace(p, samples=[factor * s for s in p.samples]) for p in SERIES]

    plain, other = detect(SERIES), detect(scaled)

    assert [c.revision for c in plain.changes] == [c.revision for c in other.changes]
    for one, two in zip(plain.changes, other.changes, strict=True):
        assert one.change_pct == pytest.approx(two.change_pct, rel=1e-6)
        assert one.level * factor == pytest.approx(two.level, rel=1e-6)


@given(value=positive, count=st.integers(1, 30), samples=st.integers(1, 6))
@settings(max_examples=50)
def test_equal_values_are_no_change(value, count, samples):
    analysis = detect(series_of([[value] * samples] * count))

    assert analysis.changes == ()
    assert len(analysis.segments) == 1


@given(rows=st.lists(st.lists(positive, min_size=1, max_size=5), min_size=1, max_size=3))
@settings(max_examples=100)
def test_three_revisions_are_never_a_confirmed_change(rows):
    assert confirmed(detect(series_of(rows))) == []


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("samples", [1, 5])
def test_what_is_not_a_finite_number_is_refused_by_name(bad, samples):
    points = series_of([[1.0] * samples] * 5)
    points[3] = replace(points[3], samples=[*points[3].samples[1:], bad])

    with pytest.raises(BadSeriesError, match="r3"):
        detect(points)


def test_a_point_without_samples_and_one_with_too_few_boots_are_refused():
    with pytest.raises(BadSeriesError, match="r0 has no samples"):
        detect([Point(0, "r0", [])])
    with pytest.raises(BadSeriesError, match="2 samples but 1 boots"):
        detect([Point(0, "r0", [1.0, 2.0], boots=[1])])


def test_two_points_at_one_position_are_refused():
    with pytest.raises(BadSeriesError, match="does not follow"):
        detect([Point(1, "r1", [1.0]), Point(1, "r1b", [1.0])])


@pytest.mark.parametrize("better", ["more", "less"])
def test_one_sample_each_is_enough_for_a_step_between_levels(better):
    rng = np.random.default_rng(3)
    values = np.exp(0.01 * rng.standard_normal(60))
    values[30:] *= 1.10

    analysis = detect(series_of(values[:, None]), better=better)

    [change] = analysis.changes
    assert change.revision.label == "r30"
    assert change.verdict == ("better" if better == "more" else "worse")


def test_a_few_revisions_of_one_sample_carry_no_verdict():
    assert detect(series_of([[100.0], [100.1], [130.0], [130.2]])).changes == ()


def test_a_million_samples_in_one_revision_are_taken():
    rng = np.random.default_rng(4)
    values = np.exp(0.01 * rng.standard_normal((8, 1000)))
    rows = [*values, np.exp(0.01 * rng.standard_normal(1_000_000))]

    analysis = detect(series_of(rows))

    assert analysis.count == 9
    assert confirmed(analysis) == []


def test_many_samples_give_the_place_and_scatter_that_few_do():
    rng = np.random.default_rng(5)
    few = detect(series_of(np.exp(0.01 * rng.standard_normal((200, 20)))))
    many = detect(series_of(np.exp(0.01 * rng.standard_normal((200, 500)))))

    assert few.noise.within_pct == pytest.approx(1.0, rel=0.1)
    assert many.noise.within_pct == pytest.approx(1.0, rel=0.1)
    assert many.segments[0].level == pytest.approx(1.0, rel=0.001)
