"""GET /api/v1/compare."""

from typing import Any
from urllib.parse import urlencode

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests.api.conftest import Send
from tests.documents import run_document

pytestmark = pytest.mark.django_db
BASE = [100.0, 101.0, 99.0, 100.5, 99.5]


def mode(workload: str, *options: str) -> dict[str, Any]:
    return {"workload": workload, "traffic": None, "options": list(options)}


@pytest.fixture
def measured(send: Send) -> None:
    runs = [
        run_document(revision=revision, mode=mode(workload), samples=[v * f for v in BASE])
        for revision, workload, f in (
            ("r1", "forwarding", 1),
            ("r2", "forwarding", 1.2),
            ("r1", "pf", 2),
            ("r2", "pf", 1.8),
            ("r2", "ipfw", 1),
        )
    ]
    runs.append(run_document(revision="r1", mode=mode("forwarding", "VIMAGE"), samples=BASE))
    assert send({"runs": runs}).status_code == 201


def compare(a: str, *b: str) -> Any:
    return Client().get("/api/v1/compare?" + urlencode([("a", a), *(("b", one) for one in b)]))


def test_two_revisions_are_compared_over_everything_both_have(measured: None) -> None:
    table = compare("freebsd-head:r1", "freebsd-head:r2").json()
    assert [row["key"] for row in table["rows"]] == [
        "bench/nic forwarding pps",
        "bench/nic pf pps",
    ]
    assert [row["verdicts"] for row in table["rows"]] == [["better"], ["worse"]]
    assert table["rows"][1]["differences"][0]["percent"] == pytest.approx(-10)
    assert table["unmatched"] == 2


def test_single_builds_of_unknown_noise_have_no_p(measured: None, send: Send) -> None:
    """That of noisy builds, which headlines use, contradicts the interval."""
    runs = [
        run_document(revision=one, build_id=one, samples=[v * factor for v in BASE])
        for one, factor in (("r3", 1.0), ("r4", 0.88))
    ]
    assert send({"runs": runs}).status_code == 201
    of_builds = compare("freebsd-head:r3", "freebsd-head:r4").json()["rows"][0]["judged"][0]
    assert (of_builds["verdict"], of_builds["one_build_a_side"]) == ("worse", True)
    assert (of_builds["high"] < 0, of_builds["p"]) == (True, None)
    of_samples = compare("freebsd-head:r1", "freebsd-head:r2").json()["rows"][0]["judged"][0]
    assert (of_samples["verdict"], of_samples["one_build_a_side"]) == ("better", False)
    assert 0 < of_samples["p"] < 0.05


def test_a_row_carries_its_ministat_block(measured: None) -> None:
    row = compare("freebsd-head:r1", "freebsd-head:r2").json()["rows"][0]
    lines = row["ministat"].splitlines()
    assert lines[:2] == ["x r1 forwarding", "+ r2 forwarding"]
    assert "Difference at 95.0% confidence" in lines


def test_two_modes_of_one_revision_differ_by_an_option(measured: None) -> None:
    table = compare("freebsd-head:r1::forwarding", "freebsd-head:r1::forwarding+VIMAGE").json()
    assert [one["verdicts"] for one in table["rows"]] == [["equivalent"]]
    assert [one["label"] for one in table["rows"][0]["sets"]] == [
        "r1 forwarding",
        "r1 forwarding+VIMAGE",
    ]


def test_seven_sets_are_compared_with_the_first(measured: None) -> None:
    side = "freebsd-head:r2::forwarding"
    row = compare("freebsd-head:r1::pf", *[side] * 6).json()["rows"][0]
    assert row["verdicts"] == ["worse"] * 6


@pytest.mark.parametrize(
    ("a", "b", "word"),
    [
        ("r1", "freebsd-head:r2", "not a side"),
        ("freebsd-head:r1", "freebsd-head:r9", "r9"),
        ("nowhere:r1", "freebsd-head:r2", "nowhere"),
        ("freebsd-head:r1:bench/nic", "freebsd-head:r2", "same parts"),
        ("freebsd-head:r1::none", "freebsd-head:r2::pf", "nothing is measured"),
        ("a:b:c:d:e:f:g", "freebsd-head:r2", "not a side"),
    ],
)
def test_a_bad_side_is_named(measured: None, a: str, b: str, word: str) -> None:
    response = compare(a, b)
    assert response.status_code == 422
    assert word in response.json()["error"]["message"]


def test_one_side_or_eight_are_refused(measured: None) -> None:
    side = "freebsd-head:r1"
    assert Client().get(f"/api/v1/compare?a={side}").status_code == 422
    assert compare(side, *[side] * 7).status_code == 422


def test_two_samples_give_no_verdict_and_no_block(send: Send) -> None:
    send({"runs": [run_document(revision=f"r{i}", samples=[1.0, 2.0]) for i in (1, 2)]})
    row = compare("freebsd-head:r1", "freebsd-head:r2").json()["rows"][0]
    assert (row["verdicts"], row["ministat"]) == (["cannot tell"], None)


def test_the_statements_do_not_grow_with_the_rows(measured: None, send: Send) -> None:
    counts = []
    for _ in range(2):
        with CaptureQueriesContext(connection) as captured:
            compare("freebsd-head:r1", "freebsd-head:r2")
        counts.append(len(captured))
        send(
            {
                "runs": [
                    run_document(revision=revision, mode=mode(f"m{i}"))
                    for i in range(8)
                    for revision in ("r1", "r2")
                ]
            }
        )
    assert counts[0] == counts[1]


def test_a_side_whose_runs_disagree_proves_nothing(measured: None, send: Send) -> None:
    odd = run_document(revision="r2", mode=mode("pf"), build_id="b", samples=[v * 3 for v in BASE])
    assert send({"runs": [odd]}).status_code == 201
    table = compare("freebsd-head:r1", "freebsd-head:r2").json()
    judged = table["rows"][1]["judged"][0]
    assert (judged["verdict"], judged["why"]) == ("cannot tell", "runs_disagree")
    assert "runs of one and the same revision differ" in judged["reason"]
    assert table["headline"]["differing"] == 1  # the other row
    assert table["rows"][0]["judged"][0]["why"] == ""
