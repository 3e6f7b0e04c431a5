"""GET /api/v1/bisects and one of them."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests.bisects import lab
from tests.bisects.lab import Truth
from webapp.bisects.models import Bisect

pytestmark = pytest.mark.django_db


@pytest.fixture
def bisect() -> Bisect:
    return lab.start(Truth())


def numbers(query: str = "") -> list[int]:
    response = Client().get(f"/api/v1/bisects{query}")
    assert response.status_code == 200, response.content
    return [one["number"] for one in response.json()["bisects"]]


def test_bisects_are_found_by_their_parts(bisect: Bisect) -> None:
    assert numbers() == numbers("?state=running&tree=freebsd-head") == [bisect.pk]
    assert numbers(f"?hardware={lab.HARDWARE}&state=starved") == [bisect.pk]
    assert numbers("?state=done") == numbers("?tree=linux") == numbers("?alert=1") == []
    assert numbers(f"?before={bisect.pk}") == []


def test_one_shows_its_evidence_and_its_decisions(bisect: Bisect) -> None:
    lab.work(Truth(), bisect)
    document = Client().get(f"/api/v1/bisects/{bisect.pk}").json()
    assert (document["outcome"], document["culprit"]) == ("single", "r1009")
    assert document["revisions"][0] == "r1000"
    assert document["boots"][0]["source"] == "history"
    assert document["decisions"][-1]["chances"][0]["revision"].startswith("r10")
    assert [one["revision"] for one in document["suspects"]] == ["r1009"]


def test_an_unknown_one_is_a_404_in_the_shape_of_the_api() -> None:
    for number in (7, -1, 10**30):
        response = Client().get(f"/api/v1/bisects/{number}")
        assert response.status_code == 404
        assert "error" in response.json()


def test_an_unknown_state_is_refused_by_name() -> None:
    response = Client().get("/api/v1/bisects?state=lost")
    assert response.status_code == 422
    assert response.json()["error"]["details"][0]["path"] == "state"


def test_the_list_needs_few_statements(bisect: Bisect) -> None:
    with CaptureQueriesContext(connection) as statements:
        numbers()
    assert len(statements) <= 3
