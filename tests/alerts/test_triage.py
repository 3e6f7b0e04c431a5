"""What people and time do to alerts."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from tests import make
from tests.alerts.steps import arrive, log, runs_of
from tests.kept import kept
from webapp.accounts.models import User
from webapp.alerts import services as alerts
from webapp.alerts.models import Alert, AlertEvent
from webapp.alerts.services.triage import AlertChanged
from webapp.results.models import Revision, Run
from webapp.results.services import forget_names, withdraw_run

pytestmark = pytest.mark.django_db
PLACE = ("Atom/T540", "pf")


@pytest.fixture
def ada() -> User:
    return make.user("ada")


@pytest.fixture
@kept
def alert() -> Alert:
    arrive(runs_of({PLACE: {15: 0.9}}))
    return Alert.objects.get()


def seen(alert: Alert, actor: User) -> dict[str, Any]:
    alert.refresh_from_db()
    return {"alert": alert.pk, "actor": actor, "version": alert.version}


def test_each_act_is_an_event_with_its_actor_and_reason(alert: Alert, ada: User) -> None:
    alerts.acknowledge(**seen(alert, ada), reason="mine")
    alerts.investigate(**seen(alert, ada))
    by = Revision.objects.get(name="r129")
    alerts.resolve(**seen(alert, ada), resolution="fixed", revision=by, reason="backtrace")
    alerts.reopen(**seen(alert, ada))
    events = list(AlertEvent.objects.filter(actor=ada))
    assert [(event.kind, event.reason) for event in events] == [
        ("acknowledged", "mine"),
        ("investigating", ""),
        ("resolved", "fixed by r129: backtrace"),
        ("reopened", ""),
    ]
    alert.refresh_from_db()
    assert (alert.state, alert.resolution, alert.resolution_revision) == ("reopened", "", None)


def test_who_looked_at_an_older_version_changes_nothing(alert: Alert, ada: User) -> None:
    stale = seen(alert, ada)
    alerts.acknowledge(**stale)
    with pytest.raises(AlertChanged, match="look again"):
        alerts.resolve(**stale, resolution="not real")
    alert.refresh_from_db()
    assert alert.state == "acknowledged"


@pytest.mark.parametrize(
    ("act", "fields"),
    [
        (alerts.acknowledge, {}),
        (alerts.resolve, {"resolution": "expected"}),
        (alerts.snooze, {"until": timezone.now() + timedelta(days=3)}),
    ],
)
def test_an_undo_restores_what_was(alert: Alert, ada: User, act: Any, fields: Any) -> None:
    before = Alert.objects.values().get()
    act(**seen(alert, ada), **fields)
    alerts.undo(**seen(alert, ada))
    after = Alert.objects.values().get()
    changing = {"version", "updated_at"}
    assert {k: v for k, v in after.items() if k not in changing} == {
        k: v for k, v in before.items() if k not in changing
    }
    assert log(alert)[-1] == "undone"
    with pytest.raises(alerts.TriageError, match="nothing to undo"):
        alerts.undo(**seen(alert, ada))


def test_nobody_undoes_what_somebody_else_did(alert: Alert, ada: User) -> None:
    alerts.acknowledge(**seen(alert, ada))
    with pytest.raises(alerts.TriageError, match="last act was ada's; who made it can undo it"):
        alerts.undo(**seen(alert, make.user("grace")))
    alert.refresh_from_db()
    assert alert.state == "acknowledged"


def test_acts_that_make_no_sense_are_refused_with_the_reason(alert: Alert, ada: User) -> None:
    with pytest.raises(alerts.TriageError, match="needs the revision"):
        alerts.resolve(**seen(alert, ada), resolution="fixed")
    with pytest.raises(alerts.TriageError, match="not resolved as 'retracted'"):
        alerts.resolve(**seen(alert, ada), resolution="retracted")
    with pytest.raises(alerts.TriageError, match="in the future"):
        alerts.snooze(**seen(alert, ada), until=timezone.now())
    with pytest.raises(alerts.TriageError, match="no other alert"):
        alerts.mark_duplicate(**seen(alert, ada), of=alert.pk)
    alerts.acknowledge(**seen(alert, ada))
    with pytest.raises(alerts.TriageError, match="already"):
        alerts.acknowledge(**seen(alert, ada))


@pytest.mark.parametrize("name", ["r110", "r115"])
def test_no_fix_comes_before_the_change_or_with_it(alert: Alert, ada: User, name: str) -> None:
    by = Revision.objects.get(name=name)
    wrong = rf"{name} is not later than r115.* alert {alert.pk} .* of freebsd-head after r115"
    for resolution in Alert.BY_A_REVISION:
        with pytest.raises(alerts.TriageError, match=wrong):
            alerts.resolve(**seen(alert, ada), resolution=resolution, revision=by)
    alert.refresh_from_db()
    assert alert.state == "new"


def test_a_duplicate_names_the_alert_it_repeats(ada: User) -> None:
    forget_names()
    arrive(runs_of({PLACE: {10: 0.9, 20: 0.9}}))
    first, second = Alert.objects.order_by("revision__position")
    alerts.mark_duplicate(**seen(second, ada), of=first.pk)
    second.refresh_from_db()
    assert (second.resolution, second.duplicate_of) == ("duplicate", first)
    with pytest.raises(alerts.TriageError, match="duplicate of"):
        alerts.mark_duplicate(**seen(first, ada), of=second.pk)


def test_an_undo_makes_no_two_duplicates_of_one_another(ada: User) -> None:
    arrive(runs_of({("Atom/T540", "pf"): {10: 0.9, 20: 0.9}}))
    first, second = Alert.objects.order_by("pk")
    alerts.mark_duplicate(**seen(first, ada), of=second.pk)
    alerts.reopen(**seen(first, ada))
    alerts.mark_duplicate(**seen(second, ada), of=first.pk)
    with pytest.raises(alerts.TriageError, match=f"is a duplicate of {first.pk} itself"):
        alerts.undo(**seen(first, ada))
    first.refresh_from_db()
    assert first.state == "reopened"


def test_what_a_person_resolved_stays_so_when_its_findings_go(alert: Alert, ada: User) -> None:
    alerts.resolve(**seen(alert, ada), resolution="won't fix")
    for run in Run.objects.filter(revision__position__gte=115):
        withdraw_run(run=run, by=None, reason="wrong kernel")
    arrive(runs_of({("Atom/T540", "ipfw"): {}}, count=2))
    alert.refresh_from_db()
    assert (alert.resolution, alert.is_active) == ("won't fix", False)


def test_a_snooze_ends_when_its_time_has_come(alert: Alert, ada: User) -> None:
    until = timezone.now() + timedelta(days=3)
    alerts.snooze(**seen(alert, ada), until=until)
    assert alerts.pass_time(now=until - timedelta(seconds=1)) == 0
    assert alerts.pass_time(now=until) == 1
    alert.refresh_from_db()
    assert (alert.state, alert.snoozed_until) == ("reopened", None)
    assert alerts.pass_time(now=until) == 0


def test_an_alert_that_stays_recovered_for_seven_days_closes_itself() -> None:
    forget_names()
    arrive(runs_of({PLACE: {10: 0.9, 20: 1.11}}))
    alert = Alert.objects.get(state=Alert.State.RECOVERED)
    week = alert.updated_at + timedelta(days=7)
    assert alerts.pass_time(now=week - timedelta(seconds=1)) == 0
    assert alerts.pass_time(now=week) == 1
    alert.refresh_from_db()
    assert (alert.state, alert.resolution) == ("resolved", "fixed")
    assert alert.resolution_revision is not None
    assert alert.resolution_revision.name == "r120"
    assert log(alert)[-1] == "closed"
    arrive(runs_of({("Atom/T540", "ipfw"): {}}, count=2))
    alert.refresh_from_db()
    assert alert.state == "resolved"


def test_a_snooze_until_a_revision_ends_when_the_alert_is_measured_there(
    alert: Alert, ada: User
) -> None:
    alerts.snooze_until_revision(**seen(alert, ada), revision="r140")
    arrive(runs_of({("Xeon/T580", "pf"): {}}, first=138, count=4))
    arrive(runs_of({PLACE: {0: 0.9}}, first=130, count=8))
    alert.refresh_from_db()
    assert alert.state == "snoozed"
    arrive(runs_of({PLACE: {0: 0.9}}, first=141, count=1))
    alert.refresh_from_db()
    assert (alert.state, alert.snoozed_until_revision) == ("reopened", "")
    assert log(alert)[-1] == "woke"
    assert alert.events.last().reason == "measured at r140 or later"  # type: ignore[union-attr]
    assert alerts.pass_time() == 0


def test_the_sweep_wakes_what_a_renumbered_history_passed(alert: Alert, ada: User) -> None:
    alerts.snooze_until_revision(**seen(alert, ada), revision="r140")
    assert alerts.pass_time() == 0
    r125 = Revision.objects.get(name="r125")
    r125.aliases.create(tree=r125.tree, name="r140")
    assert alerts.pass_time() == 1
    alert.refresh_from_db()
    assert alert.state == "reopened"


def test_an_undo_of_a_snooze_until_a_revision_restores_the_snooze_before(
    alert: Alert, ada: User
) -> None:
    until = timezone.now() + timedelta(days=3)
    alerts.snooze(**seen(alert, ada), until=until)
    alerts.snooze_until_revision(**seen(alert, ada), revision="r200")
    alert.refresh_from_db()
    assert (alert.snoozed_until, alert.snoozed_until_position) == (None, 200)
    alerts.undo(**seen(alert, ada))
    alert.refresh_from_db()
    assert (alert.snoozed_until, alert.snoozed_until_position) == (until, None)
