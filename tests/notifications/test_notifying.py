"""Who is notified of what, when alerts change."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests import make
from tests.alerts.steps import arrive, revision_of, runs_of
from tests.results.steps import analyse
from webapp.alerts.models import Alert, AlertEvent
from webapp.alerts.services import acknowledge, pass_time, resolve
from webapp.notifications.services import notify_events
from webapp.outbox.models import Endpoint, HookDelivery, Mail
from webapp.outbox.services import send_due_mails
from webapp.results.models import Run
from webapp.results.services import forget_names, withdraw_run

pytestmark = pytest.mark.django_db
ATOM, XEON = "Atom/T540", "Xeon/T580"


@pytest.fixture(autouse=True)
def names_forgotten() -> None:
    forget_names()


def posted() -> list[tuple[str, str, str]]:
    notify_events()
    rows = Mail.objects.order_by("pk").select_related("recipient")
    return [(row.recipient.username, row.kind, row.about) for row in rows]


def withdraw(**which: Any) -> None:
    for run in Run.objects.filter(**which):
        withdraw_run(run=run, by=None, reason="wrong kernel")
    analyse()


def test_an_alert_is_mailed_once_to_whom_it_concerns_after_a_while() -> None:
    make.subscription()
    make.subscription(
        make.user("bob", email="bob@example.org"),
        hardware=make.hardware(XEON, of=make.lab("netlab")),
    )
    arrive(runs_of({(ATOM, "pf"): {15: 0.9}, (ATOM, "ipfw"): {15: 0.9}}))
    alert = Alert.objects.get()
    assert posted() == [("ada", "alert.opened", f"alert:{alert.pk}")]
    mail = Mail.objects.get()
    assert mail.thread == f"alert:{alert.pk}"
    assert mail.due > timezone.now() + timedelta(seconds=30)
    assert alert.mailed


def test_findings_that_join_later_are_reported_to_those_whom_they_concern() -> None:
    make.subscription()
    make.subscription(
        make.user("bob", email="bob@example.org"),
        hardware=make.hardware(XEON, of=make.lab("netlab")),
    )
    documents = runs_of({(ATOM, "pf"): {15: 0.9}, (XEON, "pf"): {15: 0.9}})
    arrive([document for document in documents if document["hardware"] == ATOM])
    assert [name for name, _, _ in posted()] == ["ada"]
    arrive([document for document in documents if document["hardware"] == XEON])
    assert [name for name, _, _ in posted()] == ["ada", "bob"]


def test_two_subscriptions_of_one_person_make_one_mail() -> None:
    first = make.subscription()
    make.subscription(first.user, "again")
    arrive(runs_of({(ATOM, "pf"): {15: 0.9}}))
    assert [mail.data["subscription"] for mail in Mail.objects.all()] == [first.pk]


def test_nobody_is_mailed_who_cannot_be_or_does_not_want_to_be() -> None:
    make.subscription(make.user("no-address"))
    make.subscription(make.user("gone", email="gone@example.org", is_active=False))
    make.subscription(make.user("off", email="off@example.org"), enabled=False)
    make.subscription(make.user("daily", email="daily@example.org"), cadence="daily")
    arrive(runs_of({(ATOM, "pf"): {15: 0.9}}))
    assert posted() == []


def test_history_mails_nobody_until_a_present_run_shows_the_same() -> None:
    make.subscription()
    documents = runs_of({(ATOM, "pf"): {15: 0.9}})
    arrive(documents, history=True)
    assert posted() == []
    again = runs_of({(ATOM, "pf"): {15: 0.9}}, seed=6)
    arrive([document for document in again if revision_of(document) == 115])
    alert = Alert.objects.get()
    assert (alert.state, alert.history) == ("new", False)
    assert [kind for _, kind, _ in posted()] == ["alert.opened"]


def test_what_was_mailed_is_no_history_any_more() -> None:
    make.subscription()
    arrive(runs_of({(ATOM, "pf"): {15: 0.9}}), history=True)
    again = runs_of({(ATOM, "pf"): {15: 0.9}}, seed=6)
    arrive([document for document in again if revision_of(document) == 115])
    withdraw(history=False)
    alert = Alert.objects.get()
    assert (alert.state, alert.history, alert.is_active) == ("new", False, True)


def test_a_retraction_is_reported_to_those_who_were_notified_of_the_alert() -> None:
    make.subscription()
    arrive(runs_of({(ATOM, "pf"): {15: 0.9}}, count=18))
    make.subscription(make.user("late", email="late@example.org"))
    withdraw(revision__position__gte=115)
    about = f"alert:{Alert.objects.get().pk}"
    assert posted() == [("ada", "alert.opened", about), ("ada", "alert.retracted", about)]


def test_a_recovery_and_its_end_are_reported() -> None:
    make.subscription()
    documents = runs_of({(ATOM, "pf"): {10: 0.9, 20: 1.11}})
    arrive([document for document in documents if revision_of(document) < 120])
    arrive([document for document in documents if revision_of(document) >= 120])
    alert = Alert.objects.order_by("revision__position")[0]
    about = f"alert:{alert.pk}"
    assert [kind for _, kind, name in posted() if name == about] == [
        "alert.opened",
        "alert.recovered",
    ]
    withdraw(revision__position__gte=120)
    assert [kind for _, kind, name in posted() if name == about][-1] == "alert.returned"


def test_a_recovery_is_reported_that_came_for_good_after_one_that_went_before_its_mail() -> None:
    make.subscription()
    documents = runs_of({(ATOM, "pf"): {10: 0.9, 20: 1.11}})
    arrive([document for document in documents if revision_of(document) < 120])
    arrive([document for document in documents if revision_of(document) >= 120])
    withdraw(revision__position__gte=120)
    recovered = Mail.objects.filter(kind="alert.recovered")
    recovered.update(state="dropped", reason="It is no longer recovered.")
    again = runs_of({(ATOM, "pf"): {10: 0.9, 20: 1.11}}, seed=6)
    arrive([document for document in again if revision_of(document) >= 120])
    assert recovered.get().state == "waiting"


def test_who_unsubscribed_hears_nothing_more() -> None:
    subscription = make.subscription()
    arrive(runs_of({(ATOM, "pf"): {15: 0.9}}, count=18))
    subscription.enabled = False
    subscription.save()
    withdraw(revision__position__gte=115)
    assert [kind for _, kind, _ in posted()] == ["alert.opened"]


def test_who_has_another_subscription_that_fits_hears_what_follows() -> None:
    first = make.subscription()
    second = make.subscription(first.user, "losses", direction="regressions")
    make.subscription(first.user, "huge", severity=500)
    arrive(runs_of({(ATOM, "pf"): {15: 0.9}}, count=18))
    first.delete()
    withdraw(revision__position__gte=115)
    assert [kind for _, kind, _ in posted()] == ["alert.opened", "alert.retracted"]
    assert Mail.objects.get(kind="alert.retracted").data["subscription"] == second.pk


def test_what_people_do_is_not_mailed() -> None:
    subscription = make.subscription(make.user("eve", email="eve@example.org"), severity=1000)
    arrive(runs_of({(ATOM, "pf"): {15: 0.9}}))
    alert = Alert.objects.get()
    alert = acknowledge(alert=alert.pk, actor=subscription.user, version=alert.version)
    resolve(alert=alert.pk, actor=subscription.user, version=alert.version, resolution="expected")
    pass_time()
    assert posted() == []


def test_a_mail_waits_for_the_end_of_the_quiet_hours() -> None:
    now = timezone.now()
    ends = (now + timedelta(hours=2)).replace(second=0, microsecond=0)
    ada = make.user(
        email="ada@example.org",
        quiet_from=(now - timedelta(hours=1)).time(),
        quiet_until=ends.time(),
    )
    make.subscription(ada)
    arrive(runs_of({(ATOM, "pf"): {15: 0.9}}))
    Mail.objects.update(due=now)
    send_due_mails()
    mail = Mail.objects.get()
    assert (mail.state, mail.attempts, mail.due) == ("waiting", 0, ends)


def test_the_number_of_queries_does_not_grow_with_alerts_and_subscriptions() -> None:
    arrive(runs_of({(ATOM, "pf"): {8: 0.9, 15: 0.9, 22: 0.9}}))
    alerts = list(Alert.objects.all())
    assert len(alerts) == 3
    make.subscription()
    one = _queries(alerts[:1])
    for number in range(20):
        make.subscription(make.user(f"u{number}", email=f"u{number}@example.org"))
    assert _queries(alerts) == one
    assert Mail.objects.count() == 63


def _queries(alerts: list[Alert]) -> int:
    """How many it takes to read the opening of ``alerts`` as if for the first time."""
    Alert.objects.update(mailed=False)
    AlertEvent.objects.filter(alert__in=alerts, kind="opened").update(is_read=False)
    with CaptureQueriesContext(connection) as captured:
        assert notify_events() == len(alerts)
    return len(captured)


def test_webhooks_hear_of_the_same_events() -> None:
    Endpoint.objects.create(name="chat", url="https://chat.example.org/hook")
    arrive(runs_of({(ATOM, "pf"): {15: 0.9}}, count=18))
    withdraw(revision__position__gte=115)
    alert = Alert.objects.get()
    opened, retracted = HookDelivery.objects.order_by("pk")
    assert (opened.kind, retracted.kind) == ("alert.opened", "alert.retracted")
    assert opened.payload["alert"] == alert.pk
    assert opened.payload["url"].endswith(f"/alerts/{alert.pk}/")
    found = opened.payload["findings"][0]
    assert (found["hardware"], found["mode"], found["verdict"]) == (ATOM, "pf", "worse")
    assert found["low_percent"] < found["change_percent"] < found["high_percent"]
    assert retracted.payload["findings"] == []
