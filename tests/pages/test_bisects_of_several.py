"""A bisect over several machines or modes on its pages, in its mail and its JSON."""

import re

import pytest
from django.test import Client

from tests import make
from tests.bisects import lab
from tests.bisects.lab import Truth
from tests.kept import kept
from tests.results.steps import analyse
from webapp.accounts.models import User
from webapp.alerts.models import Alert
from webapp.alerts.queries import findings_of
from webapp.bisects.mails import compose_done
from webapp.bisects.models import Bisect
from webapp.outbox.models import Mail
from webapp.results.models import Series

pytestmark = [pytest.mark.long, pytest.mark.django_db]
OTHER = "Xeon/CX4"
HERE, THERE = "Atom T540", "Xeon CX4"
TRUTHS = (
    Truth(step_pct=-5.0),
    Truth(step_pct=-5.0, hardware=OTHER, seed=8),
    Truth(step_pct=-5.0, mode="forwarding", seed=9),
)


@pytest.fixture
def triager(client: Client) -> Client:
    client.force_login(make.user("tess", role=User.Role.TRIAGER))
    return client


@pytest.fixture
@kept
def alert() -> Alert:
    """One of a loss of 5 % on two machines, on one of them in two modes."""
    for truth in TRUTHS:
        lab.measured_before(truth)
    analyse()
    return Alert.objects.get()


def beside(alert: Alert) -> dict[str, Series]:
    """The series that the form offers, by machine and mode."""
    _worst, *others = findings_of([alert]).with_subjects()
    return {f"{one.series.mode} on {one.series.hardware}": one.series for one in others}


def ticked(page: str) -> set[str]:
    boxes = re.findall(r'<input name="beside"[^>]*>', page)
    return {
        found.group(1)
        for box in boxes
        if "checked" in box and (found := re.search(r'value="(\d+)"', box))
    }


def test_an_alert_of_several_machines_offers_them_and_ticks_what_adds(
    alert: Alert, client: Client
) -> None:
    page = client.get("/bisects/new/", {"alert": alert.pk}).content.decode()

    worst = findings_of([alert]).with_subjects()[0].series
    elsewhere = {
        str(series.pk)
        for series in beside(alert).values()
        if series.hardware_id != worst.hardware_id
    }
    assert len(beside(alert)) == 2
    assert ticked(page)
    assert ticked(page) <= elsewhere
    for name in beside(alert):
        assert name in page
    assert "2 machines or modes look for the commit together" in page


def test_what_is_unticked_is_left_out(alert: Alert, client: Client) -> None:
    page = client.get("/bisects/new/", {"alert": alert.pk, "picked": "1"}).content.decode()

    assert ticked(page) == set()
    assert "look for the commit together" not in page


def test_a_series_that_is_none_of_the_alerts_is_refused_by_name(
    alert: Alert, client: Client
) -> None:
    asked = {"alert": alert.pk, "picked": "1", "beside": "987654"}

    page = client.get("/bisects/new/", asked).content.decode()

    assert "Machines and modes: one of the chosen is none of this alert" in page


def test_it_is_started_with_what_was_ticked(alert: Alert, triager: Client) -> None:
    worst = findings_of([alert]).with_subjects()[0]
    chosen = next(s for s in beside(alert).values() if s.hardware_id != worst.series.hardware_id)

    answer = triager.post(
        "/bisects/new/", {"alert": alert.pk, "picked": "1", "beside": str(chosen.pk)}
    )

    bisect = Bisect.objects.get()
    assert answer["Location"] == bisect.get_absolute_url()
    (subject,) = bisect.subjects.all()
    assert (subject.series, subject.alerted) == (chosen, True)
    assert subject.effect_pct == pytest.approx(-5.0, abs=0.7)


def test_page_json_markdown_and_mail_state_what_each_machine_shows(client: Client) -> None:
    truths = Truth(), Truth(hardware=OTHER, seed=8, step_pct=0.0)
    bisect = lab.work_together(truths, lab.start_of_several(*truths))
    assert bisect.outcome == "single"

    page = client.get(bisect.get_absolute_url()).content.decode()
    text = client.get(f"{bisect.get_absolute_url().rstrip('/')}.md").content.decode()
    document = client.get(f"/api/v1/bisects/{bisect.pk}").json()
    mail = compose_done(Mail.objects.get())
    svg = client.get(f"{bisect.get_absolute_url().rstrip('/')}.svg").content.decode()

    measured = [row["action"] for row in document["decisions"] if "measures" in row["action"]]
    assert f"measures r1000 on {HERE}, r1000 on {THERE}" in page
    assert f"measures r1000 on {HERE}, r1000 on {THERE}" in text
    assert all(f" on {HERE}" in line or f" on {THERE}" in line for line in measured)
    first, second = document["subjects"]
    assert (first["hardware"], second["hardware"]) == (lab.HARDWARE, OTHER)
    assert first["leads"]
    assert first["moved"] > 0.9 > 0.2 > second["moved"]
    assert first["effect_low_percent"] < -2.0 < first["effect_high_percent"]
    assert {boot["subject"] for boot in document["boots"]} == {0, 1}
    assert first["boots"] + second["boots"] == sum(
        boot["source"] == "run" for boot in document["boots"]
    )
    for shown in (page, text, mail.text, mail.html or ""):
        assert f"pf on {THERE}" in shown
        assert "Not moved by the commit" in shown
        assert "Moved by −" in shown
    assert page.count("<h3") == 2
    assert f"pf on {THERE}" in svg


def test_a_bisect_of_one_has_no_lanes(client: Client) -> None:
    bisect = lab.start(Truth())

    assert client.get(f"/api/v1/bisects/{bisect.pk}").json()["subjects"] == []
    assert "Machines and modes" not in client.get(bisect.get_absolute_url()).content.decode()
