"""A finding whose place another took is superseded, not retracted."""

import pytest

from tests import make
from tests.alerts.steps import arrive, log, runs_of
from tests.results.steps import analyse
from webapp.alerts.models import Alert
from webapp.analysis.models import Finding
from webapp.analysis.services import mark_for_analysis
from webapp.results.models import Revision, Run, Series
from webapp.results.services import forget_names, withdraw_run

pytestmark = pytest.mark.django_db
PLACE = ("Atom/T540", "pf")


@pytest.fixture
def finding() -> Finding:
    forget_names()
    arrive(runs_of({PLACE: {15: 0.9}}))
    return Finding.objects.get()


def recorded_before(finding: Finding, name: str, **changes: float) -> None:
    """As if an earlier version of the method had found it at ``name``."""
    at = Revision.objects.get(name=name)
    before = Revision.objects.get(position=at.position - 1)
    Finding.objects.filter(pk=finding.pk).update(
        revision=at, previous=before, after=before, first=at, last=at, position=at.position
    )
    Finding.objects.filter(pk=finding.pk).update(**changes)
    Alert.objects.update(revision=at, after=before, likeliest=at)
    mark_for_analysis(Series.objects.values_list("pk", flat=True))
    analyse()
    finding.refresh_from_db()


def test_a_finding_that_moved_far_is_superseded_and_its_alert_goes_along(finding: Finding) -> None:
    number = Alert.objects.get().pk
    recorded_before(finding, "r108")
    now = Finding.objects.live().get()
    assert (finding.state, finding.superseded_by) == ("superseded", now)
    assert now.revision.name == "r115"
    assert finding.events.last().kind == "superseded"  # type: ignore[union-attr]
    assert not any(row.flag for row in make.compared("r108"))
    alert = Alert.objects.get()
    assert (alert.pk, alert.likeliest.name, alert.state) == (number, "r115", "new")
    assert "moved" in log(alert)
    assert "retracted" not in log(alert)


def test_a_change_of_another_size_elsewhere_supersedes_nothing(finding: Finding) -> None:
    recorded_before(finding, "r108", change_pct=-30.0, low_pct=-31.0, high_pct=-29.0)
    assert (finding.state, finding.superseded_by) == ("retracted", None)
    assert Finding.objects.live().get().revision.name == "r115"


def test_of_two_findings_that_became_one_the_other_is_superseded(finding: Finding) -> None:
    twin = Finding.objects.get(pk=finding.pk)
    at = Revision.objects.get(name="r116")
    twin.pk, twin.revision, twin.previous, twin.position = None, at, finding.revision, at.position
    twin.last = at
    twin.save()
    mark_for_analysis(Series.objects.values_list("pk", flat=True))
    analyse()
    twin.refresh_from_db()
    assert (twin.state, twin.superseded_by) == ("superseded", finding)


def test_what_superseded_is_gone_with_its_successor(finding: Finding) -> None:
    recorded_before(finding, "r108")
    now = Finding.objects.live().get()
    for run in Run.objects.filter(revision__position__gte=115):
        withdraw_run(run=run, by=None, reason="wrong kernel")
    analyse()
    now.refresh_from_db()
    finding.refresh_from_db()
    assert (now.state, finding.state, finding.superseded_by) == ("retracted", "superseded", now)
    assert not Alert.objects.get().is_active
