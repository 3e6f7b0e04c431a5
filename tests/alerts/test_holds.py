"""What bisects hold of alerts, as rows: begun, ended for a reason, restored, moved by merges."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from tests import make
from webapp.accounts.models import User
from webapp.alerts import services as alerts
from webapp.alerts.models import Alert, AlertHold
from webapp.alerts.plan.changes import KnownHold
from webapp.alerts.queries.evidence import holds_in
from webapp.alerts.services import begin_hold, end_holds
from webapp.alerts.services.events import follow_alerts
from webapp.merging.services import merge_hardware, merge_revisions
from webapp.results.models import Revision, Series

pytestmark = pytest.mark.django_db
Reason = AlertHold.Reason


@pytest.fixture
def series() -> Series:
    return make.series()


@pytest.fixture
def along() -> list[Revision]:
    return [make.revision(f"r{number}") for number in range(100, 112)]


@pytest.fixture
def alert(along: list[Revision]) -> Alert:
    return make.alert(along[8], after=along[2])


@pytest.fixture
def ada() -> User:
    return make.user("ada")


def begin(alert: Alert, series: Series, **fields: Any) -> AlertHold:
    ends = {"after": alert.after, "last": alert.revision, "is_loss": True}
    asked = {**ends, "now": timezone.now(), **fields}
    with transaction.atomic():
        return begin_hold(alert=alert.pk, series=series, **asked)


def seen(alert: Alert, actor: User) -> dict[str, Any]:
    alert.refresh_from_db()
    return {"alert": alert.pk, "actor": actor, "version": alert.version}


def reasons() -> list[str]:
    return list(AlertHold.objects.values_list("reason", flat=True))


def resolve(alert: Alert, ada: User) -> None:
    alerts.resolve(**seen(alert, ada), resolution="expected")


def test_what_lasts_is_read_in_one_statement(
    alert: Alert,
    series: Series,
    along: list[Revision],
    django_assert_num_queries: Callable[[int], Any],
) -> None:
    later = make.alert(along[11], after=along[10])
    for one in (later, alert):
        begin(one, series)
    begin(alert, series, after=along[1], is_loss=False)
    ended = begin(alert, series)
    end_holds([ended.pk], reason=Reason.OUTCOME, now=timezone.now())
    with django_assert_num_queries(1):
        found = holds_in([alert.tree_id])
    assert found == [
        KnownHold(alert.pk, series.pk, 101, 108, is_loss=False),
        KnownHold(alert.pk, series.pk, 102, 108, is_loss=True),
        KnownHold(later.pk, series.pk, 110, 111, is_loss=True),
    ]
    assert holds_in([make.tree("another").pk]) == []


def test_resolving_ends_all_holds_of_the_alert_and_an_undo_restores_them(
    alert: Alert, series: Series, ada: User
) -> None:
    first, second = begin(alert, series), begin(alert, make.series(in_mode="pf"))
    resolve(alert, ada)
    assert reasons() == [Reason.RESOLVED, Reason.RESOLVED]
    assert holds_in([alert.tree_id]) == []
    alerts.undo(**seen(alert, ada))
    assert reasons() == ["", ""]
    assert {one.series for one in holds_in([alert.tree_id])} == {first.series_id, second.series_id}


def test_reopening_restores_what_a_resolution_ended_and_an_undo_ends_it_again(
    alert: Alert, series: Series, ada: User
) -> None:
    begin(alert, series)
    resolve(alert, ada)
    alerts.reopen(**seen(alert, ada))
    assert reasons() == [""]
    alerts.undo(**seen(alert, ada))
    assert reasons() == [Reason.RESOLVED]


@pytest.mark.parametrize("reason", [Reason.OUTCOME, Reason.CANCELLED])
@pytest.mark.parametrize("first", ["the bisect ends", "the alert is resolved"])
def test_what_a_bisect_ended_does_not_come_back(
    alert: Alert, series: Series, ada: User, reason: AlertHold.Reason, first: str
) -> None:
    hold = begin(alert, series)
    if first == "the alert is resolved":
        resolve(alert, ada)
    end_holds([hold.pk], reason=reason, now=timezone.now())
    if first == "the bisect ends":
        resolve(alert, ada)
    assert reasons() == [reason]
    alerts.reopen(**seen(alert, ada))
    assert reasons() == [reason]


def test_a_hold_of_a_resolved_alert_begins_when_that_is_reopened(
    alert: Alert, series: Series, ada: User
) -> None:
    resolve(alert, ada)
    begin(alert, series)
    assert reasons() == [Reason.RESOLVED]
    alerts.reopen(**seen(alert, ada))
    assert reasons() == [""]


@pytest.mark.parametrize("act", ["acknowledge", "investigate", "snooze"])
def test_other_acts_leave_it_alone(alert: Alert, series: Series, ada: User, act: str) -> None:
    begin(alert, series)
    until = {"until": timezone.now().replace(year=2999)} if act == "snooze" else {}
    getattr(alerts, act)(**seen(alert, ada), **until)
    assert reasons() == [""]


def test_what_closed_before_anybody_looked_is_still_held(alert: Alert, series: Series) -> None:
    """A retracted alert that nobody triaged is the system's, which a bisect knows better than."""
    begin(alert, series)
    alert.state, alert.resolution = Alert.State.RESOLVED, Alert.Resolution.RETRACTED
    alert.save()
    follow_alerts([alert], now=timezone.now())
    assert reasons() == [""]


def test_what_the_clock_closes_after_somebody_looked_is_held_no_longer(
    alert: Alert, series: Series, ada: User
) -> None:
    begin(alert, series)
    alerts.acknowledge(**seen(alert, ada))
    long_ago = timezone.now().replace(year=2020)
    Alert.objects.update(state=Alert.State.RECOVERED, updated_at=long_ago)
    assert alerts.pass_time() == 1
    assert reasons() == [Reason.RESOLVED]


def test_it_goes_over_to_the_revisions_that_its_ends_were_merged_into(
    alert: Alert, series: Series, along: list[Revision]
) -> None:
    hold = begin(alert, series, after=along[3], last=along[6])
    merge_revisions(source=along[3], into=along[4])
    merge_revisions(source=along[6], into=along[7])
    hold.refresh_from_db()
    assert (hold.after, hold.last) == (along[4], along[7])
    assert [(one.after, one.last) for one in holds_in([alert.tree_id])] == [(104, 107)]


def test_it_goes_over_to_the_series_that_its_own_was_merged_into(
    alert: Alert, series: Series
) -> None:
    hold = begin(alert, series)
    into = make.series(on=make.hardware("renamed"))
    merge_hardware(source=series.hardware, into=into.hardware)
    hold.refresh_from_db()
    assert hold.series == into


@pytest.mark.parametrize("closed", ["kept", "gone", "both", "none"])
def test_it_goes_over_to_the_alert_that_its_own_is_joined_to(
    alert: Alert, series: Series, along: list[Revision], ada: User, closed: str
) -> None:
    kept = make.alert(along[10], after=along[9])
    for one in (alert, kept):
        begin(one, series)
    for one, name in ((alert, "gone"), (kept, "kept")):
        if closed in (name, "both"):
            resolve(one, ada)
    merge_revisions(source=along[8], into=along[10])
    kept.refresh_from_db()
    assert [one.alert for one in AlertHold.objects.all()] == [kept, kept]
    assert kept.is_resolved_by_people == (closed == "both")
    assert set(reasons()) == ({Reason.RESOLVED} if closed == "both" else {""})


def test_it_goes_with_its_alert(alert: Alert, series: Series) -> None:
    begin(alert, series)
    alert.delete()
    assert not AlertHold.objects.exists()


def test_the_database_refuses_one_of_no_commit_and_an_end_without_a_reason(
    alert: Alert, series: Series
) -> None:
    begin(alert, series)
    now = timezone.now()
    wrong: list[tuple[str, dict[str, Any]]] = [
        ("alert_hold_between_two", {"after": alert.revision}),
        ("alert_hold_ended_for_a_reason", {"ended_at": now}),
        ("alert_hold_ended_for_a_reason", {"reason": Reason.OUTCOME}),
        ("alert_hold_ended_for_a_reason", {"ended_at": now, "reason": "weather"}),
    ]
    for name, fields in wrong:
        with pytest.raises(IntegrityError, match=name), transaction.atomic():
            AlertHold.objects.update(**fields)
