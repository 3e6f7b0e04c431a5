"""healthz, readyz, metrics, the API's description."""

from collections.abc import Iterator

import pytest
from django.test import Client

from tests.api.conftest import Send
from tests.documents import run_document
from webapp.api.health import reporter
from webapp.api.urls import api
from webapp.readiness import noting

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def no_earlier_report() -> Iterator[None]:
    reporter.cache_clear()
    yield
    reporter.cache_clear()


def test_healthz_answers(client: Client) -> None:
    assert client.get("/healthz").json() == {"status": "ok"}


def test_readyz_names_the_parts_that_do_nothing_and_what_to_do(client: Client) -> None:
    response = client.get("/readyz")
    assert response.status_code == 503
    answer = response.json()
    assert answer["database"] == answer["broker"] == "ok"
    assert answer["worker"] == "worker was never seen at work"
    by_part = {each["part"]: each for each in answer["problems"]}
    assert set(by_part) == {"worker", "deliveries", "beat"}
    assert "restart worker" in by_part["worker"]["remedy"]
    assert by_part["worker"]["since"]


@pytest.mark.django_db(transaction=True)
def test_readyz_is_ready_when_every_part_was_seen_at_work(client: Client) -> None:
    noting.note("worker", "deliveries", "beat")
    response = client.get("/readyz")
    assert (response.status_code, response.json()["problems"]) == (200, [])


def test_metrics_say_which_parts_are_ready(client: Client) -> None:
    text = client.get("/metrics").content.decode()
    assert 'driftline_part_ready{part="database"} 1.0' in text
    assert 'driftline_part_ready{part="beat"} 0.0' in text


def test_metrics_count_the_waiting_series(send: Send, client: Client) -> None:
    send(run_document())
    text = client.get("/metrics").content.decode()
    assert "driftline_series_dirty 1.0" in text


def test_the_api_is_described(client: Client) -> None:
    paths = client.get("/api/v1/openapi.json").json()["paths"]
    assert {"/api/v1/runs", "/api/v1/series", "/api/v1/compare", "/api/v1/hardware"} <= set(paths)
    page = client.get("/api/docs")
    assert page.status_code == 200
    assert b"http://" not in page.content.replace(b"http://testserver", b"")
    assert b"https://" not in page.content


def test_the_description_is_made_once_for_each_place_of_the_site() -> None:
    assert api.get_openapi_schema() is api.get_openapi_schema()
    elsewhere = api.get_openapi_schema(path_prefix="/bench/api/v1/")
    assert "/bench/api/v1/runs" in elsewhere["paths"]
    assert "/api/v1/runs" in api.get_openapi_schema()["paths"]
