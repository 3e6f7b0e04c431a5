"""A drawn chart is kept no longer than all that it shows is the same."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db.models import F
from django.test import Client

from tests import make
from tests.events.steps import event, release
from tests.results.steps import measured, upload
from webapp.alerts.models import Alert, AlertFinding
from webapp.analysis.models import Finding, SeriesAnalysis
from webapp.results.models import Metric, Revision, Series

pytestmark = pytest.mark.django_db
ADDRESS = "/trends/?hardware=Atom_C2758/T540-CR&mode=pf"


@pytest.fixture
def along() -> list[Revision]:
    """A series with a loss in its middle, an alert about it, and what the analysis says."""
    revisions = make.revisions(6)
    series = make.series(in_mode="pf")
    make.history(series, revisions, [100.0] * 3 + [90.0] * 3)
    found = make.finding(series, revisions[2], revisions[3])
    alert = make.alert(revisions[3], after=revisions[2])
    AlertFinding.objects.create(finding=found, alert=alert)
    make.analysis(series, count=6, why_not="Nothing newer.")
    return revisions


def test_a_chart_drawn_before_costs_four_statements(
    client: Client, along: object, django_assert_max_num_queries: Any
) -> None:
    client.get(ADDRESS)
    with django_assert_max_num_queries(4):
        client.get(ADDRESS)


def _later_finding(along: list[Revision]) -> None:
    make.finding(Series.objects.get(), along[3], along[4], why="A second change.")


CHANGES: dict[str, tuple[Callable[[list[Revision]], Any], str]] = {
    "a finding": (_later_finding, "A second change."),
    "its state": (lambda along: Finding.objects.update(state="candidate"), ">candidate<"),
    "its alert": (lambda along: Alert.objects.update(state=Alert.State.ACKNOWLEDGED), "acknowl"),
    "the analysis": (
        lambda along: SeriesAnalysis.objects.update(summary={"count": 6, "why_not": "Too calm."}),
        "Too calm.",
    ),
    "an event": (
        lambda along: event("new NIC", tree=along[0].tree, first=along[1], last=along[2]),
        "new NIC",
    ),
    "a release": (lambda along: release("11.0", along[2]), "11.0"),
    "a metric": (lambda along: Metric.objects.update(unit="frames/s"), "frames/s"),
    "a tree": (lambda along: make.tree("another-tree"), "another-tree"),
    "a machine": (lambda along: make.series(on=make.hardware("Xeon/X710")), "Xeon"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_changed_is_shown_at_once(client: Client, along: list[Revision], what: str) -> None:
    change, shown = CHANGES[what]
    assert shown not in client.get(ADDRESS).content.decode()
    change(along)
    assert shown in client.get(ADDRESS).content.decode()


def test_a_new_point_is_drawn_at_once(client: Client) -> None:
    for number in range(3):
        upload(measured(f"r30000{number}"))
    before = client.get("/trends/").content
    upload(measured("r300009", 0.5))
    assert "r300009" not in before.decode()
    assert "r300009" in client.get("/trends/").content.decode()


def test_the_version_of_a_series_says_that_its_points_changed(
    client: Client, along: list[Revision]
) -> None:
    before = client.get(ADDRESS).content
    assert client.get(ADDRESS).content == before
    Revision.objects.filter(pk=along[0].pk).update(subject="Another subject")
    Series.objects.update(version=F("version") + 1)
    assert "Another subject" in client.get(ADDRESS).content.decode()


def test_who_may_ask_for_jobs_gets_links_that_a_stranger_does_not(
    client: Client, tess: Client, along: object
) -> None:
    assert "Measure more" in tess.get(ADDRESS).content.decode()
    assert "Measure more" not in Client().get(ADDRESS).content.decode()
