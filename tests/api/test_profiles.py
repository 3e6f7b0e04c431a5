"""Profiles over the API: stored once, listed, refused with the field and the remedy."""

import json
from typing import Any
from uuid import uuid4

import pytest
from django.http import HttpResponse
from django.test import Client

from tests.api.conftest import Send
from tests.documents import run_document
from tests.profiles import FORWARDING, boots_of, profile_document, store
from webapp.labs import services as labs
from webapp.results.models import Profile, ProfiledFunction
from webapp.results.queries import call_trees

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(send: Send) -> str:
    document = run_document()
    assert send(document).status_code == 201
    return str(document["uuid"])


def post(send: Send, run: str, document: dict[str, Any], **headers: str) -> HttpResponse:
    return send(document, query="", path=f"/api/v1/runs/{run}/profiles", **headers)


def body(response: HttpResponse) -> Any:
    return json.loads(response.content)


def stacks(profile: Profile) -> dict[str, int]:
    found = call_trees([profile.pk])[profile.pk].stacks()
    return {
        ";".join(
            f"{one.module}`{one.name}" if one.module != "kernel" else one.name for one in stack
        ): count
        for stack, count in found
    }


def test_a_profile_is_stored_with_its_stacks(send: Send, run: str) -> None:
    response = post(send, run, profile_document())
    assert response.status_code == 201
    assert body(response)["status"] == "stored"
    profile = Profile.objects.get()
    assert str(profile.run.uuid) == run
    assert (profile.samples, profile.announced, profile.pps) == (1000, 1000, 1_000_000)
    assert stacks(profile) == FORWARDING


def test_sending_a_profile_twice_stores_it_once(send: Send, run: str) -> None:
    first, second = (post(send, run, profile_document()) for _ in range(2))
    assert (first.status_code, second.status_code) == (201, 200)
    assert body(second)["profile"] == body(first)["profile"]
    assert Profile.objects.count() == 1


def test_another_boot_with_the_same_counts_is_another_profile(send: Send, run: str) -> None:
    for boot in ("one", "two"):
        assert post(send, run, profile_document(boot=boot)).status_code == 201
    assert Profile.objects.count() == 2


def test_functions_are_stored_once_for_all_profiles(send: Send, run: str) -> None:
    post(send, run, profile_document())
    functions = ProfiledFunction.objects.count()
    post(send, run, profile_document({"fork_exit;ithread_loop": 5}))
    assert ProfiledFunction.objects.count() == functions


def test_the_profiles_of_a_run_are_listed_without_a_token(send: Send, run: str) -> None:
    post(send, run, profile_document())
    (listed,) = body(Client().get(f"/api/v1/runs/{run}/profiles"))["profiles"]
    assert listed["samples"] == 1000
    assert listed["truncated"] is False
    assert Client().get(f"/api/v1/runs/{uuid4()}/profiles").status_code == 404


def test_a_profile_of_no_run_is_refused(send: Send) -> None:
    response = post(send, str(uuid4()), profile_document())
    assert response.status_code == 404
    assert "upload the run first" in response.content.decode()


def test_a_stranger_and_another_lab_store_nothing(send: Send, run: str) -> None:
    path = f"/api/v1/runs/{run}/profiles"
    sent = json.dumps(profile_document())
    assert Client().post(path, sent, content_type="application/json").status_code == 401
    other = labs.issue_token(agent=labs.create_agent(name="other", lab_name="elsewhere")).text
    assert post(send, run, profile_document(), Authorization=f"Bearer {other}").status_code == 403
    assert not Profile.objects.exists()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"parent": [5, 0]}, "parent"),
        ({"function": [0]}, "function has 1 entries"),
        ({"count": [1]}, "node, section and count"),
        ({"count": [0] * 4}, "count[0]"),
        ({"section": [9] * 4}, "section holds 9"),
        ({"node": [999] * 4}, "node holds 999"),
        ({"functions": [["a", ""], ["a", ""]]}, "function"),
        ({"functions": [["a\n", ""]]}, "functions[0]"),
        ({"functions": [["", ""]]}, "functions[0]"),
        ({"format": "svg"}, "format"),
        ({"pps": 0}, "pps"),
        ({"pps": "fast"}, "pps"),
        ({"name": ""}, "name"),
        ({"unknown": 1}, "unknown"),
    ],
)
def test_a_bad_document_is_refused_with_its_field(
    send: Send, run: str, changed: dict[str, Any], message: str
) -> None:
    response = post(send, run, profile_document() | changed)
    assert response.status_code == 422
    details = body(response)["error"]["details"]
    assert any(message in f"{one['path']} {one['message']}" for one in details), details
    assert not Profile.objects.exists()


def test_a_stack_deeper_than_the_bound_is_refused(send: Send, run: str) -> None:
    deep = ";".join(f"f{i}" for i in range(257))
    response = post(send, run, profile_document({deep: 1}))
    assert response.status_code == 422
    assert "257 frames" in response.content.decode()


def test_more_nodes_and_cpus_than_fit_in_memory_are_refused(send: Send, run: str) -> None:
    wide = profile_document({f"f{i};g": 1 for i in range(33_000)})
    response = post(send, run, wide | {"expected": [None] * 64})
    assert response.status_code == 422
    assert "66000 nodes on 64 CPUs" in response.content.decode()


def test_two_nodes_of_one_call_are_refused(send: Send, run: str) -> None:
    sent = profile_document({"a": 1})
    twice = sent | {"parent": [-1, -1], "function": [0, 0]}
    assert "same function of the same parent" in post(send, run, twice).content.decode()


SUBJECT = {"tree": "freebsd-head", "hardware": "bench/nic", "mode": "forwarding"}


def test_what_functions_cost_is_a_series(send: Send, client: Client) -> None:
    for at in range(8):
        lookup, pps = (300, 1e6) if at < 4 else (450, 1e6 / 1.15)
        document = run_document(revision=f"r{303600 + at}", samples=[pps] * 5)
        assert send(document).status_code == 201
        store(document["uuid"], boots_of(lookup=lookup + 5 * at % 7, boots=3, pps=pps))
    found = body(client.get("/api/v1/profiles/functions", SUBJECT | {"fn": "fib4_lookup@kernel"}))
    assert found["revision"] == [f"r{303600 + at}" for at in range(8)]
    (function,) = found["functions"]
    assert function["boots"] == [3] * 8
    assert [len(one) for name, one in function.items() if name.startswith("mean")] == [8] * 3
    (change,) = function["changes"]
    assert (change["revision"], change["verdict"]) == ("r303604", "dearer")
    assert change["low_percent"] < 50 < change["high_percent"]
    whole = body(client.get("/api/v1/profiles/functions", SUBJECT | {"calls": "true"}))
    names = {one["name"] for one in whole["functions"]}
    assert {"fib4_lookup", "ip_tryforward"} <= names


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"fn": [f"f{at}" for at in range(51)]}, "50 of a machine and mode"),
        ({"fn": "nothing"}, "has the function nothing"),
        ({"hardware": "other"}, "no profile of forwarding on other"),
    ],
)
def test_what_has_no_series_is_refused_with_its_reason(
    send: Send, run: str, client: Client, more: dict[str, Any], message: str
) -> None:
    post(send, run, profile_document())
    response = client.get("/api/v1/profiles/functions", SUBJECT | more)
    assert response.status_code == 422
    assert message in json.dumps(body(response))
