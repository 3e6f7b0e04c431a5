"""GET /api/v1/sessions: what was measured together."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests.api.conftest import Send
from tests.documents import run_document

pytestmark = pytest.mark.django_db
PATH = "/api/v1/sessions"


def run(session: str, *, label: str = "fbsd12", **changes: Any) -> dict[str, Any]:
    return run_document(evidence={"label": label, "session": session}, **changes)


def listed(**query: Any) -> dict[str, Any]:
    answer = Client().get(PATH, query)
    assert answer.status_code == 200, answer.content
    found: dict[str, Any] = answer.json()
    return found


def test_a_session_has_its_runs_builds_times_and_source(send: Send) -> None:
    pf = {"workload": "pf", "traffic": None, "options": []}
    send({"runs": [
        run("spring", build_id="b", measured_at="2026-01-02T00:00:00Z"),
        run("spring", build_id="a", measured_at="2026-01-01T00:00:00Z", mode=pf),
        run("", label="fbsd12-dir"),
        run_document(),
    ]})  # fmt: skip
    named, directory = sorted(listed()["sessions"], key=lambda one: one["source"], reverse=True)
    assert (named["name"], named["source"], named["runs"]) == ("spring", "explicit", 2)
    assert (named["builds"], named["withdrawn"]) == (["a", "b"], 0)
    assert (named["first"][:10], named["last"][:10]) == ("2026-01-01", "2026-01-02")
    assert (named["tree"], named["revision"], named["hardware"]) == (
        "freebsd-head", "r303643", "bench/nic",
    )  # fmt: skip
    assert (directory["name"], directory["source"]) == ("fbsd12-dir", "directory")


def test_runs_that_wait_are_counted_apart(send: Send) -> None:
    send(run("a", measured_at=None))
    contradictory = {"label": "r1", "label_revision": "r300001", "kernel_revision": "r303643"}
    send(run_document(evidence=contradictory | {"session": "a"}))
    (one,) = listed()["sessions"]
    assert (one["runs"], one["withdrawn"]) == (1, 1)


def test_they_are_asked_for_by_tree_revision_and_hardware(send: Send) -> None:
    for number, hardware in ((303643, "one/nic"), (303643, "two/nic"), (303644, "one/nic")):
        send(run(f"{number}", revision=f"r{number}", hardware=hardware))
    assert len(listed(revision="r303643")["sessions"]) == 2
    assert len(listed(revision="r303643", hardware="one/nic")["sessions"]) == 1
    assert listed(revision="r9")["sessions"] == []
    assert listed(tree="other")["sessions"] == []
    assert listed(tree="other", revision="r303643")["sessions"] == []


def test_a_page_goes_on_where_the_one_before_ended(send: Send) -> None:
    for name in "abc":
        send(run(name))
    first = listed(limit=2)
    assert [one["name"] for one in first["sessions"]] == ["c", "b"]
    rest = listed(before=first["next"])
    assert ([one["name"] for one in rest["sessions"]], rest["next"]) == (["a"], None)


def test_they_are_exported_and_take_one_statement(send: Send) -> None:
    send(run("=1+1", build_id="a"))
    send(run("=1+1", build_id="b"))
    with CaptureQueriesContext(connection) as captured:
        text = Client().get(f"{PATH}.csv").content.decode()
    assert len(captured) == 1
    head, line = text.splitlines()
    assert head.startswith("number,name,tree,revision,hardware,source,builds,runs,withdrawn")
    assert ",'=1+1,freebsd-head,r303643,bench/nic,explicit,a; b,2,0," in line


def test_hostile_values_find_nothing(send: Send) -> None:
    send(run("a"))
    for value in ("\U0001f4a5" * 50, "a:b", "%00", "'"):
        assert listed(revision=value)["sessions"] == []
        assert listed(hardware=value)["sessions"] == []
    assert Client().get(PATH, {"tree": "\x00"}).status_code == 422
