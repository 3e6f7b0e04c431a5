"""What people decide about which findings belong together, and that nothing undoes it but they."""

import random
from typing import Any

import pytest

from tests import make
from tests.alerts.steps import Place, Steps, arrive, log, revision_of, runs_of, series_of
from tests.results.steps import analyse
from webapp.accounts.models import User
from webapp.alerts import services as alerts
from webapp.alerts.models import Alert, AlertEvent, Assignment, MinEffect
from webapp.analysis.models import Finding
from webapp.analysis.services import mark_for_analysis
from webapp.results.models import Revision, Series, Tree
from webapp.results.services import forget_names

pytestmark = pytest.mark.django_db
ATOM, XEON = "Atom/T540", "Xeon/T580"
TWO: dict[Place, Steps] = {(ATOM, "pf"): {10: 0.9}, (XEON, "pf"): {20: 0.9}}


@pytest.fixture
def ada() -> User:
    forget_names()
    return make.user("ada")


def seen(alert: Alert, actor: User) -> dict[str, Any]:
    alert.refresh_from_db()
    return {"alert": alert.pk, "actor": actor, "version": alert.version}


def two() -> tuple[Alert, Alert]:
    first, second = Alert.objects.order_by("revision__position")
    return first, second


def again() -> None:
    """Everything is analysed anew."""
    mark_for_analysis(Series.objects.values_list("pk", flat=True))
    analyse()


def wide(*, seed: int = 5) -> list[dict[str, Any]]:
    """pf falls at r115 exactly; routing, which was not measured from r110 on, by r118."""
    runs = runs_of({(ATOM, "pf"): {15: 0.9}, (ATOM, "routing"): {15: 0.85}}, seed=seed)
    return [
        run for run in runs if run["mode"]["workload"] == "pf" or not 110 <= revision_of(run) <= 117
    ]


def of_mode(mode: str) -> Finding:
    return Finding.objects.live().get(series__mode__name=mode)


def test_a_merged_alert_gives_its_findings_and_those_to_come(ada: User) -> None:
    arrive(runs_of(TWO))
    first, second = two()
    alerts.merge(**seen(second, ada), into=first.pk, reason="one series of commits")
    again()
    arrive(runs_of({(XEON, "ipfw"): {20: 0.9}}))
    first.refresh_from_db()
    second.refresh_from_db()
    assert series_of(first) == [f"{ATOM} pf worse", f"{XEON} ipfw worse", f"{XEON} pf worse"]
    assert (second.state, second.duplicate_of) == ("resolved", first)
    assert (first.revision.name, first.state) == ("r110", "new")
    assert log(second)[-1] == "merged"
    assert "joined" in log(first)[2:]


@pytest.mark.parametrize("state", ["new", "acknowledged"])
def test_what_waits_is_not_hidden_in_a_duplicate_of_itself(ada: User, state: str) -> None:
    arrive(runs_of(TWO))
    first, second = two()
    if state == "acknowledged":
        alerts.acknowledge(**seen(second, ada))
    alerts.mark_duplicate(**seen(first, ada), of=second.pk)
    alerts.merge(**seen(second, ada), into=first.pk)
    again()
    first.refresh_from_db()
    second.refresh_from_db()
    assert (first.state, first.triaged, first.duplicate_of) == (state, state != "new", None)
    assert (second.state, second.duplicate_of) == ("resolved", first)
    assert log(first)[-1] == "reopened"
    assert series_of(first) == [f"{ATOM} pf worse", f"{XEON} pf worse"]


def test_what_a_duplicate_repeats_stays_closed_where_it_was(ada: User) -> None:
    arrive(runs_of(TWO))
    first, second = two()
    alerts.mark_duplicate(**seen(first, ada), of=second.pk)
    alerts.resolve(**seen(second, ada), resolution="expected")
    alerts.merge(**seen(second, ada), into=first.pk)
    first.refresh_from_db()
    second.refresh_from_db()
    assert (first.resolution, second.resolution) == ("duplicate", "expected")


def test_an_undo_of_a_merge_restores_both(ada: User) -> None:
    arrive(runs_of(TWO))
    first, second = two()
    alerts.acknowledge(**seen(second, ada))
    alerts.merge(**seen(second, ada), into=first.pk)
    alerts.undo(**seen(second, ada))
    assert (second.pk, series_of(first)) == (second.pk, [f"{ATOM} pf worse"])
    second.refresh_from_db()
    assert (second.state, second.is_active, second.duplicate_of) == ("acknowledged", True, None)
    assert series_of(second) == [f"{XEON} pf worse"]
    assert not Assignment.objects.exists()


def _refine(row: Finding, after: int, last: int) -> None:
    """The data show now that ``row`` lies after one position and not later than another."""
    at = {each.position: each for each in Revision.objects.filter(position__in=(after, last))}
    Finding.objects.filter(pk=row.pk).update(after=at[after], last=at[last])


def test_an_undo_of_a_merge_follows_findings_that_moved_since(ada: User) -> None:
    arrive(runs_of(TWO))
    first, second = two()
    row = second.findings.get()
    _refine(row, row.after.position, row.last.position + 3)
    alerts.reconcile_trees([second.tree_id])
    alerts.merge(**seen(second, ada), into=first.pk)
    _refine(row, row.after.position, row.last.position + 1)
    alerts.reconcile_trees([second.tree_id])
    alerts.undo(**seen(second, ada))
    second.refresh_from_db()
    assert (second.state, second.is_active) == ("new", True)
    assert second.revision.position == row.last.position + 1
    assert list(Alert.objects.filter(is_active=True).order_by("pk")) == [first, second]


def test_an_undo_of_a_merge_that_would_bring_nothing_back_is_refused(ada: User) -> None:
    arrive(runs_of(TWO))
    first, second = two()
    row = second.findings.get()
    alerts.merge(**seen(second, ada), into=first.pk)
    Finding.objects.filter(pk=row.pk).update(state=Finding.State.RETRACTED)
    alerts.reconcile_trees([second.tree_id])
    with pytest.raises(alerts.TriageError, match="Nothing of what alert"):
        alerts.undo(**seen(second, ada))
    second.refresh_from_db()
    assert (second.state, second.duplicate_of) == ("resolved", first)
    assert Assignment.objects.exists()


def test_what_was_merged_goes_along_when_its_alert_is_merged_further(ada: User) -> None:
    arrive(runs_of({**TWO, (ATOM, "ipfw"): {25: 0.9}}))
    first, second, third = Alert.objects.order_by("revision__position")
    alerts.merge(**seen(first, ada), into=second.pk)
    alerts.merge(**seen(second, ada), into=third.pk)
    again()
    assert len(series_of(third)) == 3
    assert list(Alert.objects.filter(is_active=True)) == [third]


def test_a_moved_finding_leaves_a_trace_on_both_alerts(ada: User) -> None:
    arrive(runs_of({**TWO, (ATOM, "ipfw"): {10: 0.8}}))
    first, second = two()
    alerts.move(
        **seen(first, ada), findings=[of_mode("ipfw").pk], to=second.pk, reason="the same driver"
    )
    again()
    assert series_of(first) == [f"{ATOM} pf worse"]
    assert series_of(second) == [f"{ATOM} ipfw worse", f"{XEON} pf worse"]
    assert log(first)[-2:] == ["left", "sent"]
    assert log(second)[-1] == "joined"
    event = AlertEvent.objects.get(kind="sent")
    assert (event.actor, event.reason) == (
        ada,
        f"ipfw on Atom T540 to {second.pk}: the same driver",
    )
    alerts.undo(**seen(first, ada))
    assert len(series_of(first)) == 2


def test_findings_are_split_off_to_their_own_last_suspect(ada: User) -> None:
    arrive(wide())
    alert = Alert.objects.get()
    alerts.split(**seen(alert, ada), findings=[of_mode("routing").pk])
    again()
    first, second = two()
    assert (first.pk, first.revision.name, second.revision.name) == (alert.pk, "r115", "r118")
    assert series_of(second) == [f"{ATOM} routing worse"]
    assert (second.state, log(second)) == ("new", ["opened", "joined"])
    assert log(first)[-2:] == ["left", "split"]
    alerts.undo(**seen(alert, ada))
    assert len(series_of(alert)) == 2
    second.refresh_from_db()
    assert (second.is_active, second.duplicate_of) == (False, alert)


def test_a_split_may_name_the_commit_and_stays_there(ada: User) -> None:
    arrive(wide())
    alert = Alert.objects.get()
    at = Revision.objects.get(name="r112")
    alerts.split(**seen(alert, ada), findings=[of_mode("routing").pk], revision=at)
    again()
    split_off = Alert.objects.exclude(pk=alert.pk).get()
    assert (split_off.revision.name, split_off.is_active) == ("r112", True)


def test_a_split_that_would_be_the_same_commit_is_refused(ada: User) -> None:
    arrive(runs_of({(ATOM, "pf"): {15: 0.9}, (ATOM, "ipfw"): {15: 0.9}}))
    alert = Alert.objects.get()
    with pytest.raises(alerts.TriageError, match="stands for r115 already"):
        alerts.split(**seen(alert, ada), findings=[of_mode("pf").pk])
    at = Revision.objects.get(name="r120")
    with pytest.raises(alerts.TriageError, match="does not suspect r120"):
        alerts.split(**seen(alert, ada), findings=[of_mode("pf").pk], revision=at)
    both = list(Finding.objects.values_list("pk", flat=True))
    with pytest.raises(alerts.TriageError, match="Leave one finding"):
        alerts.split(**seen(alert, ada), findings=both)
    with pytest.raises(alerts.TriageError, match="Choose findings"):
        alerts.split(**seen(alert, ada), findings=[])
    assert (Alert.objects.count(), Assignment.objects.count()) == (1, 0)


def test_a_split_of_what_is_too_small_leaves_nothing_behind(ada: User) -> None:
    arrive(wide())
    alert = Alert.objects.get()
    routing = of_mode("routing")
    MinEffect.objects.create(mode=routing.series.mode, percent=50)
    alerts.reconcile_trees(Tree.objects.values_list("pk", flat=True))
    with pytest.raises(alerts.TriageError, match="large and sure enough"):
        alerts.split(**seen(alert, ada), findings=[routing.pk])
    assert (Alert.objects.count(), Assignment.objects.count()) == (1, 0)


@pytest.mark.parametrize("seed", [1, 2])
def test_what_people_decided_holds_in_another_order_of_arrival(ada: User, seed: int) -> None:
    documents = wide()
    late = runs_of({(XEON, "pf"): {15: 0.9}}, seed=8)
    arrive(documents)
    alert = Alert.objects.get()
    alerts.split(**seen(alert, ada), findings=[of_mode("routing").pk])
    shuffled = random.Random(seed).sample(late, len(late))
    for start in range(0, len(shuffled), 10):
        arrive(shuffled[start : start + 10])
    first, second = two()
    assert series_of(first) == [f"{ATOM} pf worse", f"{XEON} pf worse"]
    assert series_of(second) == [f"{ATOM} routing worse"]


def test_merging_into_what_is_not_there_is_refused(ada: User) -> None:
    arrive(runs_of(TWO))
    first, second = two()
    with pytest.raises(alerts.TriageError, match="no other alert"):
        alerts.merge(**seen(first, ada), into=first.pk)
    alerts.merge(**seen(second, ada), into=first.pk)
    with pytest.raises(alerts.TriageError, match="has no findings now"):
        alerts.merge(**seen(first, ada), into=second.pk)
    with pytest.raises(alerts.TriageError, match="no findings to merge"):
        alerts.merge(**seen(second, ada), into=first.pk)
