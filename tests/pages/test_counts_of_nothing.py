"""Counts that were 0: what the detector reads as one is no figure of a page or a mail."""

import re

import numpy as np
import pytest
from django.test import Client

from tests import make
from tests.alerts.steps import arrive
from tests.documents import run_document
from tests.pages.conftest import words
from webapp.alerts.models import Alert
from webapp.charts.text import number
from webapp.notifications.services import notify_events
from webapp.outbox.messages import compose
from webapp.outbox.models import Mail

pytestmark = pytest.mark.django_db


def test_a_level_of_zeros_is_at_most_one(client: Client) -> None:
    make.subscription()
    noise = np.random.default_rng(3)
    found = {"unit": "packets", "better": "less"}
    samples = [[0.0] * 5 if at < 12 else noise.normal(300, 9, 5).tolist() for at in range(24)]
    arrive(
        [
            run_document(revision=f"r{300 + at}", metrics={"drops": found | {"samples": its}})
            for at, its in enumerate(samples)
        ]
    )
    alert = Alert.objects.get()
    level = number(alert.findings.get().level)
    notify_events()
    mail = compose(Mail.objects.get(kind="alert.opened"))
    trend = "/trends/?tree=freebsd-head&metric=drops"
    for address in (alert.get_absolute_url(), "/commits/freebsd-head/r312/", trend):
        page = words(client.get(address).content.decode())
        assert "≤ 1 " in page, address
        assert " 1 → " not in page.replace("≤ 1 → ", ""), address
    for form in (mail.text, mail.html):
        assert "≤ 1" in form
        assert f"rose from ≤ 1 to {level} packets" in form
    assert mail.subject.startswith(f"[driftline] from ≤ 1 to {level} packets: drops")
    for address in ("/", "/alerts/", alert.get_absolute_url(), "/hardware/bench/nic/"):
        page = words(client.get(address).content.decode())
        assert re.search(r"≤ 1 (to|→) 299", page), address
        assert not re.search(r"today [\d,]+ %|(rose by|got) [\d,]+", page), address
