"""What is drawn of a commit is not drawn again while the rows that it follows from are the same."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from tests import make
from webapp.analysis.models import Comparison, Finding, SeriesAnalysis, SeriesSettings
from webapp.pages.commits import commit as commit_page
from webapp.pages.commits.charts import IMAGES
from webapp.pages.commits.commit import MEASURED, TABLES
from webapp.results.models import Hardware, Metric, Mode, Point, Revision, Series

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def nothing_kept() -> None:
    for kept in (IMAGES, MEASURED, TABLES):
        kept.clear()


@pytest.fixture
def commit() -> Revision:
    """It lost a tenth in one series, and did nothing to another."""
    along = make.revisions(6)
    for name, after in (("pf", 90.0), ("ipfw", 100.0)):
        series = make.series(in_mode=name)
        make.history(series, along, [100.0] * 3 + [after] * 3)
        make.analysis(series, count=6, segments=[make.segment(along[0], along[2], 100.0)])
    make.finding(Series.objects.get(mode__name="pf"), along[2], along[3])
    return along[3]


def _conclude(**parts: Any) -> None:
    for row in SeriesAnalysis.objects.all():
        row.summary |= parts
        row.save()


CHANGES: dict[str, Callable[[Revision], Any]] = {
    "the mean of a point": lambda at: Point.objects.filter(revision=at).update(mean=81.0),
    "what a point is compared with": lambda _: Comparison.objects.filter(
        series__mode__name="ipfw"
    ).delete(),
    "the size of a finding": lambda _: Finding.objects.update(change_pct=-44.4),
    "the state of a finding": lambda _: Finding.objects.update(state="candidate"),
    "the noise of a series": lambda _: _conclude(
        noise=make.noise(build_pct=9.0) | {"measured_build_pct": 9.0, "measured_freedom": 5.0}
    ),
    "a margin": lambda _: SeriesSettings.objects.create(
        series=Series.objects.get(mode__name="ipfw"), margin_pct=0.01
    ),
    "the levels of a chart": lambda at: _conclude(segments=[make.segment(at, at, 70.0)]),
    "the name of a machine": lambda _: Hardware.objects.update(display_name="The small one"),
    "the name of a mode": lambda _: Mode.objects.filter(name="pf").update(workload="pf2"),
    "a unit": lambda _: Metric.objects.update(unit="frames/s"),
    "the commit's name": lambda at: Revision.objects.filter(pk=at.pk).update(subject="Another"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_changed_is_shown_at_once(client: Client, commit: Revision, what: str) -> None:
    before = _page(client, commit)
    assert _page(client, commit) == before
    CHANGES[what](commit)
    after = _page(client, commit)
    assert after != before
    for kept in (IMAGES, MEASURED, TABLES):
        kept.clear()
    assert _page(client, commit) == after


def test_nothing_is_judged_or_drawn_twice(
    client: Client, commit: Revision, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def note(name: str) -> None:
        judge = getattr(commit_page, name)

        def noted(*given: Any) -> Any:
            asked.append(name)
            return judge(*given)

        monkeypatch.setattr(commit_page, name, noted)

    note("judge_commit")
    note("tables")
    _page(client, commit)
    assert asked == ["judge_commit", "tables"]
    _page(client, commit)
    assert asked == ["judge_commit", "tables"]


def test_who_may_ask_for_jobs_has_links_that_a_stranger_does_not(
    client: Client, tess: Client, commit: Revision
) -> None:
    assert "Measure more" in _page(tess, commit)
    assert "Measure more" not in _page(Client(), commit)


def _page(client: Client, commit: Revision) -> str:
    return client.get(commit.get_absolute_url()).content.decode()
