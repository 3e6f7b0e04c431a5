"""Errors that no field of the request is to blame for."""

import json
import re
from typing import Any

import pytest
from django.db import InterfaceError, OperationalError
from django.test import Client

from tests.api.conftest import Send
from tests.documents import run_document
from tests.places import PROJECT
from webapp.analysis import services
from webapp.api.errors import CODES
from webapp.config.admission import CODES as FRONT_CODES

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("error", [OperationalError, InterfaceError])
def test_a_lost_database_is_answered_as_something_to_wait_for(
    send: Send, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def lose(**_: Any) -> None:
        raise error("server closed the connection unexpectedly")

    monkeypatch.setattr(services, "store_runs", lose)
    response = send(run_document())
    assert response.status_code == 503
    assert int(response["Retry-After"]) > 0
    assert json.loads(response.content)["error"]["code"] == "unavailable"


@pytest.mark.parametrize("address", ["/api/v1/runs", "/api/v1/hardware"])
def test_a_wrong_method_is_refused_as_everything_else_is(client: Client, address: str) -> None:
    response = client.get(address) if address.endswith("runs") else client.delete(address)
    assert response.status_code == 405
    error = response.json()["error"]
    assert (error["code"], error["details"]) == ("error", [])
    assert "POST" in response["Allow"]
    assert response["Allow"] in error["message"]


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("/api/v1/nowhere", "There is nothing at /api/v1/nowhere"),
        ("/api/v1/alerts/7", "There is no such alert: /api/v1/alerts/7"),
    ],
)
def test_what_is_missing_is_named_in_the_same_form(
    client: Client, address: str, message: str
) -> None:
    response = client.get(address)
    assert response.status_code == 404
    error = response.json()["error"]
    assert (error["code"], error["message"]) == ("not_found", message)


def test_a_query_that_is_refused_is_no_document(client: Client) -> None:
    error = client.get("/api/v1/alerts?limit=0").json()["error"]
    assert error["message"] == "The query cannot be answered as it is."
    assert [one["path"] for one in error["details"]] == ["limit"]


def test_the_table_lists_every_code_and_no_other() -> None:
    page = (PROJECT / "docs" / "figures.md").read_text()
    table = page.partition("## Errors of the API")[2].partition("\n## ")[0]
    rows = [line.split("|")[2] for line in table.splitlines() if line.startswith("| ")][1:]
    listed = {code for cell in rows for code in re.findall(r"`(\w+)`", cell)}
    assert listed == CODES | set(FRONT_CODES.values()) | {"error"}


@pytest.mark.parametrize("code", sorted({*CODES, *FRONT_CODES.values()}))
def test_a_code_is_one_word(code: str) -> None:
    assert re.fullmatch(r"[a-z]+(_[a-z]+)*", code)


def test_an_empty_body_is_named(send: Send) -> None:
    (detail,) = send("").json()["error"]["details"]
    assert detail["message"] == "The body is empty: send one JSON object"
