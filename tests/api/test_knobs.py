"""GET /api/v1/knobs: one curve for all modes that differ only in the value of a knob."""

from typing import Any
from urllib.parse import urlencode

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests.api.conftest import Send
from tests.documents import run_document

pytestmark = pytest.mark.django_db
KNOB = "hw.cxgbe.nXxq"


def run(value: str, *others: str, revision: str = "r303643", **fields: Any) -> dict[str, Any]:
    traffic = fields.pop("traffic", None)
    mode = {"workload": "forwarding", "traffic": traffic, "options": [f"{KNOB}={value}", *others]}
    return run_document(mode=mode, revision=revision, **fields)


def curves(**changes: str) -> dict[str, Any]:
    asked = {"tree": "freebsd-head", "hardware": "bench/nic", "metric": "pps", "knob": KNOB}
    answer = Client().get(f"/api/v1/knobs?{urlencode(asked | changes)}")
    assert answer.status_code == 200, answer.content
    found: dict[str, Any] = answer.json()
    return found


def test_the_values_of_a_knob_are_one_curve_in_the_order_of_numbers(send: Send) -> None:
    values = ["10", "9", "-1", "0.5", "auto"]
    samples = [[float(number), number + 1.0, number + 5.0] for number in range(1, 6)]
    runs = [run(value, samples=one) for value, one in zip(values, samples, strict=True)]
    assert send({"runs": runs}).status_code == 201
    found = curves()
    assert (found["revision"], found["unit"]) == ("r303643", "packets/s")
    (curve,) = found["curves"]
    assert curve["mode"] == "forwarding"
    assert [one["value"] for one in curve["points"]] == ["-1", "0.5", "9", "10", "auto"]
    assert [one["number"] for one in curve["points"]] == [-1, 0.5, 9, 10, None]
    last = curve["points"][3]
    assert last["mode"] == f"forwarding+{KNOB}=10"
    assert [last[name] for name in ("n", "median", "min", "max")] == [3, 2, 1, 6]
    assert (last["better"], last["runs_disagree"]) == ("more", False)


def test_modes_that_differ_in_more_are_curves_of_their_own(send: Send) -> None:
    runs = [run("1"), run("2"), run("1", traffic="inet6"), run("2", "VIMAGE"), run("1", "VIMAGE")]
    send({"runs": [*runs, run_document()]})
    found = {one["mode"]: len(one["points"]) for one in curves()["curves"]}
    assert found == {"forwarding": 2, "forwarding@inet6": 1, "forwarding+VIMAGE": 2}


def test_the_revision_is_the_newest_with_two_values_of_one_curve(send: Send) -> None:
    runs = [
        *(run(value, revision=at) for at in ("r1", "r2") for value in ("1", "8")),
        run("1", revision="r3"),
        run("8", "VIMAGE", revision="r3"),
        run("1", revision="r4"),
    ]
    send({"runs": runs})
    assert curves()["revision"] == "r2"
    assert [one["mode"] for one in curves()["curves"]] == ["forwarding"]
    named = curves(revision="r3")
    assert named["revision"] == "r3"
    assert [len(one["points"]) for one in named["curves"]] == [1, 1]


@pytest.mark.parametrize(
    "changes",
    [
        *({name: "none"} for name in ("tree", "hardware", "metric", "knob", "revision")),
        {"knob": "hw.cxgbe"},
        {"knob": ""},
    ],
)
def test_a_name_that_is_not_known_finds_no_curve(send: Send, changes: dict[str, str]) -> None:
    send({"runs": [run("1"), run("2")]})
    found = curves(**changes)
    assert (found["revision"], found["unit"], found["curves"]) == (None, None, [])


def test_one_value_at_each_revision_is_no_curve_unless_the_revision_is_named(send: Send) -> None:
    send({"runs": [run("1", revision="r1"), run("2", revision="r2")]})
    assert curves()["curves"] == []
    assert len(curves(revision="r1")["curves"]) == 1


def test_a_part_that_is_not_named_is_asked_for(db: None) -> None:
    answer = Client().get("/api/v1/knobs?tree=freebsd-head")
    assert answer.status_code == 422
    assert {one["path"] for one in answer.json()["error"]["details"]} >= {"knob"}


def test_the_statements_do_not_grow_with_the_values(send: Send) -> None:
    counts = []
    for first in (1, 10):
        numbers = range(first, first * 3)
        runs = [run(str(n), traffic=t) for n in numbers for t in (None, "inet6")]
        assert send({"runs": runs}).status_code == 201
        with CaptureQueriesContext(connection) as captured:
            assert curves()["curves"]
        counts.append(len(captured))
    assert counts == [4, 4]
