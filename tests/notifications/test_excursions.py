"""An excursion of a machine wherever alerts are shown or counted: one revision, no commit."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from tests import make
from tests.kept import kept
from webapp.alerts import services as alerts
from webapp.alerts.models import Alert, AlertEvent
from webapp.alerts.queries import noisiest, open_by_age, triage_quality
from webapp.notifications.services import notify_events, post_digests
from webapp.outbox.messages import compose
from webapp.outbox.models import Endpoint, HookDelivery, Mail

pytestmark = pytest.mark.django_db
SENTENCE = "at r300060, one revision, back afterwards"
DAY = timedelta(days=1)


@pytest.fixture
@kept
def odd() -> Alert:
    """The machine was 30 % off at one revision in pf, and 12 % in ipfw; the next one is back."""
    along = make.revisions(40)
    before, at, back = along[19:22]
    of = make.series(in_mode="pf-statefull")
    alert = make.alert(at, after=before, kind="excursion", hardware=of.hardware)
    for mode, size in (("pf-statefull", -30.0), ("ipfw", -12.0)):
        series = make.series(in_mode=mode)
        make.finding(
            series,
            before,
            at,
            kind="excursion",
            state="recovered",
            recovered_by=back,
            change_pct=size,
            alert=alert,
            why="Excursion: r300060 alone is off.",
        )
        make.history(series, along, [1e6 * (1 + size / 100 * (i == 20)) for i in range(40)])
    now = timezone.now()
    AlertEvent.objects.create(alert=alert, at=now, kind="opened", version=1)
    joined = [row.pk for row in alert.findings]
    AlertEvent.objects.create(alert=alert, at=now, kind="joined", version=1, findings=joined)
    return alert


def test_digests_and_feeds_state_that_it_is_back_and_blame_no_commit(
    odd: Alert, client: Client
) -> None:
    make.subscription(cadence="daily", changed_at=timezone.now() - 3 * DAY)
    post_digests(now=timezone.now() + DAY + timedelta(hours=1))

    digest = compose(Mail.objects.get())

    for form in (digest.text, digest.html):
        assert f"pf-statefull on {odd.hardware}" in form
        assert SENTENCE in form
        assert "regression since" not in form
    assert odd.hardware is not None
    for feed in ("freebsd-head", f"hardware/{odd.hardware.name}"):
        assert SENTENCE in client.get(f"/feeds/{feed}.atom").content.decode()


def test_one_that_came_and_went_within_the_day_is_in_no_digest(odd: Alert) -> None:
    make.subscription(cadence="daily", changed_at=timezone.now() - 3 * DAY)
    gone = {"is_active": False, "state": "resolved", "resolution": "retracted"}
    Alert.objects.update(opened_at=timezone.now(), **gone)
    post_digests(now=timezone.now() + DAY + timedelta(hours=1))

    assert not Mail.objects.exists()


def test_webhooks_receive_its_kind_its_machine_and_no_commit(odd: Alert) -> None:
    Endpoint.objects.create(name="chat", url="https://chat.example.org/hook")

    notify_events()

    payload = HookDelivery.objects.get(kind="alert.opened").payload
    assert (payload["alert_kind"], payload["commit"]) == ("excursion", None)
    assert (payload["revision"], payload["chance"], payload["commits"]) == ("r300060", 0.0, 0)
    assert [one["kind"] for one in payload["findings"]] == ["excursion", "excursion"]
    assert [one["change_percent"] for one in payload["findings"]] == [-30.0, -12.0]
    assert {one["state"] for one in payload["findings"]} == {"recovered"}
    assert {one["revision"] for one in payload["findings"]} == {"r300060"}


def test_the_api_states_that_no_commit_has_any_chance(odd: Alert, client: Client) -> None:
    answer = client.get(f"/api/v1/alerts/{odd.pk}").json()

    assert (answer["commit"], answer["commits"], answer["chance"]) == (None, 0, 0.0)


def test_a_subscription_to_its_machine_fits_and_one_to_commits_of_mine_never_does(
    odd: Alert,
) -> None:
    ada = make.user("ada", email="ada@example.org")
    type(odd.revision).objects.update(author_email="ada@example.org")
    make.subscription(ada, mine=True)
    notify_events()
    assert not Mail.objects.exists()

    AlertEvent.objects.update(is_read=False)
    make.subscription(make.user("eve", email="e@x.org"), name="it", hardware=odd.hardware)
    notify_events()
    assert Mail.objects.get().about == f"alert:{odd.pk}"


def test_what_people_judge_of_it_counts_in_the_quality_of_alerts(
    odd: Alert, client: Client
) -> None:
    since = odd.opened_at - DAY
    assert sum(count for _, count in open_by_age(odd.opened_at + DAY)) == 1
    assert triage_quality(since).opened == 1
    person = make.user()
    alerts.resolve(
        alert=odd.pk, actor=person, version=odd.version, resolution=Alert.Resolution.NOT_REAL
    )

    found = triage_quality(since)

    assert (found.acted_on, found.retracted) == (1, 0)
    assert found.precision is not None
    assert (found.precision.count, found.precision.total) == (0, 1)
    noisy = {one.series.mode.name: one for one in noisiest(since)}
    assert noisy.keys() == {"pf-statefull", "ipfw"}
    assert (noisy["ipfw"].not_real, noisy["ipfw"].others) == (1, 0)
    proposed = noisy["ipfw"].proposed
    assert proposed is not None
    assert proposed.percent > 12
    client.force_login(person)
    assert client.get("/quality/").status_code == 200
