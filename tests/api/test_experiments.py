"""`/api/v1/experiments`: made by agents of runs and of sides, read by anybody."""

import pytest
from django.test import Client

from tests.api.conftest import Send
from tests.documents import run_document
from tests.experiments.steps import FAST, SLOW, readme

pytestmark = pytest.mark.django_db
PATH = "/api/v1/experiments"


@pytest.fixture
def runs(send: Send) -> list[str]:
    """Two kernels on one machine, stored."""
    documents = [
        run_document(revision=revision, samples=list(samples), build_id=revision)
        for revision, samples in (("r300000", SLOW), ("r300001", FAST))
    ]
    assert send({"runs": documents}).status_code == 201
    return [document["uuid"] for document in documents]


def test_runs_become_an_experiment_once(client: Client, send: Send, runs: list[str]) -> None:
    body = {"source": "a directory", "readme": readme(), "runs": runs}
    first, second = send(body, "", PATH), send(body, "", PATH)
    assert (first.status_code, second.status_code) == (201, 200)
    assert first.json() == second.json()
    made = first.json()
    assert made.pop("beside") == []
    assert made["question"] == "Impact of r300001 on pf"
    assert made["state"] == "imported"
    assert made["lab"] == "netlab"
    assert client.get(PATH).json()["experiments"] == [made]
    detail = client.get(f"{PATH}/{made['number']}").json()
    assert [one["samples"] for one in detail["rows"][0]["sets"]] == [list(SLOW), list(FAST)]
    assert client.get(PATH, {"state": "decided"}).json()["experiments"] == []
    assert client.get(f"{PATH}/{made['number'] + 1}").status_code == 404


def test_sides_become_an_experiment(send: Send, runs: list[str]) -> None:
    sides = ["freebsd-head:r300000", "freebsd-head:r300001"]
    made = send({"sides": sides, "question": "Does it help?"}, "", PATH)
    assert made.status_code == 201
    assert made.json()["sides"] == sides
    assert made.json()["question"] == "Does it help?"


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"sides": ["freebsd-head:r300000"]},
        {"sides": ["freebsd-head:r300000", "freebsd-head:r9"]},
        {"sides": ["~"] * 8},
        {"source": "d", "runs": ["x"]},
        {"source": "d", "readme": "a\0b", "runs": []},
    ],
)
def test_what_cannot_be_one_is_refused(send: Send, runs: list[str], body: object) -> None:
    assert send(body, "", PATH).status_code == 422


def test_one_run_is_no_two_sides_and_runs_need_a_source(send: Send, runs: list[str]) -> None:
    answer = send({"source": "d", "runs": runs[:1]}, "", PATH)
    assert answer.status_code == 422
    assert "one side only" in answer.content.decode()
    assert send({"runs": runs}, "", PATH).status_code == 422


def test_a_stranger_makes_none(client: Client, runs: list[str]) -> None:
    body = {"source": "d", "runs": runs}
    answer = client.post(PATH, body, content_type="application/json")
    assert answer.status_code == 401
