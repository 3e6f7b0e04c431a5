"""healthz, readyz, metrics, the API's description."""

import pytest
from django.core.cache import cache
from django.test import Client

from tests.api.conftest import Send
from tests.documents import run_document
from webapp.api import health

pytestmark = pytest.mark.django_db


def test_healthz_answers(client: Client) -> None:
    assert client.get("/healthz").json() == {"status": "ok"}


def test_readyz_names_the_part_that_does_not_answer(client: Client) -> None:
    cache.delete(health.WORKER_SEEN)
    response = client.get("/readyz")
    assert response.status_code == 503
    assert response.json()["database"] == response.json()["broker"] == "ok"
    assert "no worker answers" in response.json()["worker"]


def test_readyz_is_ready_when_a_worker_was_seen(client: Client) -> None:
    cache.set(health.WORKER_SEEN, 1, 5)
    assert client.get("/readyz").status_code == 200
    cache.delete(health.WORKER_SEEN)


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
