"""The inbox and the page of one alert."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from tests import make
from tests.alerts.steps import arrive, log, runs_of
from tests.pages.conftest import Counted, words
from webapp.alerts.models import Alert
from webapp.analysis.models import Comparison, Finding, SeriesSettings
from webapp.analysis.services.detecting import detect_changes
from webapp.analysis.services.findings import set_flags
from webapp.results.models import Revision, Series
from webapp.results.services import forget_names

pytestmark = pytest.mark.django_db
Visit = Callable[[str], str]
ATOM, XEON = "Atom/T540", "Xeon/T580"


@pytest.fixture(autouse=True)
def two_alerts() -> None:
    forget_names()
    arrive(
        runs_of(
            {
                (ATOM, "pf"): {12: 0.88},
                (ATOM, "forwarding"): {12: 1.2},
                (XEON, "pf"): {20: 0.9},
            }
        )
    )


@pytest.fixture
def mixed() -> Alert:
    return Alert.objects.get(verdict="mixed")


@pytest.fixture
def ada(client: Client) -> Client:
    client.force_login(make.user("ada", role="triager"))
    return client


def chosen(*alerts: Alert) -> list[str]:
    return [f"{alert.pk}.{alert.version}" for alert in alerts]


def test_the_inbox_says_what_each_alert_is_about(visit: Visit, mixed: Alert) -> None:
    text = visit("/alerts/")
    assert f"{mixed.pk} new r112 ▾▴ Mixed · pf on {ATOM} 12" in text
    assert "% slower [" in text
    assert "and 1 more" in text


def test_the_inbox_is_filtered_by_its_address(visit: Visit, mixed: Alert) -> None:
    assert "r112" not in visit(f"/alerts/?hardware={XEON}")
    assert "r112" in visit("/alerts/?mode=forwarding")
    assert "No alert fits" in visit("/alerts/?tree=linux")
    assert "No alert fits" in visit("/alerts/?state=resolved")
    assert "r112" in visit("/alerts/?state=nonsense&before=x")


def test_an_empty_inbox_says_how_an_alert_comes_about(visit: Visit) -> None:
    Alert.objects.all().delete()
    assert "labagent upload DIR" in visit("/alerts/")


def test_an_alert_says_where_how_much_and_since_which_commit(visit: Visit, mixed: Alert) -> None:
    text = visit(f"/alerts/{mixed.pk}/")
    assert f"Alert {mixed.pk}: mixed since r112" in text
    assert "packets/s" in text
    assert "after r111 up to r112" in text
    assert "2 % (default)" in text
    assert "r112 likeliest" in text
    assert "Driftline opened" in text


def test_of_many_suspects_the_likeliest_and_the_number_of_the_others_are_told(
    visit: Visit,
) -> None:
    alert = Alert.objects.get(revision__name="r120")
    places = {"after": "r102", "revision": "r129", "likeliest": "r127"}
    for field, name in places.items():
        setattr(alert, field, Revision.objects.get(name=name))
    alert.save()
    text = visit(f"/alerts/{alert.pk}/").partition("Suspects The commits")[2]
    assert [name for name in ("r103", "r122", "r123", "r126", "r128") if f" {name} " in text] == [
        "r103",
        "r122",
    ]
    assert "r127 r129 And 5 more between these." in text


def test_an_alert_that_smells_of_the_lab_says_so(visit: Visit) -> None:
    Alert.objects.all().delete()
    moved = {("Celeron/I350", mode): {15: 0.9} for mode in ("pf", "ipfw", "routing")}
    arrive(runs_of({**moved, ("Opteron/T520", "pf"): {}}, first=500))
    alert = Alert.objects.get(revision__position__gt=500)
    assert "lab? Every finding is on Celeron/I350" in visit(f"/alerts/{alert.pk}/")


def test_what_recovered_and_may_never_have_been_is_not_on_display(visit: Visit) -> None:
    arrive(runs_of({("Celeron/I350", "pf"): {10: 0.9, 20: 1.11}}, first=500))
    lost = Finding.objects.get(state=Finding.State.RECOVERED)
    shown = {
        "/commits/freebsd-head/r510/": "recovered by r520",
        "/commits/freebsd-head/": "regression",
        "/trends/?mode=pf": "recovered",
    }
    texts = {page: visit(page) for page in shown}
    assert all(word in texts[page] for page, word in shown.items())
    assert Comparison.objects.get(revision=lost.revision).flag == "regressed"
    Finding.objects.filter(pk=lost.pk).update(change_pct=-3.4, low_pct=-7.6, high_pct=1.1)
    set_flags(detect_changes([lost.series]))
    assert Comparison.objects.get(revision=lost.revision).flag == ""
    for page, word in shown.items():
        assert visit(page).count(word) < texts[page].count(word)
        assert "−3.4" not in visit(page)


def test_the_commit_page_links_the_alert_that_suspects_it(visit: Visit, mixed: Alert) -> None:
    assert f"Alert {mixed.pk} · new · suspects this commit" in visit("/commits/freebsd-head/r112/")
    assert "suspects this commit" not in visit("/commits/freebsd-head/r113/")


def test_a_recovered_finding_names_what_took_it_back(visit: Visit) -> None:
    arrive(runs_of({("Celeron/I350", "pf"): {10: 0.9, 20: 1.11}}, first=500))
    assert "recovered by r520" in visit("/commits/freebsd-head/r510/")
    alert = Alert.objects.get(state=Alert.State.RECOVERED)
    text = visit(f"/alerts/{alert.pk}/")
    assert "recovered? · opened" in text
    assert "recovered by r520" in text


def test_an_unknown_alert_is_not_found(client: Client) -> None:
    assert client.get("/alerts/99999/").status_code == 404
    assert client.get(f"/alerts/{10**30}/").status_code == 404


def test_a_stranger_reads_and_writes_nothing(client: Client, mixed: Alert) -> None:
    one, many = f"/alerts/{mixed.pk}/act/", "/alerts/act/"
    form = {"act": "acknowledge", "version": mixed.version, "alert": chosen(mixed)}
    for address in (one, many):
        response = client.post(address, form)
        assert response.status_code == 302
        assert response["Location"].startswith("/sign-in/?next=")
        assert client.get(address).status_code == 405
    assert 'name="act"' not in client.get(f"/alerts/{mixed.pk}/").content.decode()
    mixed.refresh_from_db()
    assert mixed.state == "new"


def test_writing_needs_the_token_against_forgery(mixed: Alert) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(make.user("ada"))
    for address in (f"/alerts/{mixed.pk}/act/", "/alerts/act/"):
        assert client.post(address, {"act": "acknowledge"}).status_code == 403


def test_acts_on_one_alert_are_logged_with_their_reason(ada: Client, mixed: Alert) -> None:
    form = {"act": "fixed", "version": mixed.version, "revision": "r129", "reason": "reverted"}
    text = words(ada.post(f"/alerts/{mixed.pk}/act/", form, follow=True).content.decode())
    assert "resolved as fixed by r129" in text
    assert "ada resolved fixed by r129: reverted" in text
    assert "Undo the last act" in text


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({"act": "fixed", "revision": "r999"}, "No revision “r999” is known"),
        ({"act": "fixed", "revision": "r\0"}, "No revision “r” is known"),
        ({"act": "snooze", "until": "soon"}, "Say until which day"),
        ({"act": "snooze", "until": "2026-02-31"}, "Say until which day"),
        ({"act": "snooze", "until": "9999-12-31"}, "ten years at most"),
        ({"act": "snooze", "until": "2030-01-01", "until_revision": "r900"}, "not both"),
        ({"act": "snooze", "until_revision": "soon"}, "its id does not tell its place"),
        ({"act": "snooze", "until_revision": "r129"}, "is measured already"),
        ({"act": "duplicate", "of": "x"}, "Duplicate of: name the other alert"),
        ({"act": "dance"}, "Choose what to do"),
        ({"act": "acknowledge", "version": "0"}, "look again"),
    ],
)
def test_what_cannot_be_done_is_said_and_not_done(
    ada: Client, mixed: Alert, form: dict[str, str], said: str
) -> None:
    sent = {"version": str(mixed.version)} | form
    text = words(ada.post(f"/alerts/{mixed.pk}/act/", sent, follow=True).content.decode())
    assert said in text
    mixed.refresh_from_db()
    assert mixed.state == "new"


def test_an_alert_is_snoozed_until_a_day(ada: Client, mixed: Alert) -> None:
    day = timezone.localdate() + timedelta(days=5)
    form = {"act": "snooze", "version": mixed.version, "until": day.isoformat()}
    text = words(ada.post(f"/alerts/{mixed.pk}/act/", form, follow=True).content.decode())
    assert f"snoozed until {day.isoformat()}" in text


def test_several_alerts_are_acknowledged_at_once_and_undone(ada: Client) -> None:
    both = list(Alert.objects.all())
    form = {"act": "acknowledge", "alert": chosen(*both), "reason": "on it"}
    response = ada.post("/alerts/act/?state=all&hardware=Atom/T540", form)
    assert response["Location"].startswith("/alerts/?state=all&hardware=Atom/T540&done=")
    page = words(ada.get(response["Location"]).content.decode())
    assert "Done: alert" in page
    assert "Undo" in page
    assert {alert.state for alert in Alert.objects.all()} == {"acknowledged"}
    assert {alert.events.last().reason for alert in both} == {"on it"}  # type: ignore[union-attr]
    form = {"act": "undo", "alert": chosen(*Alert.objects.all())}
    ada.post("/alerts/act/", form)
    assert {alert.state for alert in Alert.objects.all()} == {"new"}
    assert log(both[0])[-2:] == ["acknowledged", "undone"]


def test_of_several_alerts_the_one_that_changed_is_left_and_named(ada: Client) -> None:
    first, second = Alert.objects.order_by("pk")
    form = {"act": "not-real", "alert": [*chosen(first), f"{second.pk}.0", "x", "7", ".."]}
    page = words(ada.post("/alerts/act/", form, follow=True).content.decode())
    assert f"Alert {second.pk} changed since you looked" in page
    assert f"Done: alert {first.pk}." in page
    second.refresh_from_db()
    assert second.state == "new"


def test_nothing_chosen_is_said(ada: Client) -> None:
    page = words(ada.post("/alerts/act/", {"act": "expected"}, follow=True).content.decode())
    assert "Choose one alert or more" in page


def test_the_pages_need_few_statements(queries: Counted, mixed: Alert) -> None:
    assert queries("/alerts/") <= 11
    # Three for what happened to the machines: times of the measurements, events, canaries.
    assert queries(f"/alerts/{mixed.pk}/") <= 23


def test_charts_mark_the_alerts_of_what_they_show(
    client: Client, visit: Visit, mixed: Alert
) -> None:
    found = client.get(f"/trends/figure.json?hardware={ATOM}").json()
    told = {one["alert"][0] for series in found["series"] for one in series["found"]}
    assert told == {mixed.pk}
    assert [one["href"] for one in found["alerts"]] == [f"/alerts/{mixed.pk}/"]
    assert f"{mixed.pk} new" in visit(f"/trends/?hardware={ATOM}")
    assert f"alert {mixed.pk} new" in visit(f"/hardware/{ATOM}/")


def test_the_overview_ranks_open_regressions_by_their_largest_loss(
    visit: Visit, mixed: Alert
) -> None:
    other = Alert.objects.exclude(pk=mixed.pk).get()
    text = visit("/")
    assert text.index(f"{mixed.pk} new r112") < text.index(f"{other.pk} new r12")
    Alert.objects.filter(pk=mixed.pk).update(state="recovered")
    text = visit("/")
    assert text.index(f"{other.pk} new r12") < text.index(f"{mixed.pk} recovered? r112")
    assert f"{other.pk} new" not in visit(f"/hardware/{ATOM}/")


def test_findings_are_moved_and_alerts_merged_from_the_page(ada: Client, mixed: Alert) -> None:
    other = Alert.objects.exclude(pk=mixed.pk).get()
    pf = mixed.findings.get(series__mode__name="pf")
    sent = {"act": "move", "version": mixed.version, "finding": [pf.pk, "x"], "to": other.pk}
    text = words(ada.post(f"/alerts/{mixed.pk}/act/", sent, follow=True).content.decode())
    assert f"ada findings moved pf on {ATOM} to {other.pk}" in text
    other.refresh_from_db()
    sent = {"act": "merge", "version": other.version, "of": mixed.pk}
    text = words(ada.post(f"/alerts/{other.pk}/act/", sent, follow=True).content.decode())
    assert f"resolved as duplicate of {mixed.pk}" in text
    assert mixed.findings.count() == 3
    sent = {"act": "split", "version": mixed.version, "at": "r777", "finding": [pf.pk]}
    text = words(ada.post(f"/alerts/{mixed.pk}/act/", sent, follow=True).content.decode())
    assert "No revision “r777” is known" in text


def test_what_is_not_confirmed_and_what_did_not_move_is_told_apart(
    client: Client, visit: Visit, mixed: Alert
) -> None:
    at = Alert.objects.exclude(pk=mixed.pk).get()
    arrive(runs_of({("Celeron/I350", "pf"): {20: 0.8}}, count=21))
    text = visit(f"/alerts/{at.pk}/")
    assert "Also seen, not confirmed yet" in text
    assert "pf on Celeron/I350 ▾" in text
    assert "Other series at this commit 2 without a finding" in text
    told = client.get(f"/api/v1/alerts/{at.pk}").json()
    assert [row["hardware"] for row in told["candidates"]] == ["Celeron/I350"]
    assert {row["mode"] for row in told["unmoved"]} == {"pf", "forwarding"}
    assert all(row["smallest_visible"] > 0 for row in told["unmoved"])


def test_a_canary_that_moved_is_named(visit: Visit, mixed: Alert) -> None:
    SeriesSettings.objects.create(
        series=Series.objects.get(hardware__name=ATOM, mode__name="pf"), is_canary=True
    )
    assert f"lab? The canary pf on {ATOM} moved at the same commits" in visit(
        f"/alerts/{mixed.pk}/"
    )


def test_the_page_of_a_machine_begins_with_its_own_loss(visit: Visit) -> None:
    """Of one alert on two machines, the larger loss is the other machine's."""
    arrive(
        runs_of({("Celeron/I350", "pf"): {15: 0.95}, ("Opteron/T520", "pf"): {15: 0.7}}, first=500)
    )
    assert "pf on Celeron/I350 5" in visit("/hardware/Celeron/I350/")
    assert "pf on Opteron/T520 30" in visit("/hardware/Opteron/T520/")
    assert "pf on Opteron/T520 30" in visit("/")
