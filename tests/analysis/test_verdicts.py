"""Points judged against the points before them when they are read."""

from collections.abc import Sequence

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests import make
from webapp.analysis.models import SeriesSettings
from webapp.analysis.queries.verdicts import PointVerdict, judge_points
from webapp.results.models import Point, Series
from webapp.stats.compare.comparing import Verdict, compare

pytestmark = pytest.mark.django_db
LOWER = tuple(value * 0.95 for value in make.FIVE_SAMPLES)


def a_pair(of: Series, samples: Sequence[float] = LOWER) -> None:
    make.known_builds(of)
    before, after = make.revision("r1"), make.revision("r2")
    make.point(of, before)
    make.point(of, after, samples)


def judged() -> dict[int, PointVerdict]:
    points = Point.objects.of_revision(make.revision("r2")).with_subjects()
    return judge_points(points, make.compared())


def the_one() -> PointVerdict:
    (found,) = judged().values()
    return found


def test_it_agrees_with_the_comparison_of_the_samples_themselves() -> None:
    a_pair(make.series())
    found, change = the_one(), compare(make.FIVE_SAMPLES, LOWER).change
    assert found.verdict == Verdict.WORSE
    assert found.percent == pytest.approx(change.percent)
    assert (found.low, found.high) == pytest.approx((change.low, change.high))


def test_one_build_a_side_is_judged_by_belief_and_coloured_only_beyond_noisy_builds() -> None:
    series, lower = make.series(), [value * 0.9 for value in make.FIVE_SAMPLES]
    a_pair(series, lower)
    make.analysis(series)
    found = the_one()
    assert (found.verdict, found.label, found.tone) == (Verdict.WORSE, "worse", "builds differ")
    assert found.rests_on_single_builds
    assert found.is_doubtful
    alone = compare(make.FIVE_SAMPLES, lower, same_build=False).change
    assert found.low == pytest.approx(alone.low)
    assert found.build_noise is None
    assert found.look.p == pytest.approx(alone.p)
    assert found.look.p > 0.05


def test_eight_series_of_the_machine_take_the_place_of_the_guess() -> None:
    series = make.series()
    a_pair(series)
    make.analysis(series)
    for number in range(8):
        known = make.series(in_mode=f"known-{number}")
        make.analysis(known, noise=make.noise(build_pct=0.5))
    found = the_one()
    assert found.belief is not None
    assert (found.belief.of_machine, found.tone) == (True, "worse")
    assert not found.is_doubtful


def test_the_noise_between_builds_of_the_series_widens_the_interval() -> None:
    series = make.series()
    a_pair(series)
    narrow = the_one()
    make.analysis(series, noise=make.noise(build_pct=5.0))
    wide = the_one()
    assert wide.verdict == Verdict.CANNOT_TELL
    assert wide.visible is not None
    assert narrow.low is not None
    assert wide.low is not None
    assert wide.low < narrow.low


def test_each_series_is_judged_by_its_own_direction_and_margin() -> None:
    more, less, wide = (make.series(in_mode=mode) for mode in ("more", "less", "wide"))
    for series in (more, less, wide):
        a_pair(series)
    Series.objects.filter(pk=less.pk).update(own_better="less")
    SeriesSettings.objects.create(series=wide, margin_pct=10.0)
    found = judged()
    assert found[more.pk].verdict == Verdict.WORSE
    assert found[less.pk].verdict == Verdict.BETTER
    assert found[wide.pk].verdict == Verdict.EQUIVALENT
    assert found[wide.pk].negligible


@pytest.mark.parametrize("samples", [[95.0], [1.7e308, -1.7e308, 1.7e308]])
def test_what_has_no_interval_cannot_tell(samples: list[float]) -> None:
    series = make.series()
    before, after = make.revision("r1"), make.revision("r2")
    make.point(series, before)
    make.point(series, after, samples)
    found = the_one()
    assert found.verdict == Verdict.CANNOT_TELL
    assert (found.low, found.high, found.visible) == (None, None, None)


def test_a_series_without_a_point_before_has_no_verdict() -> None:
    make.point(make.series(), make.revision("r2"))
    assert judged() == {}


def test_the_number_of_queries_does_not_grow_with_series() -> None:
    for number in range(4):
        a_pair(make.series(in_mode=f"mode-{number}"))
    points = list(Point.objects.of_revision(make.revision("r2")).with_subjects())
    comparisons = make.compared()
    with CaptureQueriesContext(connection) as statements:
        judge_points(points, comparisons)
    assert len(statements) == 2


@pytest.mark.parametrize("side", ["r1", "r2"])
def test_runs_that_disagree_on_either_side_cannot_tell_and_show_the_gate_nothing(side: str) -> None:
    a_pair(make.series())
    assert the_one().verdict == Verdict.WORSE
    pairs = make.compared()
    Point.objects.filter(revision__name=side).update(disagrees=True)
    points = Point.objects.of_revision(make.revision("r2")).with_subjects()
    (found,) = judge_points(points, pairs).values()
    assert (found.verdict, found.label, found.look.p) == (Verdict.CANNOT_TELL, "lab?", 1.0)
    assert not found.builds_differ
