"""Variants: sides of comparisons, lists and exports."""

from typing import Any
from urllib.parse import urlencode

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests.api.conftest import Send
from tests.documents import run_document
from webapp.merging.services import refile_by_label_rules
from webapp.results.models import LabelRule

pytestmark = pytest.mark.django_db
BASE = [100.0, 101.0, 99.0, 100.5, 99.5]


def run(factor: float, *options: str, workload: str = "pf", **fields: Any) -> dict[str, Any]:
    mode = {"workload": workload, "traffic": None, "options": list(options)}
    return run_document(mode=mode, samples=[factor * v for v in BASE], **fields)


@pytest.fixture
def measured(send: Send) -> None:
    runs = [
        run(1),
        run(1, workload="ipfw"),
        run(1.2, "D12685"),
        run(1.3, "D12685", workload="ipfw"),
        run(1.1, "D12685", "yandex"),
        run(1, revision="r303644"),
    ]
    assert send({"runs": runs}).status_code == 201


def get(path: str, **query: str) -> Any:
    answer = Client().get(f"/api/v1/{path}?{urlencode(query)}")
    return answer.json() if answer["Content-Type"].startswith("application/json") else answer


def compare(a: str, *b: str) -> Any:
    return Client().get("/api/v1/compare?" + urlencode([("a", a), *(("b", one) for one in b)]))


def test_a_variant_is_compared_with_the_plain_kernel(measured: None) -> None:
    table = compare("freebsd-head:r303643", "freebsd-head:r303643~D12685").json()
    assert [row["key"] for row in table["rows"]] == ["bench/nic ipfw pps", "bench/nic pf pps"]
    assert [row["verdicts"] for row in table["rows"]] == [["better"], ["better"]]
    plain, patched = table["rows"][1]["sets"]
    assert (plain["variant"], patched["variant"]) == ("", "D12685")
    assert (plain["label"], patched["label"]) == ("r303643 pf", "r303643~D12685 pf")
    assert table["sides"] == ["freebsd-head:r303643", "freebsd-head:r303643~D12685"]


def test_two_variants_are_compared(measured: None) -> None:
    side = "freebsd-head:r303643~{}::pf".format
    row = compare(side("D12685"), side("yandex+D12685")).json()["rows"][0]
    assert row["verdicts"] == ["worse"]


def test_without_a_variant_a_side_is_the_plain_kernel(measured: None) -> None:
    table = compare("freebsd-head:r303643", "freebsd-head:r303644").json()
    assert [row["key"] for row in table["rows"]] == ["bench/nic pf pps"]
    assert [one["n"] for one in table["rows"][0]["sets"]] == [5, 5]


def test_an_address_with_the_former_name_of_the_mode_gives_the_former_block(send: Send) -> None:
    send({"runs": [run(1), run(1.2, "mylab"), run(1.1, "mylab", workload="ipfw")]})
    sides = ("freebsd-head:r303643::pf", "freebsd-head:r303643::pf+mylab")
    before = compare(*sides).json()["rows"][0]
    LabelRule.objects.create(pattern="mylab", kind="vendor")
    refile_by_label_rules()
    after = compare(*sides).json()["rows"][0]
    assert after["ministat"] == before["ministat"]
    assert "r303643 pf+mylab" in after["ministat"]
    assert [one["variant"] for one in after["sets"]] == ["", "mylab"]
    assert compare(sides[0], "freebsd-head:r303643~mylab::pf").json()["rows"]


@pytest.mark.parametrize(
    ("side", "words"),
    [
        ("freebsd-head:r303643~none", ["nothing is measured", "freebsd-head:r303643~D12685, fr"]),
        ("freebsd-head:r303644~D12685", ["nothing is measured for freebsd-head:r303644~D12685"]),
        ("freebsd-head:r303643~a~b", ["is not a side", "%7E"]),
        ("freebsd-head:r303643~", ["is not a side", "no ~ for the plain kernel"]),
        ("freebsd-head:r303643~%00", ["is not a side", "U+0000"]),
    ],
)
def test_a_variant_that_is_not_there_is_refused_with_the_remedy(
    measured: None, side: str, words: list[str]
) -> None:
    answer = compare("freebsd-head:r303643", side)
    assert answer.status_code == 422
    assert all(word in answer.json()["error"]["message"] for word in words)


def test_names_with_tildes_and_colons_are_compared(send: Send) -> None:
    named = [{"kind": "patch", "name": "fix~1:2"}]
    send({"runs": [run(1), run(1.2, variant=named)]})
    side = "freebsd-head:r303643~fix%7E1%3A2"
    table = compare("freebsd-head:r303643", side).json()
    assert table["sides"][1] == side
    assert table["rows"][0]["sets"][1]["variant"] == "fix~1:2"


def test_variants_are_listed_with_their_parts(measured: None) -> None:
    found = get("variants")["variants"]
    assert [(row["name"], row["series"]) for row in found] == [("yandex+D12685", 1), ("D12685", 2)]
    assert found[0]["parts"] == [
        {"kind": "vendor", "name": "yandex", "checksum": ""},
        {"kind": "patch", "name": "D12685", "checksum": ""},
    ]
    assert [row["name"] for row in get("variants", part="yandex")["variants"]] == ["yandex+D12685"]
    assert get("variants", tree="linux") == {"variants": [], "next": None}


def test_a_long_list_comes_in_pages(measured: None) -> None:
    first = get("variants", limit="1")
    second = get("variants", limit="1", before=str(first["next"]))
    assert [row["name"] for row in (*first["variants"], *second["variants"])] == [
        "yandex+D12685",
        "D12685",
    ]
    assert second["next"] is None


def test_series_name_their_variant_and_are_asked_for_by_it(measured: None) -> None:
    def names(**query: str) -> set[tuple[str, str]]:
        return {(row["mode"], row["variant"]) for row in get("series", **query)["series"]}

    assert names(variant="D12685") == {("pf", "D12685"), ("ipfw", "D12685")}
    assert names(variant="plain") == {("pf", ""), ("ipfw", "")}
    assert names() == names(variant="plain") | names(variant="D12685") | {("pf", "yandex+D12685")}


def test_variants_are_exported(measured: None) -> None:
    lines = get("variants.csv", part="yandex").content.decode().splitlines()
    assert lines == [
        "variant,tree,hardware,mode,metric,unit,revisions,last_position",
        "yandex+D12685,freebsd-head,bench/nic,pf,pps,packets/s,1,303643",
    ]


def test_the_statements_do_not_grow_with_variants(measured: None, send: Send) -> None:
    counts = []
    for _ in range(2):
        with CaptureQueriesContext(connection) as captured:
            get("variants")
            compare("freebsd-head:r303643", "freebsd-head:r303643~D12685")
        counts.append(len(captured))
        send({"runs": [run(1, f"D{10_000 + i}", workload=f"m{i}") for i in range(8)]})
        send({"runs": [run(1, "D12685", workload=f"m{i}") for i in range(8)]})
        send({"runs": [run(1, workload=f"m{i}") for i in range(8)]})
    assert counts[0] == counts[1]
