"""healthz, readyz, metrics, the API's description."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from datetime import timedelta

import pytest
import yaml
from django.db import OperationalError
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from tests import make
from tests.api.conftest import Send
from tests.documents import run_document
from tests.jobs.steps import request
from tests.places import PROJECT
from webapp.api import prometheus
from webapp.api.prometheus import reporter
from webapp.api.urls import api
from webapp.outbox.models import Mail
from webapp.readiness import heartbeats

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)


@pytest.fixture(autouse=True)
def no_earlier_report() -> Iterator[None]:
    reporter.cache_clear()
    prometheus.scrape.cache_clear()
    yield
    reporter.cache_clear()
    prometheus.scrape.cache_clear()


def scraped(client: Client) -> str:
    """The metrics as they are now."""
    prometheus.scrape.cache_clear()
    return client.get("/metrics").content.decode()


def value(text: str, name: str) -> float:
    """Of one line; 0 where it is not there yet."""
    found = [line for line in text.splitlines() if line.startswith(f"{name} ")]
    return float(found[0].split()[-1]) if found else 0.0


def test_healthz_answers(client: Client) -> None:
    assert client.get("/healthz").json() == {"status": "ok"}


def test_readyz_names_the_parts_that_do_nothing_and_what_to_do(client: Client) -> None:
    response = client.get("/readyz")
    assert response.status_code == 503
    answer = response.json()
    assert answer["database"] == answer["broker"] == "ok"
    assert answer["worker"] == "worker was stopped, or never seen at work"
    by_part = {each["part"]: each for each in answer["problems"]}
    assert set(by_part) == {"worker", "deliveries", "beat"}
    assert "restart worker" in by_part["worker"]["remedy"]
    assert by_part["worker"]["since"]


@pytest.mark.django_db(transaction=True)
def test_readyz_is_ready_when_every_part_was_seen_at_work(client: Client) -> None:
    heartbeats.note("worker", "deliveries", "beat")
    response = client.get("/readyz")
    assert (response.status_code, response.json()["problems"]) == (200, [])


def test_metrics_state_which_parts_are_ready(client: Client) -> None:
    text = client.get("/metrics").content.decode()
    assert 'driftline_part_ready{part="database"} 1.0' in text
    assert 'driftline_part_ready{part="beat"} 0.0' in text


def test_metrics_count_the_waiting_series(send: Send, client: Client) -> None:
    send(run_document())
    text = client.get("/metrics").content.decode()
    assert "driftline_series_dirty 1.0" in text


def test_metrics_count_requests_runs_and_samples(send: Send, client: Client) -> None:
    counted = (
        'driftline_requests_total{method="POST",route="api/v1/runs",status="201"}',
        'driftline_request_seconds_count{route="api/v1/runs"}',
        'driftline_runs_total{outcome="stored"}',
        'driftline_runs_total{outcome="known"}',
        "driftline_samples_total",
        'driftline_requests_total{method="GET",route="none",status="404"}',
    )
    before = scraped(client)
    document = run_document()
    send(document), send(document)
    for address in ("/no-such-page/a", "/no-such-page/b"):
        client.get(address)
    after = scraped(client)
    samples = sum(len(each["samples"]) for each in document["metrics"].values())
    grown = [value(after, name) - value(before, name) for name in counted]
    assert grown == [1, 2, 1, 1, samples, 2]
    assert "no-such-page" not in after


def test_metrics_state_what_waits_and_for_how_long(client: Client) -> None:
    now = timezone.now()
    person = make.user("ada")
    for number, (state, age) in enumerate((("waiting", 3), ("sent", 9), ("dead", 9))):
        mail = Mail.objects.create(
            recipient=person, kind="k", about=str(number), state=state, due=now + DAY
        )
        Mail.objects.filter(pk=mail.pk).update(created_at=now - age * DAY)
    request("r1", at=now)
    text = scraped(client)
    assert value(text, 'driftline_outbox_waiting{kind="mail"}') == 1
    assert value(text, 'driftline_outbox_dead{kind="mail"}') == 1
    oldest = timedelta(seconds=value(text, 'driftline_outbox_oldest_seconds{kind="mail"}'))
    assert 3 * DAY <= oldest < 4 * DAY
    assert value(text, 'driftline_outbox_overdue_seconds{kind="mail"}') == 0
    assert value(text, 'driftline_outbox_waiting{kind="webhook"}') == 0
    assert value(text, 'driftline_jobs{state="queued"}') == 1
    assert value(text, "driftline_database_bytes") > 2**20
    assert value(text, 'driftline_disk_free_bytes{directory="temporary"}') > 0


def test_a_scrape_costs_a_statement_a_table_and_serves_who_asks_again(
    client: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(6):
        for _ in range(20):
            assert client.get("/metrics").status_code == 200


def test_metrics_are_there_while_the_database_is_away(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object) -> None:
        raise OperationalError("the server closed the connection unexpectedly")

    monkeypatch.setattr(prometheus.Job.objects, "numbers", away)
    text = scraped(client)
    assert "driftline_requests_total{" in text
    assert "driftline_series_dirty" not in text


RULES = PROJECT / "docs" / "prometheus-rules.yml"


def test_every_name_of_an_alert_rule_is_scraped(send: Send, client: Client) -> None:
    send(run_document())
    text = scraped(client)
    found = {re.split("[{ ]", line)[0] for line in text.splitlines()}
    # A process without a pool has nothing to report of it, and no limit was passed yet.
    found |= set(re.findall(r"^# TYPE (\w+) ", text, re.MULTILINE))
    rules = [
        rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]
    ]
    named = {name for rule in rules for name in re.findall(r"driftline_\w+", rule["expr"])}
    labels = {label for rule in rules for label in re.findall(r'(\w+)!?=~?"', rule["expr"])}
    assert named
    assert named <= found
    assert labels - {"job"} <= set(re.findall(r'(\w+)="', text))


@pytest.mark.skipif(not shutil.which("promtool"), reason="promtool (of Prometheus) is not in PATH")
def test_promtool_accepts_the_rules_and_the_metrics(send: Send, client: Client) -> None:
    send(run_document())
    for command, given in (
        (["check", "rules", str(RULES)], b""),
        (["check", "metrics"], scraped(client).encode()),
    ):
        done = subprocess.run(["promtool", *command], input=given, capture_output=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


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
