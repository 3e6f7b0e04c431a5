"""All points of a commit with what judges them, in one statement."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests import make
from webapp.analysis.models import NotedPoint, SeriesAnalysis, SeriesSettings
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
        if name != "builds":
            make.known_builds(series)
    make.analysis(make.series(in_mode="noise"), noise=make.noise(build_pct=5.0))
    Series.objects.filter(mode__name="less").update(own_better="less")
    SeriesSettings.objects.create(series=make.series(in_mode="wide"), margin_pct=10.0)
    Point.objects.filter(series__mode__name="lab", revision=after).update(disagrees=True)
    make.point(make.series(in_mode="first"), after)
    return before, after


def test_each_is_judged_as_one_point_against_the_other(pair: tuple[Revision, Revision]) -> None:
    points = Point.objects.of_revision(pair[1]).with_subjects()
    asked = judge_points(points, make.compared(pair[1].name))
    found = judge_commit(points_of_rows(_rows(pair[1])))
    assert found == asked
    assert len({one.verdict for one in found.values()}) == 4
    assert len(found) == 6


def test_they_stand_in_the_order_of_what_their_series_name(
    pair: tuple[Revision, Revision],
) -> None:
    found = [str(one.series.mode) for one in points_of_rows(_rows(pair[1]))]
    assert found == ["builds", "first", "lab", "less", "noise", "plain", "wide"]


def test_what_is_no_base_is_passed_over_and_what_is_not_compared_has_none() -> None:
    along = make.revisions(4)
    series = make.series()
    for at in along:
        make.point(series, at)
    places = [one.position for one in along]
    analysis = make.analysis(series)

    def bases(**fields: Any) -> list[str]:
        SeriesAnalysis.objects.filter(pk=analysis.pk).update(**{"epochs": [], "late": []} | fields)
        read = [points_of_rows(_rows(at))[0] for at in along]
        for one, at in zip(read, along, strict=True):
            shown = make.compared(at.name)
            assert [row.previous for row in shown] == ([str(one.previous)] if one.previous else [])
            assert bool(one.previous) == bool(one.pair)
        make.note(series)
        noted = NotedPoint.objects.filter(is_compared=False).values_list("position", flat=True)
        assert [*noted] == [
            at.position for at, one in zip(along, read, strict=True) if not one.pair
        ]
        return [str(one.previous or "") for one in read]

    names = [one.name for one in along]
    assert bases() == ["", *names[:3]]
    assert bases(epochs=[places[2]]) == ["", names[0], "", names[2]]
    assert bases(late=[places[1]]) == ["", "", names[0], names[2]]
    Point.objects.filter(position=places[1]).update(disagrees=True)
    assert bases() == ["", names[0], names[0], names[2]]
    Point.objects.filter(position=places[1]).update(
        beside={"session": "s", "home": "h", "pct": 9.0, "begins": False}, disagrees=False
    )
    assert bases() == ["", "", names[0], names[2]]


def test_one_statement_reads_them_all(pair: tuple[Revision, Revision]) -> None:
    machines = [make.series(in_mode="plain").hardware_id]
    with CaptureQueriesContext(connection) as statements:
        judge_commit(points_of_rows(rows_of_commit(pair[1], machines)))
    assert len(statements) == 1


def _rows(commit: Revision) -> list[tuple[Any, ...]]:
    return rows_of_commit(commit, [*Hardware.objects.values_list("pk", flat=True)])
