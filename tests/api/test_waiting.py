"""Waiting runs in the API: an upload is answered so, lists show them, a lab's agent decides."""

import csv
import io
import json
from uuid import uuid4

import pytest
from django.test import Client

from tests.api.conftest import Send
from tests.documents import run_document
from webapp.labs import services as labs
from webapp.results.models import Point, WaitingRun

pytestmark = pytest.mark.django_db
PATH = "/api/v1/runs/waiting"
EVIDENCE = {
    "label": "fbsd12-head.r303643",
    "label_revision": "r303643",
    "kernel_revision": "r309257",
    "directory": "bench/nic/firewalls/results/fbsd12-head.r303643",
}


def waiting_run(send: Send) -> str:
    run = run_document(evidence=EVIDENCE)
    response = send(run)
    assert response.status_code == 201
    body = response.json()
    assert body["waiting"] == 1
    assert body["runs"][0]["status"] == "waiting"
    return str(run["uuid"])


def test_a_waiting_run_answers_201_and_then_200(send: Send) -> None:
    run = run_document(evidence=EVIDENCE)
    assert send(run).status_code == 201
    again = send(run)
    assert again.status_code == 200
    assert again.json()["runs"][0]["status"] == "waiting"


def test_a_run_that_moves_by_its_evidence_states_it(send: Send) -> None:
    run = run_document()
    send(run)
    moved = send(run | {"evidence": EVIDENCE | {"kernel_revision": "r303640"}})
    assert moved.status_code == 200
    (line,) = moved.json()["runs"]
    assert line["status"] == "refiled"
    assert "3 commits away" in line["warnings"][0]
    assert Point.objects.get().revision.name == "r303640"


def test_waiting_runs_as_csv_have_the_columns_of_the_list(send: Send, client: Client) -> None:
    uuid = waiting_run(send)
    text = client.get(f"{PATH}.csv").content.decode()
    (row,) = csv.DictReader(io.StringIO(text))
    assert row["uuid"] == uuid
    assert json.loads(row["evidence"]) == EVIDENCE
    assert set(row) == set(client.get(PATH).json()["waiting"][0])
    assert client.get(f"{PATH}.csv?tree=x").content.count(b"\n") == 1


def test_the_list_shows_candidates_and_evidence(send: Send, client: Client) -> None:
    uuid = waiting_run(send)
    (row,) = client.get(PATH).json()["waiting"]
    assert row["uuid"] == uuid
    assert [one["revision"] for one in row["candidates"]] == ["r309257", "r303643"]
    assert row["evidence"] == EVIDENCE
    assert row["decided_at"] is None
    assert client.get(f"{PATH}?hardware=other/nic").json() == {"waiting": [], "next": None}
    assert client.get(f"{PATH}?state=decided").json()["waiting"] == []
    assert client.get(f"{PATH}?state=else").status_code == 422


def test_the_labs_agent_decides(send: Send, client: Client) -> None:
    uuid = waiting_run(send)
    response = send({"runs": [uuid], "choice": "kernel"}, query="", path=PATH)
    assert response.json() == {"decided": 1}
    (row,) = client.get(f"{PATH}?state=decided").json()["waiting"]
    assert (row["chosen"], row["rule"]) == ("r309257", "agent netlab/control")
    assert send({"runs": [uuid], "choice": "label"}, query="", path=PATH).json() == {"decided": 0}


def test_another_labs_agent_does_not(send: Send) -> None:
    uuid = waiting_run(send)
    token = labs.issue_token(agent=labs.create_agent(name="x", lab_name="other")).text
    response = send(
        {"runs": [uuid], "choice": "kernel"},
        query="",
        path=PATH,
        Authorization=f"Bearer {token}",
    )
    assert response.status_code == 403
    assert WaitingRun.objects.open().count() == 1


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"runs": [], "choice": "kernel"}, "runs"),
        ({"runs": [str(uuid4())], "choice": "kernel"}, "runs[0]"),
        ({"runs": ["x"], "choice": "kernel"}, "runs[0]"),
        ({"runs": [str(uuid4())]}, "choice"),
    ],
)
def test_what_cannot_be_decided_is_named(send: Send, body: object, path: str) -> None:
    response = send(body, query="", path=PATH)
    assert response.status_code == 422
    assert response.json()["error"]["details"][0]["path"] == path


def test_a_choice_that_is_no_candidate_is_refused(send: Send) -> None:
    uuid = waiting_run(send)
    response = send({"runs": [uuid], "choice": "r1"}, query="", path=PATH)
    assert response.status_code == 422
    assert "r309257, r303643" in response.json()["error"]["details"][0]["message"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"kernel_hash": "xyz"},
        {"kernel_hash": "97BE6FC"},
        {"label": "two\nlines"},
        {"trust": "me"},
        {"other": "field"},
        {"label_revision": "r 1"},
    ],
)
def test_wrong_evidence_is_refused_by_its_field(send: Send, wrong: dict[str, str]) -> None:
    response = send(run_document(evidence=EVIDENCE | wrong))
    assert response.status_code == 422
    path = response.json()["error"]["details"][0]["path"]
    assert path.startswith(f"runs[0].evidence.{next(iter(wrong))}")
