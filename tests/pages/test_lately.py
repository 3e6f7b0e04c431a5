"""`/lately/`: what was tested lately, and losses that are not proven."""

from collections.abc import Callable

import pytest
from django.utils import timezone

from tests import make
from tests.pages.conftest import Counted
from webapp.alerts.models import Alert, AlertFinding
from webapp.analysis.models import Finding
from webapp.results.models import Revision

pytestmark = pytest.mark.django_db
Visit = Callable[[str], str]


def commit_that_changed(percent: float, *, first: int = 300_000, mode: str = "pf") -> None:
    before, after = make.revisions(2, first=first)
    series = make.series(in_mode=mode)
    for revision in (before, after):
        make.run(revision, in_mode=mode, received_at=timezone.now())
    make.pair(series, before, after, percent=percent)
    make.finding(series, before, after, change_pct=percent)


def test_a_commit_that_made_something_worse_is_named_with_size_and_place(visit: Visit) -> None:
    commit_that_changed(-11.4)
    text = visit("/lately/")
    assert "r300003" in text
    assert "−11.4 ± 0.90" in text
    assert "regression" in text


def test_the_commit_of_an_open_alert_stands_there_though_its_loss_became_smaller(
    visit: Visit,
) -> None:
    commit_that_changed(-1.95)
    assert "No change for the worse stands" in visit("/lately/")
    finding = Finding.objects.get()
    alert = make.alert(finding.revision, after=finding.previous)
    AlertFinding.objects.create(finding=finding, alert=alert)
    assert "No change for the worse stands" not in visit("/lately/")
    Alert.objects.update(state="resolved", resolution="expected")
    assert "No change for the worse stands" in visit("/lately/")


def test_an_improvement_is_no_regression(visit: Visit) -> None:
    commit_that_changed(+82.5)
    text = visit("/lately/")
    assert "No change for the worse stands" in text
    assert "improvement" in text


def test_of_a_mixed_commit_the_regression_is_shown_even_when_it_is_the_smaller(
    visit: Visit,
) -> None:
    before, after = make.revisions(2)
    for mode, percent in (("forwarding", 82.5), ("pf", -11.4)):
        series = make.series(in_mode=mode)
        make.pair(series, before, after, percent=percent)
        make.finding(series, before, after, change_pct=percent)
        make.run(after, in_mode=mode)
    text = visit("/lately/")
    assert "mixed" in text
    assert "−11.4 ± 0.90 pf" in text


def test_confirmed_findings_come_before_newer_candidates_and_both_are_called_so(
    visit: Visit,
) -> None:
    along = make.revisions(5)
    make.run(along[0])
    for mode, place, state in (("old", 1, "confirmed"), ("new", 3, "candidate")):
        series = make.series(in_mode=mode)
        make.pair(series, along[place - 1], along[place])
        make.finding(series, along[place - 1], along[place], state=state)
    text = visit("/lately/")
    assert text.index("regression confirmed") < text.index("regression candidate")
    assert "Found by the detector" in text


def test_the_newest_of_each_state_come_first_and_those_without_a_time_last(db: None) -> None:
    along = make.revisions(6)
    states = ["candidate", "confirmed", "confirmed", "confirmed", "one build"]
    for number, state in enumerate(states, start=1):
        series = make.series(in_mode=f"mode-{number}")
        make.finding(series, along[number - 1], along[number], state=state)
    Revision.objects.filter(pk=along[4].pk).update(committed_at=None)
    limits = {"confirmed": 2, "one build": 6, "candidate": 6}
    found = Finding.objects.all().revisions_lately("worse", limits)
    assert found == [along[place].pk for place in (3, 2, 5, 1)]


def test_a_commit_with_a_finding_shows_the_size_that_the_detector_found(visit: Visit) -> None:
    before, after = make.revisions(2)
    series = make.series()
    make.run(after)
    make.pair(series, before, after, percent=-14.0)
    make.finding(series, before, after)
    assert "−11.4 ± 0.90 forwarding" in visit("/lately/")


def test_what_ministat_alone_calls_worse_is_not_headlined(visit: Visit) -> None:
    before, after = make.revisions(2)
    make.run(after)
    make.pair(make.series(), before, after, percent=-14.0)
    text = visit("/lately/")
    assert "No change for the worse stands" in text
    assert "regression" not in text


def test_what_does_not_pass_the_gate_over_all_series_is_not_headlined(visit: Visit) -> None:
    before, after = make.revisions(2)
    make.run(after)
    for number in range(20):
        series = make.series(in_mode=f"mode-{number}")
        make.pair(series, before, after, percent=0.1)
    make.finding(series, before, after, state="candidate", p_value=0.01)
    assert "cannot tell candidate" in visit("/lately/")


def test_a_loss_that_recovered_is_not_denied(visit: Visit) -> None:
    """It was proven, and other pages show it."""
    before, after = make.revisions(2)
    make.run(before)
    make.finding(make.series(), before, after, state="recovered", recovered_by=after)
    text = visit("/lately/")
    assert "No change for the worse stands" in text
    assert "not recovered since" in text


def test_a_retracted_finding_is_no_regression(visit: Visit) -> None:
    before, after = make.revisions(2)
    make.run(before)
    make.finding(make.series(), before, after, state="retracted")
    assert "No change for the worse stands" in visit("/lately/")


def test_the_number_of_queries_does_not_grow_with_commits(queries: Counted) -> None:
    commit_that_changed(-11.4)
    few = queries("/lately/")
    for number in range(1, 6):
        commit_that_changed(-5.0, first=310_000 + 10 * number, mode=f"mode-{number}")
    assert queries("/lately/") == few <= 18
