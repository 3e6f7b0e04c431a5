"""`/hardware/<name>/`: one machine."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import transaction
from django.test import Client

from tests import make
from tests.documents import run_document
from tests.kept import forget_drawn
from tests.pages.conftest import Counted, words
from tests.results.steps import upload
from webapp.accounts.models import User
from webapp.alerts.models import Alert
from webapp.notifications.models import Subscription
from webapp.pages.hardware import knobs, machine
from webapp.pages.hardware import lanes as machine_lanes
from webapp.results.models import HardwareFact
from webapp.results.services.facts import call_by_facts

pytestmark = pytest.mark.django_db
Visit = Callable[[str], str]
PAGE = "/hardware/Atom_C2758/T540-CR/"


def test_hardware_is_found_by_a_name_with_a_slash(visit: Visit) -> None:
    make.hardware()
    assert "Nothing is measured on it yet" in visit(PAGE)


def test_unknown_hardware_is_not_found(client: Client) -> None:
    assert client.get("/hardware/Nope/em0/").status_code == 404


def lanes(client: Client) -> str:
    return client.get(PAGE).content.decode()


def test_each_mode_with_a_history_is_a_lane_with_its_changes(client: Client) -> None:
    along = make.revisions(3)
    make.history(make.series(in_mode="pf"), along, [100, 90, 90])
    make.history(make.series(in_mode="ipfw"), along, [100, 100, 100])
    make.finding(make.series(in_mode="pf"), along[0], along[1], state="candidate")
    page = lanes(client)
    assert page.count('class="lane-head"') == 2
    assert page.count('class="riser worse candidate"') == 1
    assert "nothing confirmed, 1 candidate" in words(page)


def test_a_lane_has_its_levels_its_confirmed_changes_and_what_it_could_prove(
    client: Client,
) -> None:
    along = make.revisions(3)
    series = make.series(in_mode="pf")
    make.history(series, along, [100, 90, 90])
    make.finding(series, along[0], along[1])
    make.analysis(
        series,
        count=5,
        segments=[make.segment(along[1], along[2], 90.0)],
        noise=make.noise(run_pct=0.8, build_pct=2.4),
        smallest={"pct": 5.2, "later_pct": 3.0, "more_runs_pct": 5.0, "helps": "revisions"},
    )
    page = lanes(client)
    assert page.count('class="lv"') == 1
    assert page.count('class="riser worse"') == 1
    text = words(page)
    assert f"−11.4 % since {along[1].name}" in text
    assert "detects ≥ 5.2 %; noise: run 0.80 %, build 2.4 %" in text


def test_a_loss_of_a_young_series_stands_as_its_finding_and_a_recovered_one_does_not(
    client: Client,
) -> None:
    along = make.revisions(4)
    lost, back = (make.series(in_mode=name) for name in ("pf", "forwarding"))
    for series in (lost, back):
        make.history(series, along, [100, 90, 95, 95])
        make.analysis(series)
    make.finding(lost, along[0], along[1])
    make.finding(back, along[0], along[1], state="recovered", recovered_by=along[2])
    text = words(client.get(PAGE).content.decode())
    assert "pf is 11.4 % slower [−12.3, −10.5] than before r300003" in text
    assert "forwarding is" not in text
    assert "forwarding 95.01 no loss stands" in text


def test_without_a_loss_the_answer_states_it(visit: Visit) -> None:
    make.history(make.series(), make.revisions(3), [100, 100, 100])
    assert "No confirmed loss stands in 1 series with a history." in visit(PAGE)


def test_an_alert_is_stated_by_its_loss_on_this_machine(visit: Visit) -> None:
    before, at = make.revisions(2)
    alert = make.alert(at, after=before)
    for name, percent in (("Atom_C2758/T540-CR", -3.1), ("Other/em0", -55.5)):
        series = make.series(on=make.hardware(name))
        make.history(series, [before, at], [100, 90])
        make.finding(series, before, at, change_pct=percent, alert=alert)
    text = visit(PAGE)
    assert f"Open here losses first, by their size on this machine {alert.pk} ▾ −3.1 %" in text
    assert "55.5" not in text


LATER: dict[str, Callable[[Alert], object]] = {
    "its state": lambda _: Alert.objects.update(state=Alert.State.ACKNOWLEDGED),
    "the commit that a bisect named": lambda alert: Alert.objects.update(
        named=alert.likeliest, named_probability=0.99
    ),
    "a commit between": lambda _: make.revision("r300001"),
    "an alert less": lambda _: Alert.objects.all().delete(),
}


def test_what_an_open_alert_shows_is_read_once_and_what_changed_is_shown_at_once(
    client: Client, django_assert_num_queries: Any
) -> None:
    along = make.revisions(3)
    make.revision("r300002")
    alert = make.alert(along[1], after=along[0])
    series = make.series(in_mode="pf")
    make.history(series, along, [100, 90, 90])
    make.finding(series, along[0], along[1], alert=alert, here=0.5)
    lanes(client)
    with django_assert_num_queries(2):  # the machine and its findings
        lanes(client)
    for what, change in LATER.items():
        before = lanes(client)
        with transaction.atomic():
            change(alert)
            after = lanes(client)
            assert after != before, what
            forget_drawn()
            assert lanes(client) == after, what
            transaction.set_rollback(True)


def test_a_closed_alert_is_not_among_the_open(visit: Visit) -> None:
    before, at = make.revisions(2)
    series = make.series()
    make.history(series, [before, at], [100, 90])
    alert = make.alert(at, after=before, state=Alert.State.RESOLVED, resolution="expected")
    make.finding(series, before, at, alert=alert)
    assert "Open here" not in visit(PAGE)


def test_what_is_not_known_of_a_series_is_called_so(visit: Visit) -> None:
    make.history(make.series(), make.revisions(3), [100, 100, 100])
    assert "noise: not known" in visit(PAGE)


def test_modes_of_one_or_two_revisions_are_rows_of_numbers(client: Client) -> None:
    make.history(make.series(in_mode="pf@inet4+VIMAGE"), make.revisions(2), [100, 90])
    page = lanes(client)
    assert 'class="lane"' not in page
    text = words(page)
    assert "1 series measured at one or two revisions: no trend yet." in text
    assert "packets/s r300003 , 2 revisions" in text
    assert "pf@inet4 +VIMAGE" in text


def test_of_many_rows_most_are_folded_and_all_are_there(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(knobs, "ROWS_SHOWN", 3)
    (at,) = make.revisions(1)
    for number in range(7):
        make.point(make.series(in_mode=f"mode-{number}"), at)
    page = lanes(client)
    assert page.count("data-mode=") == 7
    assert "4 more" in words(page)


def test_only_so_many_lanes_are_drawn_and_the_largest_loss_is_among_them(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine_lanes, "LANES_SHOWN", 2)
    along = make.revisions(3)
    for number in range(4):
        make.history(make.series(in_mode=f"mode-{number}"), along, [100, 90, 90])
    make.finding(make.series(in_mode="mode-3"), along[0], along[1])
    page = lanes(client)
    assert page.count('class="lane-head"') == 2
    assert 'class="lane" data-mode="mode-3"' in page
    assert "Other modes 2 modes" in words(page)


def test_a_sweep_of_a_knob_is_one_chart_in_place_of_rows(client: Client) -> None:
    (at,) = make.revisions(1)
    for value in (1, 2, 4, 8):
        make.point(make.series(in_mode=f"pf+queues={value}"), at, [100.0 * value])
    make.point(make.series(in_mode="pf+queues=many"), at)
    page = lanes(client)
    text = words(page)
    assert "queues, 4 values at r300000 of freebsd-head, pps" in text
    assert "/hardware/Atom_C2758/T540-CR/knobs/queues/" in page
    assert "1 mode; a trend needs 5 revisions" in text
    assert page.count("data-mode=") == 2


def test_modes_are_filtered_by_parts_of_their_names(client: Client) -> None:
    along = make.revisions(3)
    make.history(make.series(in_mode="pf-statefull@inet4"), along, [100, 90, 90])
    make.history(make.series(in_mode="forwarding"), along, [100, 90, 90])
    make.point(make.series(in_mode="pf@inet4"), along[0])
    text = words(client.get(PAGE, {"q": "INET4 pf"}).content.decode())
    assert "pf-statefull@inet4" in text
    assert "pf@inet4" in text
    assert "forwarding" not in text
    assert "No mode of this machine has “<x>”" in words(
        client.get(PAGE, {"q": "<x>\0"}).content.decode()
    )


def test_a_person_is_mailed_of_a_machine_by_one_press(tess: Client) -> None:
    make.hardware()
    assert "Mail me its changes" in tess.get(PAGE).content.decode()
    assert tess.post(f"{PAGE}subscribe/")["Location"] == PAGE
    (one,) = Subscription.objects.all()
    assert (one.hardware.name, one.user.username) == ("Atom_C2758/T540-CR", "tess")
    tess.post(f"{PAGE}subscribe/", {"act": "on"})
    assert Subscription.objects.count() == 1


def test_the_button_shows_that_one_is_mailed_and_takes_it_back(tess: Client) -> None:
    machine = make.hardware()
    User.objects.update(email="tess@example.org")
    subscribe = f"{PAGE}subscribe/"
    answer = words(tess.post(subscribe, {"act": "on"}, follow=True).content.decode())
    assert "You are mailed of every change on this machine, at tess@example.org." in answer
    assert "Mailed to you: stop" in answer
    make.subscription(User.objects.get(username="tess"), "all machines")
    answer = words(tess.post(subscribe, {"act": "off"}, follow=True).content.decode())
    assert "unless another of your subscriptions asks for them" in answer
    assert "Mail me its changes" in answer
    assert not Subscription.objects.get(hardware=machine).enabled
    tess.post(subscribe, {"act": "on"})
    assert Subscription.objects.get(hardware=machine).enabled, "switched on again, not doubled"


def test_a_narrower_subscription_of_the_same_name_is_not_taken_for_it(tess: Client) -> None:
    machine, user = make.hardware(), User.objects.get(username="tess")
    make.subscription(user, f"Everything on {machine}", hardware=machine, direction="regressions")
    assert "Mail me its changes" in tess.get(PAGE).content.decode()
    assert "Mailed to you: stop" in tess.post(f"{PAGE}subscribe/", follow=True).content.decode()
    assert Subscription.objects.count() == 2


def test_who_has_no_address_is_shown_that_no_mail_comes(client: Client) -> None:
    make.hardware()
    client.force_login(make.user("nomail"))
    answer = words(client.post(f"{PAGE}subscribe/", follow=True).content.decode())
    assert "once your account has an e-mail address" in answer


def test_who_is_not_signed_in_is_asked_to(client: Client) -> None:
    make.hardware()
    assert "/sign-in/?next=/hardware/" in client.get(PAGE).content.decode()
    assert client.post(f"{PAGE}subscribe/").status_code in (302, 403)
    assert not Subscription.objects.exists()


def test_a_series_of_one_revision_shows_spread_and_n(visit: Visit) -> None:
    (at,) = make.revisions(1)
    series = make.series()
    make.point(series, at, [99.0, 100.0, 101.0])
    make.analysis(
        series,
        count=1,
        noise=make.noise(within_pct=1.0),
        smallest={"pct": 0.01, "later_pct": 0.01, "more_runs_pct": 0.01, "helps": "runs"},
        what_helps="A change of 0.0 % would be proven by the next two revisions.",
    )
    text = visit(PAGE)
    assert "1 revision n = 3, from 99 to 101 (2.0 % of the mean)" in text
    assert "detects" not in text
    text = visit("/trends/?tree=freebsd-head")
    assert "one revision: n = 3, from 99 to 101 (2.0 % of the mean)" in text
    assert "would be proven" not in text


def test_a_figure_that_states_only_how_little_is_known_is_not_printed(visit: Visit) -> None:
    series = make.series()
    make.history(series, make.revisions(6), [100, 130] * 3)
    pct = 754_445_135.0
    make.analysis(
        series,
        count=6,
        smallest={"pct": pct, "later_pct": pct, "more_runs_pct": pct, "helps": "unknown"},
        what_helps=f"A change of {pct} % would be proven by the next two revisions.",
    )
    for address in (PAGE, "/trends/?tree=freebsd-head"):
        text = visit(address)
        assert "754" not in text
        assert "not known" in text


def test_a_lane_shows_the_last_revisions_only(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "REVISIONS_SHOWN", 4)
    make.history(make.series(), make.revisions(10), [100.0] * 10)
    assert "4 revisions on one axis" in visit(PAGE)


def test_a_series_whose_runs_are_all_withdrawn_is_not_on_the_page(visit: Visit) -> None:
    make.series(in_mode="pf")
    assert "Nothing is measured on it yet" in visit(PAGE)


def test_the_number_of_queries_grows_neither_with_series_nor_with_findings(
    queries: Counted,
) -> None:
    along = make.revisions(3)
    alert = make.alert(along[1], after=along[0])
    first = make.series(in_mode="pf")
    make.history(first, along, [100, 90, 90])
    make.finding(first, along[0], along[1], alert=alert)
    few = queries(PAGE)
    for number in range(5):
        series = make.series(in_mode=f"mode-{number}")
        make.history(series, along, [100, 90, 90])
        make.finding(series, along[0], along[1], alert=alert)
    assert queries(PAGE) == few <= 8  # three of them because there is an open alert


def fact(name: str, value: str, day: int, *, source: str = "measured") -> None:
    at = datetime(2026, 1, day, 12, tzinfo=UTC)
    HardwareFact.objects.create(
        hardware=make.hardware(), name=name, value=value, source=source, first_seen=at, last_seen=at
    )
    call_by_facts([make.hardware().pk])


def test_the_page_states_what_holds_now_and_since_when(visit: Visit) -> None:
    fact("cpu", "Atom <b>", 1)
    fact("cpu", "Xeon", 2)
    fact("nic", "T540", 1, source="typed")
    page = visit(PAGE)
    assert "cpu Xeon 2026-01-02" in page
    assert "nic T540 typed 2026-01-01" in page
    held, former = page.split("Former facts")
    assert "Atom <b>" not in held
    assert "cpu Atom <b> 2026-01-01" in former
    assert "CPU Xeon NIC T540" in held


def test_a_fact_that_is_a_sentence_is_listed_but_names_no_machine(visit: Visit) -> None:
    sentence = "SuperMicro SuperServer 5018A-FTN4 (8 cores Atom C2758 at 2.4GHz)"
    fact("cpu", sentence, 1, source="typed")
    page = visit(PAGE)
    assert f"CPU {sentence}" in page
    assert "/ orange-lab Atom C2758 T540-CR" in page
    make.run(make.revision("r1"))
    assert sentence not in visit("/hardware/")


def test_only_so_many_former_values_of_a_fact_are_listed(client: Client) -> None:
    for day in range(1, 27):
        fact("cpu", f"value {day}", day)
    fact("nic", "old", 1)
    fact("nic", "new", 2)
    page = client.get(PAGE).content.decode()
    _, former = page.split("Former facts")
    assert former.count('<th scope="row">') == machine.FORMER_SHOWN + 1


def test_a_run_shows_its_facts_on_the_page_of_its_commit(visit: Visit) -> None:
    facts = {"sender_command": "pkt-gen <x>", "items": 1, "typed": {"bullets": ["a"]}}
    upload(run_document(facts=facts))
    page = visit("/commits/freebsd-head/r303643/")
    assert 'items 1 sender_command pkt-gen <x> typed {"bullets": ["a"]}' in page
