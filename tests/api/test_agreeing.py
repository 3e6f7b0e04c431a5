"""Agreeing candidates in the API."""

import pytest
from django.test import Client

from tests.alerts.steps import arrive
from tests.alerts.test_agreeing import AT, SMALL, runs
from webapp.alerts.models import Agreement
from webapp.results.services import forget_names

pytestmark = pytest.mark.django_db


def test_it_lists_what_is_shown(client: Client) -> None:
    forget_names()
    arrive(runs({AT: SMALL}))
    row = Agreement.objects.get()
    (found,) = client.get("/api/v1/agreeing?tree=freebsd-head").json()["agreeing"]
    assert (found["after"], found["likeliest"], found["last"]) == ("r128", "r129", "r129")
    assert (found["series"], found["received"], found["verdict"]) == (row.series, 9, "worse")
    assert found["change_percent"] == pytest.approx(row.change_pct)
    assert client.get("/api/v1/agreeing?tree=other").json() == {"agreeing": []}
