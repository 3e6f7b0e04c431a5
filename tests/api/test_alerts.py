"""GET /api/v1/alerts and one of them."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests import make
from tests.alerts.steps import arrive, runs_of
from webapp.alerts import services as alerts
from webapp.alerts.models import Alert
from webapp.results.services import forget_names

pytestmark = pytest.mark.django_db
ATOM, XEON = "Atom/T540", "Xeon/T580"


@pytest.fixture(autouse=True)
def two_alerts() -> None:
    forget_names()
    arrive(
        runs_of(
            {
                (ATOM, "pf"): {12: 0.9},
                (ATOM, "ipfw"): {12: 1.1},
                (XEON, "pf"): {20: 0.9},
            }
        )
    )


def numbers(query: str = "") -> list[int]:
    response = Client().get(f"/api/v1/alerts{query}")
    assert response.status_code == 200, response.content
    return [one["number"] for one in response.json()["alerts"]]


def test_alerts_are_found_by_their_parts() -> None:
    first, second = Alert.objects.order_by("revision__position").values_list("pk", flat=True)
    assert sorted(numbers()) == sorted([first, second])
    assert numbers(f"?hardware={XEON}") == [second]
    assert numbers("?mode=ipfw") == [first]
    assert numbers("?tree=linux") == []
    assert numbers("?tree=freebsd-head&mode=pf&hardware=Atom/T540") == [first]


def test_alerts_are_found_by_their_state() -> None:
    alert = Alert.objects.order_by("pk")[0]
    assert len(numbers("?state=open")) == len(numbers("?state=new")) == 2
    alerts.resolve(alert=alert.pk, actor=make.user(), version=alert.version, resolution="expected")
    assert numbers("?state=resolved") == [alert.pk]
    assert alert.pk not in numbers("?state=open")
    assert Client().get("/api/v1/alerts?state=lost").status_code == 422


@pytest.mark.parametrize("path", ["alerts", "series"])
@pytest.mark.parametrize("part", ["tree", "hardware", "mode"])
def test_a_nul_is_refused_by_name(path: str, part: str) -> None:
    response = Client().get(f"/api/v1/{path}?{part}=%00")
    assert response.status_code == 422
    assert part in response.content.decode()


def test_pages_follow_one_another() -> None:
    first = Client().get("/api/v1/alerts?limit=1").json()
    second = Client().get(f"/api/v1/alerts?limit=1&before={first['next']}").json()
    assert second["next"] is None
    assert {one["alerts"][0]["number"] for one in (first, second)} == set(numbers())


def test_one_alert_has_its_findings_and_events() -> None:
    alert = Alert.objects.get(verdict="mixed")
    found = Client().get(f"/api/v1/alerts/{alert.pk}").json()
    assert (found["likeliest"], found["verdict"], found["state"]) == ("r112", "mixed", "new")
    assert [(one["mode"], one["verdict"]) for one in found["findings"]] == [
        ("pf", "worse"),
        ("ipfw", "better"),
    ]
    assert [event["kind"] for event in found["events"]] == ["opened", "joined"]
    assert found["events"][0]["actor"] is None


def test_an_unknown_alert_is_not_found() -> None:
    assert Client().get("/api/v1/alerts/99999").status_code == 404
    assert Client().get(f"/api/v1/alerts/{10**30}").status_code == 404


@pytest.mark.parametrize(("path", "most"), [("/api/v1/alerts", 6), ("/api/v1/alerts/{}", 16)])
def test_it_takes_few_statements(path: str, most: int) -> None:
    with CaptureQueriesContext(connection) as captured:
        Client().get(path.format(Alert.objects.get(verdict="mixed").pk))
    assert len(captured) <= most
