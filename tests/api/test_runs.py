"""POST /api/v1/runs."""

import gzip
import json
import zlib
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests.api.conftest import Send
from tests.documents import run_document
from webapp.labs import services as labs
from webapp.labs.models import Agent
from webapp.results.models import Hardware, Measurement, Mode, Point, Revision, Run, Series
from webapp.results.services import withdraw_run

pytestmark = pytest.mark.django_db


def problems(response: Any) -> dict[str, str]:
    return {one["path"]: one["message"] for one in response.json()["error"]["details"]}


def test_a_run_is_stored_with_its_point(send: Send) -> None:
    response = send(run_document())
    assert response.status_code == 201, response.content
    assert response.json()["stored"] == 1
    point = Point.objects.get()
    assert (point.n, point.boots, point.builds, point.median) == (5, 5, 1, 635734)
    assert point.mean == pytest.approx(633707.9)
    assert point.stddev == pytest.approx(6580.0951)
    assert point.position == 303643


def test_sending_a_run_twice_stores_it_once(send: Send) -> None:
    run = run_document()
    send(run)
    again = send(run)
    assert again.status_code == 200
    assert again.json() == {
        "stored": 0,
        "replaced": 0,
        "known": 1,
        "waiting": 0,
        "runs": [{"uuid": run["uuid"], "status": "known", "warnings": []}],
    }
    assert Run.objects.count() == Measurement.objects.count() == Point.objects.count() == 1


def test_a_run_repeated_inside_a_batch_is_stored_once(send: Send) -> None:
    run = run_document()
    assert send({"runs": [run, run]}).json()["stored"] == 1


def test_the_same_uuid_with_other_samples_is_refused_and_the_field_named(send: Send) -> None:
    run = run_document()
    send(run)
    response = send(run_document(uuid=run["uuid"], samples=[1.0, 2.0, 3.0]))
    assert response.status_code == 409
    assert list(problems(response)) == ["runs[0].metrics.pps.samples"]
    assert Point.objects.get().n == 5


def test_replace_lets_the_new_content_take_the_place_of_the_old(send: Send) -> None:
    run = run_document()
    send(run)
    changed = run_document(uuid=run["uuid"], samples=[1.0, 2.0, 3.0], revision="r303644")
    response = send(changed, query="?replace=true")
    assert response.status_code == 201
    assert response.json()["replaced"] == 1
    point = Point.objects.get()
    assert (point.n, point.revision.name) == (3, "r303644")


def test_a_run_taken_otherwise_than_it_was_sent_comes_with_a_warning(send: Send) -> None:
    run = run_document()
    send(run)
    withdraw_run(run=Run.objects.get(), by=None, reason="fan failed")
    other = send(run_document(uuid=run["uuid"], samples=[1.0]), query="?replace=true").json()
    assert other["runs"][0]["status"] == "replaced"
    assert "fan failed" in other["runs"][0]["warnings"][0]


def test_facts_and_warnings_may_be_put_otherwise_later(send: Send) -> None:
    run = run_document()
    send(run)
    assert send(run | {"facts": {"more": 1}, "warnings": ["new"]}).status_code == 200


def test_a_batch_with_one_bad_run_stores_nothing_and_lists_every_fault(send: Send) -> None:
    runs = [run_document() for _ in range(5)]
    runs[1]["metrics"]["pps"]["samples"] = [1, "2", True]
    runs[3]["measured_at"] = "2016-08-02T10:00:00"
    runs[4]["surplus"] = 1
    response = send({"runs": runs})
    assert response.status_code == 422
    assert set(problems(response)) == {
        "runs[1].metrics.pps.samples[1]",
        "runs[1].metrics.pps.samples[2]",
        "runs[3].measured_at",
        "runs[4].surplus",
    }
    assert not Run.objects.exists()


@pytest.mark.parametrize(
    "field",
    ["id", "pk", "withdrawn_at", "superseded_by", "lab", "agent", "agent_id", "is_history", "job"],
)
def test_no_field_of_a_run_that_is_not_described_is_set(send: Send, field: str) -> None:
    response = send(run_document() | {field: 1})
    assert response.status_code == 422
    assert set(problems(response)) == {f"runs[0].{field}"}
    assert not Run.objects.exists()


BAD_FIELDS: list[tuple[tuple[str, ...], Any]] = [
    (("uuid",), "17"),
    (("tree",), ""),
    (("tree",), "a b"),
    (("tree",), "t" * 101),
    (("revision",), "r 1"),
    (("revision",), 303643),
    (("hardware",), "two words"),
    (("hardware",), "a:b"),
    (("hardware",), "x" * 201),
    (("mode", "workload"), "with@at"),
    (("mode", "traffic"), "with+plus"),
    (("mode", "options"), "VIMAGE"),
    (("mode", "options"), [""]),
    (("metrics",), {}),
    (("metrics", "pps", "better"), "most"),
    (("metrics", "pps", "unit"), ""),
    (("metrics", "pps", "samples"), []),
    (("metrics", "pps", "samples"), [[1]]),
    (("metrics", "pps", "samples"), [None]),
    (("metrics", "pps", "samples"), [1e301]),
    (("metrics", "pps", "samples"), [1] * 10_001),
    (("metrics", "pps", "boots"), [0]),
    (("metrics", "pps", "boots"), [0, 1, 2, 3, -1]),
    (("metrics", "pps", "boots"), [0, 1, 2, 3, 1.5]),
    (("build_id",), ""),
    (("build_id",), "nul\x00"),
    (("kernel_ident",), "k" * 2001),
    (("measured_at",), 1470132000),
    (("measured_at",), "2999-01-01T00:00:00Z"),
    (("position",), -1),
    (("position",), 2**62),
    (("facts",), []),
    (("facts",), {"a": "nul\x00"}),
    (("sources",), [{"path": "x", "sha256": "short"}]),
    (("warnings",), [1]),
]


def test_a_bad_field_is_named(send: Send) -> None:
    for path, value in BAD_FIELDS:
        run = run_document()
        inner: Any = run
        for part in path[:-1]:
            inner = inner[part]
        inner[path[-1]] = value
        response = send(run)
        assert response.status_code == 422, (path, response.content)
        assert all(one.startswith("runs[0]." + ".".join(path)) for one in problems(response)), path
        assert not Run.objects.exists()


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_nan_and_infinities_never_enter(send: Send, constant: str) -> None:
    body = json.dumps(run_document(samples=[1.5, 2.5, 3.5])).replace("2.5", constant)
    response = send(body)
    assert response.status_code == 400
    assert constant.lstrip("-") in response.json()["error"]["message"]


def test_a_number_beyond_the_double_range_is_refused(send: Send) -> None:
    body = json.dumps(run_document(samples=[1.5, 2.5, 3.5])).replace("2.5", "1e999")
    assert send(body).status_code == 422


@pytest.mark.parametrize("body", ["", "{", "[]", "7", '"x"', b"\xff\xfe", "[" * 100_000])
def test_a_body_that_is_no_json_object_is_refused(send: Send, body: Any) -> None:
    response = send(body)
    assert response.status_code == (400 if body else 422)
    assert response.json()["error"]["remedy"]


def test_an_empty_batch_and_one_of_501_are_refused(send: Send) -> None:
    assert send({"runs": []}).status_code == 422
    assert send({"runs": [run_document()] * 501}).status_code == 422


def test_gzip_is_taken(send: Send) -> None:
    body = gzip.compress(json.dumps(run_document()).encode())
    assert send(body, **{"Content-Encoding": "gzip"}).status_code == 201


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (zlib.compress(b"x"), 400),
        (gzip.compress(b"{}" * 50)[:-4], 400),
        (gzip.compress(b" " * 20_000_000), 413),
    ],
    ids=["no gzip", "cut", "huge"],
)
def test_bad_and_huge_gzip_is_refused(send: Send, body: bytes, status: int) -> None:
    assert send(body, **{"Content-Encoding": "gzip"}).status_code == status


@pytest.mark.parametrize(
    "garbage", [b"\0", b"garbage", gzip.compress(b"{}", mtime=0)], ids=["NUL", "text", "gzip"]
)
def test_what_follows_the_gzip_is_refused_and_nothing_stored(send: Send, garbage: bytes) -> None:
    body = gzip.compress(json.dumps(run_document()).encode()) + garbage
    response = send(body, **{"Content-Encoding": "gzip"})
    assert response.status_code == 422
    assert f"{len(garbage)} bytes follow the end of the gzip body" in problems(response)[""]
    assert not Run.objects.exists()


@pytest.mark.parametrize(
    ("old", "new", "path"),
    [
        ('"tree":', '"tree": "other", "tree":', "runs[0].tree"),
        ('"unit":', '"unit": "Mb/s", "unit":', "runs[0].metrics.pps.unit"),
        ('{"runs":', '{"runs": [], "runs":', "runs"),
    ],
)
def test_a_key_that_is_given_twice_is_refused_with_its_path(
    send: Send, old: str, new: str, path: str
) -> None:
    body = json.dumps({"runs": [run_document()]})
    assert old in body
    response = send(body.replace(old, new))
    assert response.status_code == 422
    assert problems(response) == {path: "is given twice; send one"}
    assert not Run.objects.exists()


def test_a_body_over_the_limit_is_refused(send: Send, settings: Any) -> None:
    settings.UPLOAD_MAX_BYTES = 200
    assert send(run_document()).status_code == 413


def test_an_unknown_encoding_is_refused(send: Send) -> None:
    assert send(b"x", **{"Content-Encoding": "br"}).status_code == 400


def test_unknown_hardware_is_refused_with_the_nearest_names(send: Send, agent: Agent) -> None:
    Hardware.objects.create(name="bench/nic2", lab=agent.lab)
    response = send(run_document(), query="")
    assert response.status_code == 422
    assert "bench/nic2" in problems(response)["runs[0].hardware"]
    assert not Revision.objects.exists()


def test_register_adds_hardware(send: Send) -> None:
    assert send(run_document()).status_code == 201
    assert Hardware.objects.get().lab.name == "netlab"


def test_hardware_of_another_lab_is_forbidden(send: Send) -> None:
    other = labs.create_agent(name="x", lab_name="other")
    Hardware.objects.create(name="bench/nic", lab=other.lab)
    assert send(run_document()).status_code == 403
    assert not Run.objects.exists()


def test_modes_are_created_on_the_way_with_sorted_options(send: Send) -> None:
    mode = {"workload": "ipfw-statefull", "traffic": "inet4", "options": ["b", "a", "b"]}
    send(run_document(mode=mode))
    assert Mode.objects.get().name == "ipfw-statefull@inet4+a+b"


@pytest.mark.parametrize(
    ("revision", "position"), [("r303643", 303643), ("n302145", 1_000_302_145)]
)
def test_a_numbered_revision_is_created(send: Send, revision: str, position: int) -> None:
    send(run_document(revision=revision))
    assert Revision.objects.get().position == position


def test_a_hash_waits_for_history_or_stands_at_its_position(send: Send) -> None:
    response = send(run_document(revision="9f3ac1e02b11"))
    assert response.status_code == 201
    (warning,) = response.json()["runs"][0]["warnings"]
    assert "9f3ac1e02b11 waits for its place on freebsd-head" in warning
    assert Revision.objects.get().is_waiting
    assert not Point.objects.exists()
    assert send(run_document(revision="0123456789ab", position=17)).status_code == 201
    assert Point.objects.get().position == 17


def test_two_revisions_cannot_have_one_position(send: Send) -> None:
    send(run_document(revision="aaaaaaaa", position=17))
    response = send(run_document(revision="bbbbbbbb", position=17))
    assert response.status_code == 422
    assert "aaaaaaaa" in problems(response)["runs[0].position"]


def test_a_short_hash_finds_the_revision_with_the_long_one(send: Send) -> None:
    send(run_document(revision="9f3ac1e02b11aa", position=17))
    assert send(run_document(revision="9f3ac1e02b")).status_code == 201
    assert Revision.objects.count() == 1


def test_a_metric_keeps_its_unit(send: Send) -> None:
    send(run_document())
    run = run_document()
    run["metrics"]["pps"] |= {"unit": "Mpps", "better": "less"}
    assert set(problems(send(run))) == {"runs[0].metrics.pps.unit"}


def test_a_metric_keeps_its_direction_and_the_sender_is_warned(send: Send) -> None:
    send(run_document())
    run = run_document()
    run["metrics"]["pps"]["better"] = "less"
    response = send(run)
    assert response.status_code == 201
    assert "more is better here, not less" in response.json()["runs"][0]["warnings"][0]


def test_one_batch_that_disagrees_with_itself_about_a_metric_is_refused(send: Send) -> None:
    other = run_document()
    other["metrics"]["pps"] |= {"unit": "Mpps"}
    response = send({"runs": [run_document(), other]})
    assert list(problems(response)) == ["runs[1].metrics.pps.unit"]


def test_history_is_remembered(send: Send) -> None:
    send(run_document(), query="?register=true&history=true")
    assert Run.objects.get().history


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer dl_x_y", "Bearer nonsense", "Basic x"])
def test_a_stranger_is_refused(db: None, header: str) -> None:
    response = Client(headers={"Authorization": header}).post(
        "/api/v1/runs", run_document(), content_type="application/json"
    )
    assert response.status_code == 401
    assert "create_agent" in response.json()["error"]["remedy"]


def test_a_revoked_token_is_refused(send: Send, agent: Agent) -> None:
    labs.revoke_token(token=agent.tokens.get())
    assert send(run_document()).status_code == 401


def test_a_token_past_its_rate_is_answered_with_when_to_come_back(
    send: Send, settings: Any
) -> None:
    settings.API_REQUESTS_A_MINUTE = 2
    answers = [send(run_document()) for _ in range(4)]
    late = [one for one in answers if one.status_code == 429]
    assert late
    assert 1 <= int(late[0]["Retry-After"]) <= 60


def a_revision_of_modes(revision: str, modes: int) -> dict[str, Any]:
    return {
        "runs": [
            run_document(
                uuid=str(uuid4()),
                revision=revision,
                mode={"workload": f"mode{i}", "traffic": None, "options": []},
            )
            for i in range(modes)
        ]
    }


def test_the_number_of_statements_does_not_grow_with_the_runs(send: Send) -> None:
    send(a_revision_of_modes("r1", 20))
    counts = []
    for revision, modes in (("r2", 2), ("r3", 20)):
        with CaptureQueriesContext(connection) as captured:
            assert send(a_revision_of_modes(revision, modes)).status_code == 201
        counts.append(len(captured))
    assert counts[0] == counts[1] <= 21, counts


def test_the_first_upload_of_everything_stays_within_bounds(send: Send) -> None:
    with CaptureQueriesContext(connection) as captured:
        send(a_revision_of_modes("r1", 20))
    assert len(captured) <= 35
    assert Series.objects.count() == 20
