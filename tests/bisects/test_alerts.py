"""Alerts and bisects: started by an alert, and noted in it at the end."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from tests import make
from tests.bisects import lab
from tests.bisects.lab import Truth
from tests.kept import kept
from tests.results.steps import analyse
from webapp.accounts.models import User
from webapp.alerts.models import Alert, AlertHold
from webapp.alerts.queries.findings import findings_of
from webapp.alerts.services import reconcile_trees
from webapp.bisects.draft import BisectError
from webapp.bisects.mails import compose_done
from webapp.bisects.models import Bisect, BisectSettings
from webapp.bisects.services import draft_bisect, start_bisect
from webapp.bisects.services.automatic import start_automatic_bisects
from webapp.jobs.models import Job
from webapp.merging.services import merge_revisions
from webapp.notifications.models import Subscription
from webapp.notifications.queries import Target
from webapp.outbox.messages import NothingToSay
from webapp.outbox.models import Mail

TRUTH = Truth(step_pct=-5.0)


def found() -> Alert:
    """One of a loss of 5 % that any of 16 commits may have made."""
    lab.measured_before(TRUTH)
    analyse()
    return Alert.objects.get()


@pytest.fixture
@kept
def alert() -> Alert:
    return found()


@pytest.fixture
@kept
def ended() -> Bisect:
    """Of an alert of which bob was mailed, and eve was to be: it named r1009."""
    alert = found()
    _mailed("bob", alert)
    _mailed("eve", alert, state="waiting")
    return lab.work(TRUTH, of_alert(alert))


def automatic() -> None:
    BisectSettings.objects.create(tree=make.tree(), automatic=True)


def of_alert(alert: Alert) -> Bisect:
    worst = findings_of([alert]).with_subjects()[0]
    draft = draft_bisect(
        series=worst.series,
        good=alert.after,
        bad=alert.revision,
        effect_pct=worst.change_pct or 0,
        alert=alert,
    )
    return start_bisect(draft=draft, created_by=make.user("ada", email="ada@example.org"))


@pytest.mark.django_db
def test_an_alert_starts_one_bisect_where_the_tree_allows_it(alert: Alert) -> None:
    assert start_automatic_bisects() == []
    automatic()
    assert len(start_automatic_bisects()) == 1
    assert start_automatic_bisects() == []
    bisect = Bisect.objects.get()
    assert (bisect.alert, bisect.created_by, bisect.good.name) == (alert, None, "r1000")


@pytest.mark.django_db
def test_alerts_of_which_no_bisect_can_begin_hold_up_no_other(
    alert: Alert, monkeypatch: pytest.MonkeyPatch
) -> None:
    automatic()
    for index in range(3):
        revision = make.revision(f"r900{index + 1}")
        Alert.objects.create(
            pk=-1 - index,  # older than the other
            tree=revision.tree,
            revision=revision,
            after=make.revision(f"r900{index}"),
            likeliest=revision,
            verdict="regression",
            opened_at=timezone.now(),
            updated_at=timezone.now(),
        )
    monkeypatch.setattr("webapp.bisects.services.automatic.AT_ONCE", 1)
    assert len(start_automatic_bisects()) == 1
    assert Bisect.objects.get().alert == alert


@pytest.mark.django_db(transaction=True)
def test_two_workers_start_one_bisect_of_an_alert(alert: Alert) -> None:
    automatic()

    def start() -> list[int]:
        try:
            return start_automatic_bisects()
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as threads:
        started = [threads.submit(start) for _ in range(4)]
        numbers = [number for each in started for number in each.result()]
    assert len(numbers) == Bisect.objects.count() == 1


@pytest.mark.django_db
def test_a_bisect_of_other_commits_is_none_of_the_alert(alert: Alert) -> None:
    with pytest.raises(BisectError, match=f"none of the suspects of alert {alert.pk}"):
        draft_bisect(
            series=findings_of([alert]).with_subjects()[0].series,
            good=lab.revision(-5),
            bad=lab.revision(0),
            effect_pct=-5.0,
            alert=alert,
        )


@pytest.mark.django_db
def test_an_alert_takes_the_commit_that_its_bisect_named(ended: Bisect) -> None:
    assert ended.culprit == lab.revision(9)
    alert = Alert.objects.get()
    assert alert.likeliest == alert.named == lab.revision(9)
    assert alert.events.filter(kind="named").get().reason.startswith(f"bisect {ended.pk}: r1009")


@pytest.mark.django_db
def test_what_a_bisect_named_outlives_the_next_analysis(ended: Bisect) -> None:
    lab.upload(lab.documents(Truth(step_pct=-5.0, seed=8), range(24, 27)))
    analyse()
    reconcile_trees([make.tree().pk])
    alert = Alert.objects.exclude(state="resolved").get()
    assert alert.likeliest == lab.revision(9)


@pytest.mark.django_db
def test_the_mail_at_the_end_names_the_commit_and_goes_to_those_who_were_mailed(
    ended: Bisect,
) -> None:
    notified = Mail.objects.filter(kind="bisect.done", thread=f"alert:{ended.alert_id}")
    assert sorted(notified.values_list("recipient__username", flat=True)) == ["ada", "bob"]
    message = compose_done(notified.get(recipient__username="ada"))
    assert message.subject.startswith(f"[driftline] bisect {ended.pk}: r1009 made the step")
    assert "\n" not in message.subject
    assert f"/bisects/{ended.pk}/" in message.text
    assert f"/alerts/{ended.alert_id}/" in message.html


def _mailed(name: str, alert: Alert, *, state: str = "sent") -> Subscription:
    """The subscription by which somebody was mailed about ``alert``."""
    because = make.subscription(make.user(name, email=f"{name}@example.org"))
    Mail.objects.create(
        recipient=because.user,
        kind="alert.opened",
        about=f"alert:{alert.pk}",
        state=state,
        due=timezone.now(),
        data={"alert": alert.pk, "subscription": because.pk},
    )
    return because


@pytest.mark.django_db
def test_who_stopped_the_mails_about_an_alert_hears_of_no_bisect(alert: Alert) -> None:
    bisect = of_alert(alert)
    early, late = _mailed("bob", alert), _mailed("eve", alert)
    Subscription.objects.filter(pk=early.pk).update(enabled=False)
    lab.work(TRUTH, bisect)
    mail = Mail.objects.get(kind="bisect.done", recipient=late.user)
    message = compose_done(mail)
    assert message.unsubscribe_url in message.text
    assert message.unsubscribe_url in message.html
    assert late in Target.read(message.unsubscribe_url.split("/")[-2]).subscriptions()
    Subscription.objects.filter(pk=late.pk).update(enabled=False)
    with pytest.raises(NothingToSay, match="switched off"):
        compose_done(mail)
    notified = Mail.objects.filter(kind="bisect.done").values_list("recipient__username", flat=True)
    assert sorted(notified) == ["ada", "eve"]


@pytest.mark.django_db
def test_the_page_of_an_alert_offers_a_bisect_and_shows_how_it_stands(
    alert: Alert, client: Client
) -> None:
    address = f"/alerts/{alert.pk}/"
    assert f"/bisects/new/?alert={alert.pk}" in client.get(address).content.decode()
    form = client.get(f"/bisects/new/?alert={alert.pk}").content.decode()
    assert "Forecast" in form
    bisect = of_alert(alert)
    assert f'href="/bisects/{bisect.pk}/"' in client.get(address).content.decode()


@pytest.mark.django_db
def test_where_a_bisect_found_the_commit_no_note_calls_it_needless(
    ended: Bisect, client: Client
) -> None:
    found = lab.revision(9)
    # Further boots may leave but one commit.
    Alert.objects.update(revision=found, after=lab.revision(8), likeliest=found)
    address = Alert.objects.get().get_absolute_url()
    html = client.get(address).content.decode()
    assert f"Bisect {ended.pk}</a>, done" in html
    assert "No bisect:" not in html
    Alert.objects.update(named=None, named_probability=None)
    assert "No bisect:" in client.get(address).content.decode()


@pytest.mark.django_db
def test_a_triager_asks_an_agent_from_the_pages_of_an_alert_and_of_a_comparison(
    alert: Alert, client: Client
) -> None:
    address = f"/alerts/{alert.pk}/?show=measure"
    assert "Confirm this candidate" not in client.get(address).content.decode()
    client.force_login(make.user("tess", role=User.Role.TRIAGER))
    page = client.get(address).content.decode()
    assert "Confirm this candidate" in page
    assert "Fill this gap" in page
    side = f"{lab.HARDWARE}:{lab.MODE}:pps"
    compared = f"/compare/?a=freebsd-head:r1000:{side}&b=freebsd-head:r1016:{side}"
    opened = client.get(compared.replace("/compare/", "/compare/row/")).content.decode()
    assert opened.count("More runs of this point") == 2
    form = {"tree": "freebsd-head", "revision": "r1000", "hardware": lab.HARDWARE}
    asked = {"mode": lab.MODE, "boots": "5", "purpose": "more runs", "next": compared}
    client.post("/jobs/request/", form | asked)
    assert Job.objects.get().boots == 5


@pytest.mark.django_db
def test_a_bisect_goes_over_to_the_alert_that_its_alert_is_joined_to(alert: Alert) -> None:
    bisect, gone = of_alert(alert), alert.pk
    alert.pk, alert.revision = None, make.revision("r2000", position=2000)
    alert.save()
    merge_revisions(source=bisect.bad, into=alert.revision)
    bisect.refresh_from_db()
    assert bisect.alert == alert
    assert bisect.hold is not None
    assert (bisect.hold.alert, bisect.hold.reason) == (alert, "")
    assert not Alert.objects.filter(pk=gone).exists()


@pytest.mark.django_db
def test_of_two_that_started_themselves_the_one_left_without_an_alert_lets_go(
    alert: Alert,
) -> None:
    automatic()
    start_automatic_bisects()
    first, gone = Bisect.objects.get(), alert.pk
    alert.pk, alert.revision = None, make.revision("r2000", position=2000)
    alert.save()
    Bisect.objects.update(alert=alert)
    AlertHold.objects.update(alert=alert)
    start_automatic_bisects()
    twin = Bisect.objects.get(alert=gone)
    merge_revisions(source=Alert.objects.get(pk=gone).revision, into=alert.revision)
    twin.refresh_from_db()
    first.refresh_from_db()
    assert twin.alert is None
    assert [one.hold and one.hold.reason for one in (first, twin)] == ["", "joined"]
