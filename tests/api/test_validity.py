"""Marks of samples in the API: an upload carries them, lists show them, a lab's agent decides."""

from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from tests.api.conftest import Send
from tests.documents import run_document
from webapp.labs import services as labs
from webapp.results.models import Measurement, Point

pytestmark = pytest.mark.django_db
PATH = "/api/v1/runs/marked"


def marked(*marks: Any, **changes: Any) -> dict[str, Any]:
    document = run_document(**changes)
    document["metrics"]["pps"]["validity"] = list(marks)
    return document


def mark(**changes: Any) -> dict[str, Any]:
    return {"sample": 4, "kind": "warm-up", "text": "rises by 5.0 %"} | changes


@pytest.mark.parametrize(
    ("changes", "path", "message"),
    [
        ({"sample": 5}, "validity", "entry 0 is about sample 5, but there are 5"),
        ({"sample": -1}, "validity[0].sample", "greater than or equal to 0"),
        ({"kind": "odd"}, "validity[0].kind", "sender-saturated"),
        ({"text": ""}, "validity[0].text", "at least 1"),
        ({"text": "x" * 501}, "validity[0].text", "at most 500"),
        ({"more": 1}, "validity[0].more", "not permitted"),
    ],
)
def test_a_wrong_mark_is_named(
    send: Send, changes: dict[str, Any], path: str, message: str
) -> None:
    response = send(marked(mark(**changes)))
    assert response.status_code == 422
    (detail,) = response.json()["error"]["details"]
    assert detail["path"] == f"runs[0].metrics.pps.{path}"
    assert message in detail["message"]
    assert not Measurement.objects.exists()


def test_the_list_has_all_samples_and_why(send: Send, client: Client) -> None:
    run = marked(mark(), mark(sample=0, kind="all-arrived"))
    assert send(run).status_code == 201
    assert send(run_document(revision="r303644")).status_code == 201
    (row,) = client.get(PATH).json()["marked"]
    assert row["uuid"] == run["uuid"]
    assert row["samples"] == run["metrics"]["pps"]["samples"]
    assert row["left_out"] == [4]
    assert [one["why_counted"] != "" for one in row["marks"]] == [False, True]
    assert row["decision"] is None
    assert len(client.get(f"{PATH}?state=left_out").json()["marked"]) == 1
    assert client.get(f"{PATH}?state=counted").json() == {"marked": [], "next": None}
    assert client.get(f"{PATH}?revision=r303644").json()["marked"] == []


def test_points_show_how_many_samples_are_left_out(send: Send, client: Client) -> None:
    send(marked(mark()))
    series = Point.objects.get().series_id
    body = client.get(f"/api/v1/series/{series}/points").json()
    assert (body["n"], body["samples_left_out"]) == ([4], [1])
    (left_out,) = body["left_out"]
    assert left_out["text"] == "1 of 5 samples left out: warm-up"
    text = client.get(f"/api/v1/series/{series}/points.csv").content.decode()
    assert text.splitlines()[0].endswith(",samples_left_out,why_left_out")
    assert text.splitlines()[1].endswith(",1,warm-up")


def test_a_comparison_is_of_the_samples_that_count(send: Send, client: Client) -> None:
    send(run_document(revision="r303642"))
    send(marked(mark()))
    sides = "a=freebsd-head:r303642&b=freebsd-head:r303643"
    (row,) = client.get(f"/api/v1/compare?{sides}").json()["rows"]
    assert [one["n"] for one in row["sets"]] == [5, 4]
    assert [one["left_out"] and one["left_out"]["samples"] for one in row["sets"]] == [None, 1]


def test_where_nothing_counts_a_comparison_states_it(send: Send, client: Client) -> None:
    send(run_document(revision="r303642"))
    send(marked(*(mark(sample=i) for i in range(5))))
    sides = [f"freebsd-head:{name}:bench/nic:forwarding:pps" for name in ("r303642", "r303643")]
    response = client.get(f"/api/v1/compare?a={sides[0]}&b={sides[1]}")
    assert response.status_code == 422
    assert "all are left out" in response.json()["error"]["message"]


def test_a_labs_agent_decides_and_takes_it_back(send: Send, client: Client) -> None:
    run = marked(mark())
    send(run)
    response = send({"runs": [run["uuid"]], "choice": "count"}, query="", path=PATH)
    assert (response.status_code, response.json()) == (200, {"decided": 1})
    assert Point.objects.get().n == 5
    (row,) = client.get(PATH).json()["marked"]
    assert row["decision"]["choice"] == "count"
    assert row["decision"]["by"].startswith("agent ")
    assert row["left_out"] == []
    send({"runs": [run["uuid"]], "choice": "by_mark", "metric": "pps"}, query="", path=PATH)
    assert Point.objects.get().n == 4


def test_nobody_decides_about_unknown_or_foreign_runs(send: Send, client: Client) -> None:
    run = marked(mark())
    send(run)
    response = send({"runs": [str(uuid4())], "choice": "count"}, query="", path=PATH)
    assert response.status_code == 422
    assert response.json()["error"]["details"][0]["path"] == "runs[0]"
    other = labs.create_agent(name="other", lab_name="another")
    token = labs.issue_token(agent=other).text
    foreign = send(
        {"runs": [run["uuid"]], "choice": "count"},
        query="",
        path=PATH,
        Authorization=f"Bearer {token}",
    )
    assert foreign.status_code == 403
    assert Point.objects.get().n == 4
    assert send({"runs": [run["uuid"]], "choice": "maybe"}, query="", path=PATH).status_code == 422
