"""A slow loss wherever alerts are shown: as one that went on, in which parts, and by no commit."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from tests import make
from tests.kept import kept
from webapp.alerts.models import Alert, AlertEvent
from webapp.notifications.services import notify_events, post_digests
from webapp.outbox.messages import Message, compose
from webapp.outbox.models import Endpoint, HookDelivery, Mail

pytestmark = pytest.mark.django_db
PARTS = [{"after": "r300010", "up_to": "r300020", "change_pct": -3.1}]
LARGEST = "the largest part: −3.1 % from r300010 to r300020"


@pytest.fixture
@kept
def slow() -> Alert:
    """pf-statefull lost 7.2 % over 40 revisions, most of it in one part; ipfw lost evenly."""
    along = make.revisions(40)
    before, at = along[0], along[-1]
    named = make.series(in_mode="pf-statefull")
    alert = make.alert(at, after=before, kind="slow", hardware=named.hardware)
    fields = {"kind": "slow", "after": before, "alert": alert, "why": "A trend. No single commit."}
    make.finding(named, before, at, change_pct=-7.2, details={"parts": PARTS}, **fields)
    other = make.series(in_mode="ipfw")
    make.finding(other, before, at, change_pct=-4.0, details={"parts": []}, **fields)
    for series in (named, other):
        make.history(series, along, [1e6 - 1e3 * i for i in range(40)])
    now = timezone.now()
    AlertEvent.objects.create(alert=alert, at=now, kind="opened", version=1)
    joined = [row.pk for row in alert.findings]
    AlertEvent.objects.create(alert=alert, at=now, kind="joined", version=1, findings=joined)
    return alert


def mailed() -> Message:
    notify_events()
    return compose(Mail.objects.get(kind="alert.opened"))


def test_its_mail_names_the_window_the_parts_and_no_commit(slow: Alert) -> None:
    make.subscription()

    message = mailed()

    window = "between r300000 and r300117, no single commit"
    assert message.subject.endswith(window)
    assert message.subject.startswith("[driftline] -7.2% pf-statefull on ")
    for form in (message.text, message.html):
        assert f"{window}; {LARGEST}, and 1 more (1 worse)." in form
        assert "Suspects" not in form
        assert "Spread boots over the window" in form
        assert f"/alerts/{slow.pk}/#next" in form
    assert "a=freebsd-head:r300000:" in message.text
    assert "b=freebsd-head:r300117:" in message.text
    assert len(message.text.splitlines()) < 60


def test_a_subscription_to_commits_of_mine_never_fits(slow: Alert) -> None:
    ada = make.user("ada", email="ada@example.org")
    type(slow.revision).objects.update(author_email="ada@example.org")
    make.subscription(ada, mine=True)

    notify_events()

    assert not Mail.objects.exists()


def test_a_subscription_to_larger_losses_does_not_fit_and_one_to_its_machine_does(
    slow: Alert,
) -> None:
    make.subscription(name="large", severity=7.5)
    notify_events()
    assert not Mail.objects.exists()

    AlertEvent.objects.update(is_read=False)
    make.subscription(make.user("eve", email="e@x.org"), name="it", hardware=slow.hardware)
    notify_events()
    assert Mail.objects.get().about == f"alert:{slow.pk}"


def test_webhooks_receive_its_kind_and_the_parts_of_each_finding(slow: Alert) -> None:
    Endpoint.objects.create(name="chat", url="https://chat.example.org/hook")

    notify_events()

    payload = HookDelivery.objects.get(kind="alert.opened").payload
    assert (payload["alert_kind"], payload["commit"]) == ("slow", None)
    first, second = payload["findings"]
    assert first["kind"] == "slow"
    assert first["parts"] == [{"after": "r300010", "up_to": "r300020", "change_percent": -3.1}]
    assert second["parts"] == []


def test_digests_and_feeds_state_the_same(slow: Alert, client: Client) -> None:
    make.subscription(cadence="daily", changed_at=timezone.now() - timedelta(days=3))
    post_digests(now=timezone.now() + timedelta(days=1, hours=1))

    digest = compose(Mail.objects.get())

    sentence = f"between r300000 and r300117, no single commit; {LARGEST}"
    assert sentence in digest.text
    assert sentence in digest.html
    assert sentence in client.get("/feeds/freebsd-head.atom").content.decode()
    assert slow.hardware is not None
    feed = client.get(f"/feeds/hardware/{slow.hardware.name}.atom").content.decode()
    assert sentence in feed


def test_its_page_and_the_api_name_the_parts(slow: Alert, client: Client) -> None:
    page = client.get(f"/alerts/{slow.pk}/").content.decode()
    assert f"no single commit; {LARGEST}; one other series lost" in page

    answer = client.get(f"/api/v1/alerts/{slow.pk}").json()
    assert (answer["kind"], answer["commit"]) == ("slow", None)
    assert [one["parts"] for one in answer["findings"]] == [
        [{"after": "r300010", "up_to": "r300020", "change_percent": -3.1}],
        [],
    ]
    assert all(one["details"] == {} for one in answer["findings"])


def test_the_quality_of_alerts_counts_it(slow: Alert, client: Client) -> None:
    Alert.objects.update(
        state="resolved", resolution="not real", triaged=True, opened_at=timezone.now()
    )
    AlertEvent.objects.create(
        alert=slow, at=timezone.now(), kind="resolved", version=2, actor=make.user("eve")
    )

    page = client.get("/quality/").content.decode()

    assert "0 of 1" in page
