"""The inbox and the page of one alert."""

import re
from collections.abc import Callable
from datetime import timedelta
from html import escape

import pytest
from django.test import Client
from django.utils import timezone

from tests import make
from tests.alerts.steps import arrive, log, runs_of
from tests.approved import Approvals
from tests.events.steps import event
from tests.kept import kept
from tests.pages.conftest import Counted, words
from tests.pages.trends import figure
from webapp.alerts.models import Alert
from webapp.analysis.models import Finding, SeriesSettings
from webapp.analysis.queries import compared_named
from webapp.results.models import Hardware, Revision, Series

pytestmark = pytest.mark.django_db
Visit = Callable[[str], str]
ATOM, XEON = "Atom/T540", "Xeon/T580"


@pytest.fixture(autouse=True)
@kept
def two_alerts() -> None:
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


def test_the_inbox_states_what_each_alert_is_about(visit: Visit, mixed: Alert) -> None:
    text = visit("/alerts/")
    assert "2 new alerts" in text
    assert "% + 1 gains still so today pf Atom T540 r112" in text
    assert f"new alert {mixed.pk}, " in text


def test_beside_the_rows_stands_the_evidence_of_the_first_one(
    client: Client, visit: Visit, mixed: Alert
) -> None:
    newest = Alert.objects.order_by("-pk").first()
    assert newest
    assert f"Alert {newest.pk}, opened" in visit("/alerts/")
    assert f"Alert {mixed.pk}, opened" in visit(f"/alerts/?chosen={mixed.pk}")
    text = visit(f"/alerts/{mixed.pk}/evidence/")
    assert re.search(r"pf lost 12(\.\d)? % at r112; forwarding gained 20.1 %", text)
    html = client.get(f"/alerts/{mixed.pk}/evidence/").content.decode()
    assert html.count('class="chart"') == 2
    assert 'class="riser worse"' in html
    assert client.get("/alerts/99999/evidence/").status_code == 404


def test_tabs_count_what_they_hold_and_the_largest_loss_may_come_first(
    visit: Visit, mixed: Alert
) -> None:
    other = Alert.objects.exclude(pk=mixed.pk).get()
    assert "Open 2 Snoozed 0 Resolved History 0 All" in visit("/alerts/")
    assert order_of(visit("/alerts/")) == sorted([mixed.pk, other.pk], reverse=True)
    assert order_of(visit("/alerts/?order=loss")) == [mixed.pk, other.pk]
    Alert.objects.filter(pk=mixed.pk).update(state="recovered")
    assert order_of(visit("/alerts/?order=loss")) == [other.pk, mixed.pk]
    Alert.objects.update(state="acknowledged")
    assert "Nothing new; two open, all taken" in visit("/alerts/")
    Alert.objects.update(state="snoozed", history=True)
    assert "Nothing is open" in visit("/alerts/")
    assert "Imported history shows 2 changes" in visit("/alerts/")


def order_of(text: str) -> list[int]:
    """The numbers of the alerts in the order of their rows."""
    return [int(number) for number in re.findall(r"alert (\d+), (?:now|\d+ min)", text)]


def test_the_inbox_is_filtered_by_its_address(visit: Visit, mixed: Alert) -> None:
    assert "r112" not in visit(f"/alerts/?hardware={XEON}")
    assert "r112" in visit("/alerts/?mode=forwarding")
    assert "No alert fits" in visit("/alerts/?tree=linux")
    assert "No alert fits" in visit("/alerts/?state=resolved")
    assert "r112" in visit("/alerts/?state=nonsense&before=x")


def test_an_empty_inbox_states_how_an_alert_comes_about(visit: Visit) -> None:
    Alert.objects.all().delete()
    assert "labagent upload DIR" in visit("/alerts/")


def test_an_alert_states_where_how_much_and_since_which_commit(
    client: Client, visit: Visit, mixed: Alert, approved: Approvals
) -> None:
    page = client.get(f"/alerts/{mixed.pk}/")
    approved("pages/alerts/an-alert-states-where-how-much-and-since", page)
    text = words(page.content.decode())
    assert re.search(r"pf lost 12(\.\d)? % at r112; forwarding gained 20.1 %", text)
    text = visit(f"/alerts/{mixed.pk}/?show=findings")
    assert "after r111 up to r112" in text
    assert "2 % (default)" in text


def test_the_evidence_of_each_series_is_drawn_and_its_ministat_comes_when_asked_for(
    client: Client, visit: Visit, mixed: Alert
) -> None:
    html = client.get(f"/alerts/{mixed.pk}/").content.decode()
    assert html.count('<article class="panel evidence">') == 2
    assert html.count('class="riser worse"') == html.count('class="riser better"') == 2
    pf = mixed.findings.get(series__mode__name="pf")
    text = visit(f"/alerts/{mixed.pk}/ministat/{pf.pk}/")
    assert "Difference at 95.0% confidence" in text
    other = Finding.objects.exclude(membership__alert=mixed.pk).first()
    assert other
    assert client.get(f"/alerts/{mixed.pk}/ministat/{other.pk}/").status_code == 404


def test_what_to_do_next_comes_with_its_cost_and_a_guess_is_called_one(
    client: Client, visit: Visit, mixed: Alert
) -> None:
    Revision.objects.filter(name="r112").update(author_name="ada", author_email="ada@example.org")
    text = visit(f"/alerts/{mixed.pk}/").partition("What to do next")[2]
    assert "Ask ada whether pf may lose. The same commit: forwarding gained" in text
    assert "mailto" not in client.get(f"/alerts/{mixed.pk}/").content.decode()
    client.force_login(make.user("grace"))
    assert "mailto:ada@example.org" in client.get(f"/alerts/{mixed.pk}/").content.decode()
    arrive(runs_of({("Celeron/I350", "pf"): {}}, count=10))
    text = visit(f"/alerts/{mixed.pk}/").partition("What to do next")[2]
    assert "See if other machines lose too. Celeron I350 has not measured r112" in text
    assert "about 10 boots, 100 min (guess)" in text
    assert "labagent upload --tree freebsd-head --hardware Celeron/I350 --mode pf DIR" in text
    Alert.objects.filter(pk=mixed.pk).update(state="resolved", resolution="expected")
    text = visit(f"/alerts/{mixed.pk}/").partition("What to do next")[2]
    assert "Nothing to do: the alert is resolved" in text


def test_where_no_step_is_left_a_person_acts(visit: Visit, mixed: Alert) -> None:
    for state, stated in {
        "new": "Look at the suspects, then acknowledge the alert or close it with a reason.",
        "acknowledged": "Look at the suspects, then close the alert with a reason.",
        "recovered": "Nothing to do: the alert is recovered.",
    }.items():
        Alert.objects.filter(pk=mixed.pk).update(state=state)
        assert stated in visit(f"/alerts/{mixed.pk}/").partition("What to do next")[2]


def test_names_from_outside_are_text_on_the_pages(client: Client, mixed: Alert) -> None:
    hostile = "<hr>&amp;\"'"
    Revision.objects.filter(name="r112").update(subject=hostile, author_name=hostile)
    Hardware.objects.filter(name=ATOM).update(display_name=hostile)
    for address in ("/alerts/", f"/alerts/{mixed.pk}/", f"/alerts/{mixed.pk}/evidence/"):
        html = client.get(address).content.decode()
        assert "<hr>" not in html
        assert "&lt;hr&gt;&amp;amp;" in html


def test_of_many_suspects_the_likeliest_and_the_number_of_the_others_are_shown(
    visit: Visit,
) -> None:
    alert = Alert.objects.get(revision__name="r120")
    places = {"after": "r102", "revision": "r129", "likeliest": "r127"}
    for field, name in places.items():
        setattr(alert, field, Revision.objects.get(name=name))
    alert.save()
    text = visit(f"/alerts/{alert.pk}/").partition("commits in question")[2]
    assert [name for name in ("r103", "r122", "r123", "r126", "r128") if f" {name} " in text] == [
        "r103",
        "r122",
    ]
    assert "r127 r129 And 5 more between these." in text


def test_an_alert_that_smells_of_the_lab_states_it(visit: Visit) -> None:
    Alert.objects.all().delete()
    moved = {("Celeron/I350", mode): {15: 0.9} for mode in ("pf", "ipfw", "routing")}
    arrive(runs_of({**moved, ("Opteron/T520", "pf"): {}}, first=500))
    alert = Alert.objects.get(revision__position__gt=500)
    assert "lab? Every finding is on Celeron I350" in visit(f"/alerts/{alert.pk}/")


def flag_at(finding: Finding) -> str:
    (one,) = compared_named(finding.series_id, [finding.revision.name])
    return one.flag


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
    assert flag_at(lost) == "regressed"
    Finding.objects.filter(pk=lost.pk).update(change_pct=-3.4, low_pct=-7.6, high_pct=1.1)
    assert flag_at(lost) == ""
    for page, word in shown.items():
        assert visit(page).count(word) < texts[page].count(word)
        assert "−3.4" not in visit(page)


def test_the_commit_page_links_the_alert_that_suspects_it(visit: Visit, mixed: Alert) -> None:
    assert f"Alert {mixed.pk} new suspects this commit" in visit("/commits/freebsd-head/r112/")
    assert "suspects this commit" not in visit("/commits/freebsd-head/r113/")


def test_a_recovered_finding_names_what_took_it_back(visit: Visit) -> None:
    arrive(runs_of({("Celeron/I350", "pf"): {10: 0.9, 20: 1.11}}, first=500))
    assert "recovered by r520" in visit("/commits/freebsd-head/r510/")
    alert = Alert.objects.get(state=Alert.State.RECOVERED)
    text = visit(f"/alerts/{alert.pk}/")
    assert "recovered? nobody has" not in text
    assert "recovered? opened" in text
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


def test_acts_on_one_alert_are_logged_with_their_reason(
    ada: Client, mixed: Alert, approved: Approvals
) -> None:
    form = {"act": "fixed", "version": mixed.version, "revision": "r129", "reason": "reverted"}
    approved(
        "pages/alerts/acts-on-one-alert-are-logged-with-their-reason",
        ada.post(f"/alerts/{mixed.pk}/act/", form, follow=True),
    )


REFUSED = [
    ({"act": "fixed", "revision": "r999"}, "No revision “r999” is known"),
    ({"act": "fixed", "revision": "r\0"}, "No revision “r” is known"),
    ({"act": "snooze", "until": "soon"}, "Give a day"),
    ({"act": "snooze", "until": "2026-02-31"}, "Give a day"),
    ({"act": "snooze", "until": "9999-12-31"}, "ten years at most"),
    ({"act": "snooze", "until": "2030-01-01", "until_revision": "r900"}, "not both"),
    ({"act": "snooze", "until_revision": "soon"}, "its id does not give its place"),
    ({"act": "snooze", "until_revision": "r129"}, "is measured already"),
    ({"act": "duplicate", "of": "x"}, "Duplicate of: name the other alert"),
    ({"act": "dance"}, "Choose what to do"),
    ({"act": "acknowledge", "version": "0"}, "look again"),
]


def test_what_cannot_be_done_is_refused_with_the_reason(ada: Client, mixed: Alert) -> None:
    for form, reason in REFUSED:
        sent = {"version": str(mixed.version)} | form
        text = words(ada.post(f"/alerts/{mixed.pk}/act/", sent, follow=True).content.decode())
        assert reason in text, form
        mixed.refresh_from_db()
        assert mixed.state == "new", form


ALONE = {"reason": 'the "fast" path', "until": "2026-13-32", "until_revision": "r9<b>"}


@pytest.mark.parametrize(
    ("where", "form"),
    [
        ("one", {"act": "fixed", "revision": "r1 or so", "of": "12x", **ALONE}),
        ("one", {"act": "split", "to": "no number", "at": "r?", "reason": "two commits"}),
        ("all", {"act": "wont-fix", **ALONE}),
    ],
)
def test_what_was_typed_for_a_refused_act_stands_in_its_fields_once(
    ada: Client, mixed: Alert, where: str, form: dict[str, str]
) -> None:
    alone = f"/alerts/{mixed.pk}/"
    asked = {"version": "0"} if where == "one" else {"alert": f"{mixed.pk}.0"}
    address = f"{alone if where == 'one' else '/alerts/'}act/"
    page = ada.post(address, form | asked, follow=True).content.decode()
    fields = [f'value="{escape(text)}"' for name, text in form.items() if name != "act"]
    assert [one for one in fields if one not in page] == []
    assert [one for one in fields if one in ada.get(alone).content.decode()] == []


def test_a_refused_press_of_a_button_opens_no_menu(ada: Client, mixed: Alert) -> None:
    address = f"/alerts/{mixed.pk}/act/"
    menu = '<details class="menu end act-menu" open>'
    for reason, is_open in (("", False), ("expected", True)):
        form = {"act": "acknowledge", "version": "0", "reason": reason, "revision": ""}
        page = ada.post(address, form, follow=True).content.decode()
        assert "look again" in page
        assert (menu in page) == is_open


def test_undo_is_offered_after_an_act_of_ones_own_that_was_done(ada: Client, mixed: Alert) -> None:
    form = {"act": "acknowledge", "version": mixed.version}
    grace = Client()
    grace.force_login(make.user("grace", role="triager"))
    done = grace.post(f"/alerts/{mixed.pk}/act/", form, follow=True).content.decode()
    assert "data-undo" in done
    refused = ada.post(f"/alerts/{mixed.pk}/act/", form, follow=True).content.decode()
    assert "look again" in refused
    assert 'value="undo"' not in refused
    refused = grace.post(f"/alerts/{mixed.pk}/act/", form, follow=True).content.decode()
    assert "look again" in refused
    assert "data-undo" not in refused


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
    numbers = ", ".join(str(alert.pk) for alert in both)
    assert f"Alerts {numbers} acknowledged" in page
    assert "Undo" in page
    assert {alert.state for alert in Alert.objects.all()} == {"acknowledged"}
    assert {alert.events.last().reason for alert in both} == {"on it"}  # type: ignore[union-attr]
    form = {"act": "undo", "alert": chosen(*Alert.objects.all())}
    ada.post("/alerts/act/", form)
    assert {alert.state for alert in Alert.objects.all()} == {"new"}
    assert log(both[0])[-2:] == ["acknowledged", "undone"]


def test_of_several_alerts_the_one_that_changed_is_left_and_named(
    ada: Client, approved: Approvals
) -> None:
    first, second = Alert.objects.order_by("pk")
    form = {"act": "not-real", "alert": [*chosen(first), f"{second.pk}.0", "x", "7", ".."]}
    approved(
        "pages/alerts/of-several-alerts-the-one-that-changed-is-left",
        ada.post("/alerts/act/", form, follow=True),
    )
    second.refresh_from_db()
    assert second.state == "new"


def test_nothing_chosen_is_stated(ada: Client) -> None:
    page = words(ada.post("/alerts/act/", {"act": "expected"}, follow=True).content.decode())
    assert "Choose one alert or more" in page


def test_the_pages_need_few_statements(queries: Counted, mixed: Alert) -> None:
    assert queries("/alerts/") <= 10
    assert queries(f"/alerts/{mixed.pk}/evidence/") <= 7
    assert queries(f"/alerts/{mixed.pk}/") <= 12


def test_an_alert_of_many_series_needs_as_few_statements_and_draws_the_first(
    client: Client, queries: Counted, mixed: Alert
) -> None:
    alone = queries(f"/alerts/{mixed.pk}/")
    at, before = mixed.likeliest, mixed.after
    for number in range(40):
        series = make.series(in_mode=f"mode-{number}")
        make.finding(series, before, at, alert=mixed, change_pct=-3.0)
    assert queries(f"/alerts/{mixed.pk}/") <= alone
    html = client.get(f"/alerts/{mixed.pk}/").content.decode()
    assert html.count('<article class="panel evidence">') == 6
    assert "36 more series" in words(html)
    listed = client.get(f"/alerts/{mixed.pk}/?show=findings").content.decode()
    assert "mode-39" in listed
    assert queries("/alerts/") <= 10


def test_charts_mark_the_alerts_of_what_they_show(
    client: Client, visit: Visit, mixed: Alert
) -> None:
    found = figure(client, f"hardware={ATOM}")
    badges = [one for one in found["texts"] if "/alerts/" in one]
    assert badges == [f'<a href="/alerts/{mixed.pk}/" target="_self">{mixed.pk}</a>']
    series = next(one for one in found["series"] if one["found"])
    name = found["revisions"]["name"][series["found"][0]["at"]]
    card = visit(f"/trends/chosen/?hardware={ATOM}&b={series['id']}@{name}")
    assert f"alert {mixed.pk} , new" in card
    assert f"{mixed.pk} new" in visit(f"/trends/?hardware={ATOM}")
    listed = rf"Open here .* {mixed.pk} ▾ −12\.0 % pf .*r112.* new"
    assert re.search(listed, visit(f"/hardware/{ATOM}/"))


def test_the_overview_ranks_open_regressions_by_their_largest_loss(
    visit: Visit, mixed: Alert
) -> None:
    other = Alert.objects.exclude(pk=mixed.pk).get()
    text = visit("/")
    assert text.index(f"alert {mixed.pk} ·") < text.index(f"alert {other.pk} ·")
    Alert.objects.filter(pk=mixed.pk).update(state="recovered")
    text = visit("/")
    assert text.index(f"alert {other.pk} ·") < text.index(f"alert {mixed.pk} ·")
    assert "recovered?" in text
    assert f"{other.pk} new" not in visit(f"/hardware/{ATOM}/")


def test_of_several_metrics_of_a_mode_each_is_named(visit: Visit) -> None:
    sent = runs_of({("NVMe", "randread"): {12: 0.9}})
    for document in sent:
        iops = document["metrics"].pop("pps") | {"unit": "ops/s"}
        slower = [1e8 / value for value in iops["samples"]]
        latency = iops | {"unit": "us", "better": "less", "samples": slower}
        document |= {"tree": "storage", "metrics": {"iops": iops, "latency": latency}}
    arrive(sent)
    alert = Alert.objects.get(tree__name="storage")
    text = visit(f"/alerts/{alert.pk}/")
    assert re.search(r"latency of randread got 1\d\.\d % slower at r112", text)
    assert "latency of randread NVMe" in text
    assert "iops of randread NVMe" in text
    for address in ("/", "/alerts/"):
        assert "latency of randread" in visit(address)


def test_findings_are_moved_and_alerts_merged_from_the_page(ada: Client, mixed: Alert) -> None:
    other = Alert.objects.exclude(pk=mixed.pk).get()
    pf = mixed.findings.get(series__mode__name="pf")
    sent = {"act": "move", "version": mixed.version, "finding": [pf.pk, "x"], "to": other.pk}
    text = words(ada.post(f"/alerts/{mixed.pk}/act/", sent, follow=True).content.decode())
    assert f"ada moved findings: pf on Atom T540 to {other.pk}" in text
    other.refresh_from_db()
    sent = {"act": "merge", "version": other.version, "of": mixed.pk}
    text = words(ada.post(f"/alerts/{other.pk}/act/", sent, follow=True).content.decode())
    assert f"resolved as duplicate of {mixed.pk}" in text
    assert mixed.findings.count() == 3
    sent = {"act": "split", "version": mixed.version, "at": "r777", "finding": [pf.pk]}
    text = words(ada.post(f"/alerts/{mixed.pk}/act/", sent, follow=True).content.decode())
    assert "No revision “r777” is known" in text


def test_what_is_not_confirmed_and_what_did_not_move_is_distinguished(
    client: Client, mixed: Alert, approved: Approvals
) -> None:
    at = Alert.objects.exclude(pk=mixed.pk).get()
    arrive(runs_of({("Celeron/I350", "pf"): {20: 0.8}}, count=21))
    approved(
        "pages/alerts/what-is-not-confirmed-and-what-did-not-move",
        client.get(f"/alerts/{at.pk}/?show=others"),
    )
    answer = client.get(f"/api/v1/alerts/{at.pk}").json()
    assert [row["hardware"] for row in answer["candidates"]] == ["Celeron/I350"]
    assert {row["mode"] for row in answer["unmoved"]} == {"pf", "forwarding"}
    assert all(row["smallest_visible"] > 0 for row in answer["unmoved"])


def test_a_canary_that_moved_is_named(visit: Visit, mixed: Alert) -> None:
    SeriesSettings.objects.create(
        series=Series.objects.get(hardware__name=ATOM, mode__name="pf"), is_canary=True
    )
    assert "lab? The canary pf on Atom T540 moved at the same commits" in visit(
        f"/alerts/{mixed.pk}/"
    )


def test_the_page_of_a_machine_begins_with_its_own_loss(visit: Visit) -> None:
    """Of one alert on two machines, the larger loss is the other machine's."""
    arrive(
        runs_of({("Celeron/I350", "pf"): {15: 0.95}, ("Opteron/T520", "pf"): {15: 0.7}}, first=500)
    )
    assert "▾ −5.0 % pf r515 new" in visit("/hardware/Celeron/I350/")
    assert "▾ −30.0 % pf r515 new" in visit("/hardware/Opteron/T520/")
    assert "pf Opteron T520" in visit("/")


def test_what_is_recorded_of_the_lab_costs_statements_only_where_it_is(
    queries: Counted, mixed: Alert
) -> None:
    nothing = queries(f"/alerts/{mixed.pk}/")
    event(hardware=make.hardware(), happened_at=make.DAY_ONE)
    assert nothing < queries(f"/alerts/{mixed.pk}/") <= 16
