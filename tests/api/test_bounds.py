"""What an upload may contain: each field has its bounds, and what is within them breaks nothing."""

import json
from typing import Any

import pytest
from django.test import Client

from tests import make
from tests.api.conftest import Send
from tests.documents import run_document
from webapp.results.models import Hardware, Mode, Revision, Run, Tree

pytestmark = pytest.mark.django_db

HALF = "\ud800"
"""Half a surrogate pair: JSON can write it, and no UTF-8 can hold it."""


def problems(response: Any) -> dict[str, str]:
    return {one["path"]: one["message"] for one in response.json()["error"]["details"]}


def changed(path: tuple[str | int, ...], value: Any) -> dict[str, Any]:
    """A good run but for the field at ``path``."""
    run = run_document()
    inner: Any = run
    for part in path[:-1]:
        inner = inner[part]
    inner[path[-1]] = value
    return run


def refused(send: Send, run: Any, path: str) -> str:
    """What is answered of the one field at ``path``; nothing is stored beside it."""
    response = send({"runs": [run_document(), run]})
    assert response.status_code == 422, response.content
    assert list(problems(response)) == [f"runs[1].{path}"]
    for kept in (Run, Hardware, Mode, Tree, Revision):
        assert not kept.objects.exists()
    return problems(response)[f"runs[1].{path}"]


@pytest.mark.parametrize(
    "moment",
    [
        "0001-01-01T00:00:00Z",
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-14:00",
        "1969-12-31T23:59:59Z",
        "1234567890",
        "1e9",
        "-1",
        "2016-08-02",
        "2016-08-02 10:00",
    ],
)
def test_a_time_is_iso_8601_with_a_zone_since_1970(send: Send, moment: str) -> None:
    message = refused(send, changed(("measured_at",), moment), "measured_at")
    assert any(words in message for words in ("1970", "ISO 8601", "future"))


@pytest.mark.parametrize(
    "moment", ["1970-01-01T00:00:00Z", "2016-08-02T10:00:00.5+02:00", "2016-08-02T10:00:00Z"]
)
def test_the_page_of_a_commit_shows_a_run_with_any_time_that_is_taken(
    send: Send, client: Client, moment: str
) -> None:
    assert send(changed(("measured_at",), moment)).status_code == 201
    assert client.get("/commits/freebsd-head/r303643/").status_code == 200


@pytest.mark.parametrize("value", [1.0000001e15, -2e15, 1e300, 1e-16, -5e-324])
def test_a_sample_is_zero_or_within_the_range_whose_squares_are_safe(
    send: Send, value: float
) -> None:
    message = refused(send, run_document(samples=[1.0, value]), "metrics.pps.samples[1]")
    assert "1e+15" in message


@pytest.mark.parametrize("form", ["1e999", "-1e999", "1" * 400])
def test_a_number_beyond_a_double_is_refused_where_it_stands(send: Send, form: str) -> None:
    for key, path in (("samples", "metrics.pps.samples[0]"), ("facts", "facts.a[0].b")):
        values = {"samples": {"samples": ["NUMBER"]}, "facts": {"facts": {"a": [{"b": "NUMBER"}]}}}
        body = json.dumps(run_document(**values[key])).replace('"NUMBER"', form)
        response = send(body)
        assert response.status_code == 422, response.content
        assert list(problems(response)) == [f"runs[0].{path}"]


def test_a_number_too_long_to_read_is_a_bad_body(send: Send) -> None:
    response = send(json.dumps(run_document()).replace("635734.0", "1" * 5000))
    assert response.status_code == 400, response.content
    assert "digits" in response.json()["error"]["message"]


TEXTS: list[tuple[tuple[str | int, ...], str]] = [
    (("tree",), "tree"),
    (("revision",), "revision"),
    (("hardware",), "hardware"),
    (("mode", "workload"), "mode.workload"),
    (("mode", "traffic"), "mode.traffic"),
    (("mode", "options", 0), "mode.options[0]"),
    (("metrics", "pps", "unit"), "metrics.pps.unit"),
    (("build_id",), "build_id"),
    (("kernel_ident",), "kernel_ident"),
    (("facts", "image"), "facts.image"),
    (("sources", 0, "path"), "sources[0].path"),
    (("warnings", 0), "warnings[0]"),
]


@pytest.mark.parametrize("hostile", [f"a{HALF}b", "a\x00b", "a\x01b", "a\uffffb"], ids=ascii)
@pytest.mark.parametrize(("field", "path"), TEXTS, ids=[path for _, path in TEXTS])
def test_no_text_holds_what_a_database_or_a_feed_cannot(
    send: Send, field: tuple[str | int, ...], path: str, hostile: str
) -> None:
    run = run_document(warnings=["w"])
    run["mode"]["options"] = ["o"]
    inner: Any = run
    for part in field[:-1]:
        inner = inner[part]
    inner[field[-1]] = hostile
    assert refused(send, run, path)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        *(("tree", name) for name in (".", "..")),
        *(("hardware", name) for name in (".", "..", "lab/..", "./nic")),
        *(("mode.workload", name) for name in (".", "..")),
    ],
)
def test_no_name_is_what_browsers_take_out_of_an_address(send: Send, path: str, name: str) -> None:
    assert "give another name" in refused(send, changed(tuple(path.split(".")), name), path)


def test_names_with_dots_are_taken(send: Send) -> None:
    run = run_document(tree="...", hardware=".a/b..", mode={"workload": "..."}, revision="a.b")
    assert send(run).status_code == 201


def test_no_new_revision_is_named_like_a_range(send: Send) -> None:
    assert "between the ends of a range" in refused(
        send, changed(("revision",), "a..b"), "revision"
    )
    make.revision("a..b", position=7)
    assert send(run_document(revision="a..b")).status_code == 201


@pytest.mark.parametrize("hostile", [HALF, "\x00", "\x01"], ids=ascii)
def test_no_name_of_a_metric_or_a_fact_holds_it_either(send: Send, hostile: str) -> None:
    pps = run_document()["metrics"]["pps"]
    for run in (run_document(metrics={f"p{hostile}": pps}), run_document(facts={hostile: 1})):
        assert send(run).status_code == 422
    assert not Run.objects.exists()


def test_a_text_that_only_looks_like_an_escape_is_taken(send: Send) -> None:
    assert send(run_document(facts={"a": "\\x00 \\u0000 \\ud800"})).status_code == 201


def test_a_mode_is_bounded_as_a_whole(send: Send) -> None:
    options = [f"{letter}" * 100 for letter in "abcd"]
    message = refused(send, changed(("mode", "options"), options), "mode")
    assert "400" in message


@pytest.mark.parametrize(
    ("facts", "path"),
    [
        ({"a": [[[[[[[[[[1]]]]]]]]]]}, "facts.a"),
        ({"a": "x" * 70_000}, "facts"),
        ({"a": 2**64}, "facts.a"),
        ({"k" * 201: 1}, "facts"),
    ],
    ids=["depth", "size", "whole number", "key"],
)
def test_facts_are_bounded(send: Send, facts: dict[str, Any], path: str) -> None:
    response = send(run_document(facts=facts))
    assert response.status_code == 422, response.content
    assert all(one.startswith(f"runs[0].{path}") for one in problems(response))


def test_hardware_has_the_same_bounds(send: Send) -> None:
    for field in ({"name": f"a{HALF}"}, {"description": HALF}, {"facts": {"a": HALF}}):
        body = {"name": "bench/nic"} | field
        response = send(body, path="/api/v1/hardware", query="")
        assert response.status_code == 422, response.content


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        (
            "hardware",
            "a b",
            "must not be empty, nor hold a blank, what nobody sees, or one of : ? # &",
        ),
        ("tree", "a:b", "or one of : / ? # &"),
        ("revision", "-r1", "must begin with a letter or digit of ASCII"),
        ("mode", {"workload": "a@b", "traffic": None, "options": []}, "or one of @ + / ? # &"),
        ("metrics", {"p q": {}}, "or one of : / ? # &"),
    ],
)
def test_what_a_name_may_not_hold_is_listed_without_a_pattern(
    send: Send, field: str, value: object, message: str
) -> None:
    details = send(run_document(**{field: value})).json()["error"]["details"]
    assert message in details[0]["message"]
    assert "pattern" not in str(details)
