"""Runs with histograms: what is stored of them, what is derived, and what is refused."""

import json
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.api.conftest import Send
from tests.api.test_runs import problems
from tests.documents import run_document
from webapp.results.models import Measurement, Point, Run, RunHistograms

pytestmark = pytest.mark.django_db

VALUES = [0.0, 4.0, 5.0, 812.0]


def histogram(scale: int = 1) -> dict[str, Any]:
    """Of 20,000 values, of which eleven lie far above the others."""
    return {"values": VALUES, "counts": [9 * scale, 15_000 * scale, 4_980 * scale, 11 * scale]}


def latency(**changes: Any) -> dict[str, Any]:
    """A metric of two boots."""
    metric = {"unit": "us", "better": "less", "histograms": [histogram(), histogram(2)]}
    return metric | {"boots": [0, 1]} | changes


def document(metric: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    return run_document(metrics={"latency": metric or latency()}, **changes)


def test_a_histogram_is_stored_once_with_its_quantiles_as_series(send: Send) -> None:
    response = send(document())
    assert response.status_code == 201, response.content
    found = {
        one.series.metric.name: one for one in Measurement.objects.select_related("series__metric")
    }
    assert set(found) == {f"latency_{name}" for name in ("p50", "p90", "p99", "p99.9", "max")}
    assert found["latency_p50"].samples == [pytest.approx(4, rel=0.008)] * 2
    assert found["latency_p99.9"].samples == [pytest.approx(5, rel=0.008)] * 2
    assert found["latency_max"].samples == [812.0, 812.0]
    assert found["latency_max"].boots == [0, 1]
    metric = found["latency_p99"].series.metric
    assert (metric.unit, metric.better) == ("us", "less")
    assert Point.objects.get(series=found["latency_p99"].series).boots == 2
    stored = RunHistograms.objects.get().unpacked
    assert [one.total for one in stored.histograms] == [20_000, 40_000]
    assert (stored.boots, stored.histograms[0].largest) == ([0, 1], 812.0)


def test_the_histograms_of_one_boot_are_one_observation(send: Send) -> None:
    send(document(latency(histograms=[histogram(), histogram(), histogram()], boots=[3, 1, 3])))
    one = Measurement.objects.get(series__metric__name="latency_p50")
    assert (len(one.samples), one.boots) == (2, [1, 3])
    assert [each.total for each in RunHistograms.objects.get().unpacked.histograms] == [
        20_000,
        40_000,
    ]


def test_a_quantile_of_too_few_values_is_not_derived_and_the_reason_given(send: Send) -> None:
    few = {"values": [1.0, 2.0], "counts": [150, 50]}
    answer = send(document(latency(histograms=[histogram(), few])))
    (warning, rare) = answer.json()["runs"][0]["warnings"]
    assert warning == (
        "latency_p99 is not derived for 1 of 2 histograms: it needs 1,000 values, the smallest has "
        "200; measure longer"
    )
    assert rare.startswith("latency_p99.9 is not derived")
    assert Run.objects.get().warnings == [warning, rare]
    boots = dict(Measurement.objects.values_list("series__metric__name", "boots"))
    assert (boots["latency_p90"], boots["latency_p99"]) == ([0, 1], [0])


def test_sending_histograms_twice_stores_them_once_and_others_are_refused(send: Send) -> None:
    run = document()
    send(run)
    assert send(run).json()["known"] == 1
    # The same quantiles, one value more in the lowest bucket.
    other = histogram() | {"counts": [10, 15_000, 4_980, 11]}
    changed = document(latency(histograms=[other, histogram(2)]), uuid=run["uuid"])
    assert "runs[0].metrics.latency.histograms" in problems(send(changed))
    assert RunHistograms.objects.count() == 1
    assert send(changed, query="?replace=true").json()["replaced"] == 1
    kept = RunHistograms.objects.get(run__superseded_by=None).unpacked
    assert kept.histograms[0].counts[0] == 10
    Run.objects.exclude(superseded_by=None).delete()
    assert RunHistograms.objects.count() == 1


def test_the_statements_of_an_upload_do_not_grow_with_its_histograms(send: Send) -> None:
    def statements(runs: int) -> int:
        with CaptureQueriesContext(connection) as captured:
            assert send({"runs": [document() for _ in range(runs)]}).status_code == 201
        return len(captured)

    statements(1)
    assert statements(2) == statements(20)


BAD = [
    ({"values": [], "counts": []}, ".values", "at least 1"),
    ({"values": [1.0], "counts": [1, 2]}, ".counts", "2 counts for 1 values"),
    ({"values": [1.0], "counts": [0]}, ".counts[0]", "greater than or equal to 1"),
    ({"values": [1.0], "counts": [-3]}, ".counts[0]", "greater than or equal to 1"),
    ({"values": [1.0], "counts": [1.5]}, ".counts[0]", "integer"),
    ({"values": [1.0], "counts": [True]}, ".counts[0]", "integer"),
    ({"values": [1.0], "counts": ["7"]}, ".counts[0]", "integer"),
    ({"values": [1.0], "counts": [2**63]}, ".counts[0]", "less than or equal"),
    ({"values": [1.0, 2.0], "counts": [2**53, 1]}, ".counts", "in all"),
    ({"values": [-1.0], "counts": [1]}, ".values[0]", "greater than or equal to 0"),
    ({"values": [2.0, 1.0], "counts": [1, 1]}, ".values", "in ascending order"),
    ({"values": [1.0, 1.0], "counts": [1, 1]}, ".values", "each value once"),
    ({"values": [1e16], "counts": [1]}, ".values[0]", "less than or equal"),
    ({"values": [True], "counts": [1]}, ".values[0]", "valid number"),
    ({"values": ["1"], "counts": [1]}, ".values[0]", "valid number"),
    ({"values": [0.0, 1e-16], "counts": [1, 1]}, ".values", "choose another unit"),
    ({"values": [float(one) for one in range(10_001)], "counts": [1] * 10_001}, ".values", "10000"),
    ({"values": [1.0], "counts": [1], "sum": 3}, ".sum", ""),
]


@pytest.mark.parametrize(("bad", "path", "text"), BAD)
def test_a_bad_histogram_is_refused_with_its_field(
    send: Send, bad: dict[str, Any], path: str, text: str
) -> None:
    response = send(document(latency(histograms=[histogram(), bad])))
    assert response.status_code == 422
    found = problems(response)
    assert text in found[f"runs[0].metrics.latency.histograms[1]{path}"], found
    assert not Run.objects.exists()


@pytest.mark.parametrize(
    ("metric", "path", "text"),
    [
        (latency(samples=[1.0, 2.0]), "", "give one of the two"),
        (latency(histograms=None, boots=None), "", "give one of the two"),
        (latency(boots=[0]), ".boots", "give one a histogram"),
        (
            latency(validity=[{"sample": 0, "kind": "warm-up", "text": "x"}]),
            ".validity",
            "leave it out",
        ),
    ],
)
def test_a_metric_has_either_samples_or_histograms(
    send: Send, metric: dict[str, Any], path: str, text: str
) -> None:
    response = send(document(metric))
    assert response.status_code == 422
    assert text in problems(response)[f"runs[0].metrics.latency{path}"]


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999"])
def test_what_is_no_number_of_json_is_refused(send: Send, number: str) -> None:
    text = json.dumps(document()).replace("812.0", number)
    assert send(text.encode()).status_code in (400, 422)
    assert not Run.objects.exists()


def test_a_quantile_sent_beside_its_histograms_is_refused(send: Send) -> None:
    metrics = {"latency": latency()}
    metrics["latency_p99"] = {"unit": "us", "better": "less", "samples": [1.0]}
    response = send(run_document(metrics=metrics))
    assert "leave latency_p99 out" in problems(response)["runs[0].metrics"]
    many = {f"latency{at}": latency() for at in range(11)}
    assert "are 55, 5 of each" in problems(send(run_document(metrics=many)))["runs[0].metrics"]
