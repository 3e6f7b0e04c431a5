"""How much slower it is now: one figure on the front page, the machine's page and in the API."""

import re
from collections.abc import Callable

import pytest
from django.test import Client

from tests.alerts.steps import arrive, runs_of
from tests.events.steps import release
from webapp.charts.text import half_width, interval, percent
from webapp.results.models import Revision, Series

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


def test_a_comparison_around_a_loss_that_stands_has_the_same_figure(client: Client) -> None:
    arrive(
        runs_of(
            {(ATOM, "pf"): {12: 0.88, 22: 0.94}, (ATOM, "ipfw"): {12: 0.88, 20: 1 / 0.88}},
            count=32,
        )
    )
    pf = Series.objects.get(mode__name="pf")
    lost = client.get(f"/api/v1/series/{pf.pk}/points").json()["analysis"]["net_loss"]
    ends = interval(lost["low_percent"], lost["high_percent"])
    words = f"today {percent(lost['change_percent'])} % {ends}"
    mark = f'data-figure="series:{pf.pk}:net_loss"'

    across = client.get("/compare/?a=freebsd-head:r111&b=freebsd-head:r112").content.decode()
    assert re.findall(f"<span [^>]*{mark}>([^<]*)</span>", across) == [words]
    assert across.count(":net_loss") == 1, "ipfw was won back"
    ranges = "/compare/?a=freebsd-head:r105..r111&b=freebsd-head:r112..r118"
    assert re.findall(f">{re.escape(words)}<", client.get(ranges).content.decode())
    of_sides = "a=freebsd-head:r111&b=freebsd-head:r112"
    of_ranges = ranges.partition("?")[2]
    release("11.0", Revision.objects.get(name="r111"))
    release("12.0", Revision.objects.get(name="r112"))
    for report in (f"compare.md?{of_sides}", f"compare.md?{of_ranges}", "releases/11.0...12.0.md"):
        lines = client.get(f"/{report}").content.decode().replace("\\", "").splitlines()
        (line,) = (one for one in lines if one.startswith("|") and "today" in one)
        assert "pf" in line, report
        assert line.endswith(f", {words} |"), report
    judged = {
        row["sets"][0]["mode"]: row["judged"][0]["net_loss"]
        for row in client.get(f"/api/v1/compare?{of_sides}").json()["rows"]
    }
    assert judged == {"pf": lost, "ipfw": None}
    rows = client.get(f"/api/v1/compare/ranges?{of_ranges}").json()["rows"]
    assert {row["mode"]: row["net_loss"] for row in rows} == judged
    rows = client.get("/api/v1/compare/releases?a=11.0&b=12.0").json()["rows"]
    assert {row["mode"]: row["today_percent"] for row in rows} == {
        "pf": lost["change_percent"],
        "ipfw": None,
    }
    assert (
        "today_since" in client.get("/api/v1/compare/releases.csv?a=11.0&b=12.0").content.decode()
    )
    then = "asof=2099-01-01T00:00:00Z"
    assert "today" not in client.get(f"/compare.md?{of_sides}&{then}").content.decode()
    assert '"net_loss": {' not in client.get(f"/api/v1/compare?{of_sides}&{then}").content.decode()
    for elsewhere in (
        "?a=freebsd-head:r105&b=freebsd-head:r111",
        "?a=freebsd-head:r112&b=freebsd-head:r125",
        "?a=freebsd-head:r111&b=freebsd-head:r112&asof=2099-01-01",
        "?a=freebsd-head:r100..r105&b=freebsd-head:r106..r111",
    ):
        page = client.get(f"/compare/{elsewhere}")
        assert page.status_code == 200
        assert ":net_loss" not in page.content.decode(), elsewhere
