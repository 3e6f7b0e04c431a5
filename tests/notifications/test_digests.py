"""Mails once a day or once a week."""

from datetime import UTC, datetime, timedelta

import pytest

from tests import make
from webapp.alerts.models import Alert, AlertEvent
from webapp.notifications.models import Subscription
from webapp.notifications.services import post_digests
from webapp.outbox.messages import NothingToSay, compose
from webapp.outbox.models import Mail

pytestmark = pytest.mark.django_db
MONDAY_MORNING = datetime(2026, 3, 2, 7, 30, tzinfo=UTC)
DAY = timedelta(days=1)


def alert(at: datetime, *, number: int = 0) -> Alert:
    before, revision = make.revisions(2, first=300_000 + 10 * number)
    made = Alert.objects.create(
        tree=revision.tree,
        revision=revision,
        after=before,
        likeliest=revision,
        verdict="regression",
        opened_at=at,
        updated_at=at,
    )
    row = make.finding(make.series(in_mode="pf"), before, revision, alert=made)
    AlertEvent.objects.create(alert=made, at=at, kind="opened", version=1)
    AlertEvent.objects.create(alert=made, at=at, kind="joined", version=1, findings=[row.pk])
    return made


def test_a_day_is_reported_once_when_it_is_over() -> None:
    make.subscription(cadence="daily")
    first = alert(MONDAY_MORNING - timedelta(hours=3))
    assert post_digests(now=MONDAY_MORNING - timedelta(minutes=29)) == 0
    assert post_digests(now=MONDAY_MORNING) == 1
    assert post_digests(now=MONDAY_MORNING + timedelta(hours=5)) == 0
    mail = Mail.objects.get()
    assert (mail.kind, mail.about) == ("digest.daily", "digest:2026-03-02")
    assert mail.data["alerts"] == [first.pk]
    assert post_digests(now=MONDAY_MORNING + DAY) == 0
    later = alert(MONDAY_MORNING + DAY, number=1)
    assert post_digests(now=MONDAY_MORNING + 2 * DAY) == 1
    assert Mail.objects.get(about="digest:2026-03-04").data["alerts"] == [later.pk]


def test_a_week_is_reported_on_monday() -> None:
    make.subscription(cadence="weekly")
    alert(MONDAY_MORNING - 4 * DAY)
    for day in range(-3, 0):
        assert post_digests(now=MONDAY_MORNING + day * DAY) == 0
    assert post_digests(now=MONDAY_MORNING) == 1


def test_the_day_ends_in_the_persons_time_zone() -> None:
    ada = make.user("ada", email="ada@example.org", time_zone="America/New_York")
    make.subscription(ada, cadence="daily")
    alert(MONDAY_MORNING - timedelta(hours=3))
    assert post_digests(now=MONDAY_MORNING) == 0
    assert post_digests(now=MONDAY_MORNING + timedelta(hours=5)) == 1


def test_only_what_fits_and_is_newer_than_the_subscription_is_reported() -> None:
    make.subscription(cadence="daily", changed_at=MONDAY_MORNING - DAY)
    make.subscription(make.user("eve", email="e@x.org"), cadence="daily", severity=50)
    alert(MONDAY_MORNING - 2 * DAY)
    assert post_digests(now=MONDAY_MORNING) == 0


def test_what_came_and_went_is_no_news_but_what_was_reported_is_taken_back() -> None:
    make.subscription(cadence="daily")
    made = alert(MONDAY_MORNING - timedelta(hours=3))
    Alert.objects.update(is_active=False, state="resolved", resolution="retracted")
    AlertEvent.objects.create(
        alert=made, at=MONDAY_MORNING - timedelta(hours=2), kind="retracted", version=2
    )
    assert post_digests(now=MONDAY_MORNING) == 0
    Alert.objects.update(opened_at=MONDAY_MORNING - 40 * DAY)
    assert post_digests(now=MONDAY_MORNING) == 1
    assert "(retracted" in compose(Mail.objects.get()).text


def test_a_digest_names_each_alert_with_its_address() -> None:
    make.subscription(name="pf & co", cadence="daily")
    made = alert(MONDAY_MORNING - timedelta(hours=3))
    post_digests(now=MONDAY_MORNING)
    message = compose(Mail.objects.get())
    assert message.subject == "[driftline] 1 alert of the day until 2026-03-02"
    assert f"Alert {made.pk} (new): pf on Atom C2758 T540-CR 11.4 % slower [" in message.text
    assert f"/alerts/{made.pk}/" in message.text
    assert "“pf & co”" in message.text
    assert "pf &amp; co" in message.html
    assert "/unsubscribe/" in message.unsubscribe_url
    Subscription.objects.update(enabled=False)
    with pytest.raises(NothingToSay):
        compose(Mail.objects.get())


def test_a_digest_posted_before_the_clock_was_set_back_costs_no_other_day() -> None:
    make.subscription(cadence="daily")
    first = alert(MONDAY_MORNING - timedelta(hours=3))
    assert post_digests(now=MONDAY_MORNING + 3 * DAY) == 1  # the clock is wrong
    assert post_digests(now=MONDAY_MORNING) == 0
    second = alert(MONDAY_MORNING + timedelta(hours=2), number=1)
    assert post_digests(now=MONDAY_MORNING + DAY) == 1
    third = alert(MONDAY_MORNING + 2 * DAY, number=2)
    assert post_digests(now=MONDAY_MORNING + 3 * DAY) == 1
    mailed = [mail.data["alerts"] for mail in Mail.objects.order_by("data__until")]
    assert mailed == [[first.pk], [second.pk], [third.pk]]
