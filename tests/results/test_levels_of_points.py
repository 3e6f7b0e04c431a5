"""Points keep their scatter at each level; those stored before get theirs by the migration."""

from collections.abc import Iterator

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from tests import make
from webapp.results.models import Point, Series
from webapp.results.services.pooling import refresh_points
from webapp.stats.compare import Samples, summarize

BEFORE = [("results", "0001_trees_runs_series")]
AFTER = [("results", "0003_runs_that_disagree")]
TEN = [99.0, 101, 98, 102, 100, 109, 111, 108, 112, 110]
BOOTS = [0] * 5 + [1] * 5


def migrate(to: list[tuple[str, str]]) -> None:
    executor = MigrationExecutor(connection)
    executor.migrate(to)


def columns() -> set[str]:
    with connection.cursor() as cursor:
        found = connection.introspection.get_table_description(cursor, "results_point")
    return {column.name for column in found}


def a_point(at_name: str = "r1") -> Point:
    at = make.revision(at_name)
    made = make.run(at, samples=TEN)
    measurement = made.measurements.get()
    measurement.boots = BOOTS
    measurement.save()
    refresh_points([(measurement.series_id, at.pk)], {at.pk: at.position})
    return Point.objects.get(revision=at)


@pytest.mark.django_db
def test_a_point_has_the_levels_of_its_samples() -> None:
    point = a_point()
    assert point.summary == summarize(Samples(TEN, boots=BOOTS))
    assert (point.boots, point.builds, point.n) == (2, 1, 10)


@pytest.mark.django_db
def test_points_of_one_build_are_known_to_be() -> None:
    first, second = a_point("r1"), a_point("r2")
    assert first.is_of_the_builds_of(first)
    assert not first.is_of_the_builds_of(second)


@pytest.fixture
def back(transactional_db: None) -> Iterator[None]:
    """Whatever a test does, the schema of today is there after it."""
    yield
    migrate(AFTER)


@pytest.mark.usefixtures("back")
def test_stored_points_get_the_levels_of_their_samples_and_are_analysed_anew() -> None:
    stored = a_point()
    Series.objects.update(dirty_from=None, dirty_since=None)
    migrate(BEFORE)
    assert "levels" not in columns()
    migrate(AFTER)
    point = Point.objects.get()
    assert point.levels == stored.levels
    assert Series.objects.get().dirty_from == point.position


@pytest.mark.usefixtures("back")
def test_a_point_whose_samples_are_gone_says_nothing_of_its_scatter() -> None:
    stored = make.point(make.series(), make.revision("r1"))
    migrate(BEFORE)
    migrate(AFTER)
    found = Point.objects.get().summary
    assert found.interval() is None
    assert found.mean == pytest.approx(stored.mean)


@pytest.mark.usefixtures("back")
def test_who_kills_it_in_the_middle_finds_everything_as_it_was_and_starts_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stored = a_point()
    migrate(BEFORE)
    monkeypatch.setattr("webapp.results.services.pooling.summarize", killed)
    with pytest.raises(InterruptedError):
        migrate(AFTER)
    monkeypatch.undo()
    assert "levels" not in columns()
    migrate(AFTER)
    assert Point.objects.get().levels == stored.levels


def killed(samples: Samples) -> None:
    raise InterruptedError
