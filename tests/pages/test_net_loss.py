"""How much slower it is now: one figure on the front page, the machine's page and in the API."""

from collections.abc import Callable

import pytest
from django.test import Client

from tests.alerts.steps import arrive, runs_of
from webapp.charts.text import half_width, percent
from webapp.results.models import Series

pytestmark = pytest.mark.django_db

ATOM = "Atom/T540"


def test_pages_and_the_api_give_one_figure_of_what_stands(
    client: Client, visit: Callable[[str], str]
) -> None:
    arrive(
        runs_of(
            {
                (ATOM, "pf"): {12: 0.88, 22: 0.94},
                (ATOM, "ipfw"): {10: 1.2, 20: 0.9},
                (ATOM, "forwarding"): {12: 0.88, 20: 1 / 0.88},
            },
            count=32,
        )
    )
    machine, overview = visit(f"/hardware/{ATOM}/"), visit("/")
    stands = {
        series.mode.name: client.get(f"/api/v1/series/{series.pk}/points").json()["analysis"][
            "net_loss"
        ]
        for series in Series.objects.select_related("mode")
    }
    assert stands["forwarding"] is None
    assert "forwarding is" not in machine
    for mode, truth, since in (("pf", 0.88 * 0.94, "r112"), ("ipfw", 0.9, "r120")):
        its = stands[mode]
        assert its["since"] == since
        assert its["low_percent"] < its["change_percent"] < its["high_percent"]
        assert its["change_percent"] == pytest.approx(100 * (truth - 1), abs=0.5)
        assert f"{mode} is {half_width(-its['change_percent'])} % slower [" in machine
        assert f"] than before {since}" in machine
        assert f"{percent(its['change_percent'])} % since {since}" in machine
        assert f"{percent(its['change_percent'])} %" in overview
