"""Samples that an alert does not rest on are named wherever the alert is shown."""

from typing import Any

import pytest
from django.test import Client

from tests import make
from tests.results.steps import analyse, measured, upload
from webapp.alerts.models import Alert
from webapp.notifications.mails import alerts as mails
from webapp.outbox.messages import Message, compose
from webapp.outbox.models import Endpoint, HookDelivery, Mail
from webapp.results.services import forget_names

pytestmark = pytest.mark.django_db
STEP, REVISIONS = 12, 20
LEFT_OUT = "1 of 10 samples left out: clock step"
LINE = f"r300012, forwarding on bench nic: {LEFT_OUT}"


@pytest.fixture(autouse=True)
def _fresh() -> None:
    forget_names()


def arrive(*marked: int) -> Alert:
    """A loss of a fifth; the runs of ``marked`` (numbers of revisions) have a sample left out."""
    Endpoint.objects.create(name="chat", url="https://chat.example.org/hook")
    make.subscription()
    for at in range(REVISIONS):
        upload(measured(revision(at), factor(at)), *([_marked(at)] if at in marked else []))
    analyse()
    return Alert.objects.get()


def revision(at: int) -> str:
    return f"r{300000 + at}"


def factor(at: int) -> float:
    return 1.0 if at < STEP else 0.8


def _marked(at: int) -> dict[str, Any]:
    document = measured(revision(at), factor(at))
    document["metrics"]["pps"]["validity"] = [
        {"sample": 0, "kind": "clock-step", "text": "the clock was set <b>back</b>"}
    ]
    return document


def message() -> Message:
    return compose(Mail.objects.get(kind="alert.opened"))


def hook() -> Any:
    return HookDelivery.objects.get(kind="alert.opened").payload


def test_a_mail_names_revision_series_and_reason_in_text_and_html() -> None:
    arrive(STEP)

    found = message()

    assert f"Samples left out:\n  {LINE}\n\n" in found.text
    assert f"<li>{LINE}</li>" in found.html


def test_of_many_a_mail_names_the_first_and_counts_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(mails, "LEFT_OUT_SHOWN", 1)
    arrive(STEP - 1, STEP)

    found = message()

    assert "  r300011, forwarding on bench nic: 1 of 10" in found.text
    assert "  and 1 more: see the alert\n" in found.text
    assert "and 1 more: see the alert</li>" in found.html
    assert "r300012, forwarding" not in found.text


def test_webhooks_and_the_api_show_it_at_the_finding() -> None:
    alert = arrive(STEP)

    (hooked,) = hook()["findings"]
    (finding,) = Client().get(f"/api/v1/alerts/{alert.pk}").json()["findings"]

    expected = {
        "revision": "r300012",
        "samples": 1,
        "of": 10,
        "kinds": {"clock-step": 1},
        "text": LEFT_OUT,
    }
    assert hooked["left_out"] == [expected]
    assert finding["left_out"] == [expected]


def test_where_all_samples_count_nothing_is_stated() -> None:
    """Marks on revisions that no finding rests on are not shown either."""
    alert = arrive(2)

    found = message()

    assert "left out" not in found.text
    assert "left out" not in found.html
    assert [one["left_out"] for one in hook()["findings"]] == [[]]
    (finding,) = Client().get(f"/api/v1/alerts/{alert.pk}").json()["findings"]
    assert finding["left_out"] == []
