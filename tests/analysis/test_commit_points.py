"""All points of a commit with what judges them, in one statement."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests import make
from webapp.analysis.models import Comparison, SeriesSettings
from webapp.analysis.queries import judge_commit, judge_points, points_of_rows, rows_of_commit
from webapp.results.models import Hardware, Point, Revision, Series

pytestmark = pytest.mark.django_db
LOWER = tuple(value * 0.95 for value in make.FIVE_SAMPLES)


@pytest.fixture
def pair() -> tuple[Revision, Revision]:
    """Six series that are judged each by something else, the last for the first time."""
    before, after = make.revision("r1"), make.revision("r2")
    modes = ("builds", "less", "lab", "noise", "plain", "wide")
    for name in modes:
        series = make.series(in_mode=name)
        make.point(series, before)
        make.point(series, after, LOWER)
        make.comparison(series, before, after)
        if name != "builds":
            make.known_builds(series)
    make.analysis(make.series(in_mode="noise"), noise=make.noise(build_pct=5.0))
    Series.objects.filter(mode__name="less").update(own_better="less")
    SeriesSettings.objects.create(series=make.series(in_mode="wide"), margin_pct=10.0)
    Point.objects.filter(series__mode__name="lab", revision=before).update(disagrees=True)
    make.point(make.series(in_mode="first"), after)
    return before, after


def test_each_is_judged_as_one_point_against_the_other(pair: tuple[Revision, Revision]) -> None:
    points = Point.objects.of_revision(pair[1]).with_subjects()
    asked = judge_points(points, Comparison.objects.of_revision(pair[1]))
    found = judge_commit(points_of_rows(_rows(pair[1])))
    assert found == asked
    assert len({one.verdict for one in found.values()}) == 4
    assert len(found) == 6


def test_they_stand_in_the_order_of_what_their_series_name(
    pair: tuple[Revision, Revision],
) -> None:
    found = [str(one.series.mode) for one in points_of_rows(_rows(pair[1]))]
    assert found == ["builds", "first", "lab", "less", "noise", "plain", "wide"]


def test_a_point_whose_base_is_gone_names_it_and_is_not_judged(
    pair: tuple[Revision, Revision],
) -> None:
    Point.objects.filter(series__mode__name="plain", revision=pair[0]).delete()
    points = {str(one.series.mode): one for one in points_of_rows(_rows(pair[1]))}
    assert str(points["plain"].previous) == "r1"
    assert points["first"].previous is None
    assert points["plain"].series_id not in judge_commit(points.values())


def test_one_statement_reads_them_all(pair: tuple[Revision, Revision]) -> None:
    machines = [make.series(in_mode="plain").hardware_id]
    with CaptureQueriesContext(connection) as statements:
        judge_commit(points_of_rows(rows_of_commit(pair[1], machines)))
    assert len(statements) == 1


def _rows(commit: Revision) -> list[tuple[Any, ...]]:
    return rows_of_commit(commit, [*Hardware.objects.values_list("pk", flat=True)])
