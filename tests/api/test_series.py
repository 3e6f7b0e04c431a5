"""GET /api/v1/series and the points of one."""

import csv
import io
import json

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests.api.conftest import Send
from tests.documents import run_document
from webapp.alerts.services import analyse_dirty_series
from webapp.results.models import Revision, Series

pytestmark = pytest.mark.django_db


@pytest.fixture
def series(send: Send) -> Series:
    """One series of three revisions, the second a loss of 10 %, analysed."""
    base = [100.0, 101.0, 99.0, 100.5, 99.5]
    runs = [
        run_document(revision=f"r{i}", samples=[value * factor for value in base])
        for i, factor in ((1, 1.0), (2, 0.9), (3, 0.9))
    ]
    assert send({"runs": runs}).status_code == 201
    analyse_dirty_series()
    return Series.objects.get()


def test_series_are_found_by_their_parts(series: Series) -> None:
    found = Client().get("/api/v1/series?tree=freebsd-head&mode=forwarding").json()["series"]
    assert [one["id"] for one in found] == [series.pk]
    assert found[0]["unit"] == "packets/s"
    assert Client().get("/api/v1/series?hardware=none").json() == {"series": []}


def test_points_are_columns_in_order(series: Series) -> None:
    points = Client().get(f"/api/v1/series/{series.pk}/points").json()
    assert points["revision"] == ["r1", "r2", "r3"]
    assert points["median"] == [100, 90, 90]
    assert points["flag"] == [None, None, None]  # the detector finds nothing in three revisions
    assert points["units"] == points["boots"]
    assert points["verdict"] == [None, "worse", "cannot tell"]
    assert points["change_percent"][1] == pytest.approx(-10)
    columns = {
        name: points[name]
        for name in points
        if name not in {"findings", "other_findings", "levels"}
    }
    assert {len(column) for column in columns.values() if isinstance(column, list)} == {3}


def test_points_as_csv(series: Series) -> None:
    response = Client().get(f"/api/v1/series/{series.pk}/points.csv")
    assert response["Content-Type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(response.content.decode())))
    assert [row["revision"] for row in rows] == ["r1", "r2", "r3"]
    assert (rows[1]["verdict"], rows[1]["flag"]) == ("worse", "")  # ministat's word flags nothing
    assert (rows[1]["unit_of_noise"], rows[1]["units"]) == ("boot", rows[1]["boots"])
    assert rows[0]["verdict"] == ""


@pytest.mark.parametrize("first", ["=", "+", "-", "@", "\t", "\r"])
def test_no_name_is_a_formula_to_a_spreadsheet_and_numbers_stay_numbers(
    series: Series, first: str
) -> None:
    name = f'{first}HYPERLINK("http://e/")'
    Revision.objects.filter(name="r2").update(name=name)
    text = Client().get(f"/api/v1/series/{series.pk}/points.csv").content.decode()
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [row["revision"] for row in rows] == ["r1", f"'{name}", "r3"]
    assert float(rows[1]["change_percent"]) == pytest.approx(-10)


@pytest.mark.parametrize("suffix", ["", ".csv"])
def test_the_etag_saves_sending_the_same_again(series: Series, send: Send, suffix: str) -> None:
    path = f"/api/v1/series/{series.pk}/points{suffix}"
    etag = Client().get(path)["ETag"]
    assert Client().get(path, headers={"If-None-Match": etag}).status_code == 304
    send(run_document(revision="r4"))
    assert Client().get(path, headers={"If-None-Match": etag}).status_code == 200
    analyse_dirty_series()
    assert Client().get(path)["ETag"] != etag


def test_one_sample_has_no_deviation_and_json_no_nan(send: Send) -> None:
    send(run_document(samples=[5.0]))
    response = Client().get(f"/api/v1/series/{Series.objects.get().pk}/points")
    assert response.json()["sd"] == [None]
    json.loads(response.content, parse_constant=pytest.fail)


@pytest.mark.parametrize("series_id", ["0", "99999999999999999999999"])
def test_an_unknown_series_is_not_found(db: None, series_id: str) -> None:
    response = Client().get(f"/api/v1/series/{series_id}/points")
    assert response.status_code == 404
    assert response.json()["error"]["code"] == "not_found"


def test_the_statements_do_not_grow_with_the_points(series: Series, send: Send) -> None:
    counts = []
    for _ in range(2):
        with CaptureQueriesContext(connection) as captured:
            Client().get(f"/api/v1/series/{series.pk}/points")
        counts.append(len(captured))
        send({"runs": [run_document(revision=f"r{i}") for i in range(10, 20)]})
    assert counts == [5, 5]


def test_points_whose_runs_disagree_name_them(series: Series, send: Send) -> None:
    odd = run_document(revision="r2", build_id="b", samples=[300.0, 301, 299, 300.5, 299.5])
    assert send({"runs": [odd]}).status_code == 201
    points = Client().get(f"/api/v1/series/{series.pk}/points").json()
    assert points["runs_disagree"] == [False, True, False]
    first, found, _ = points["disagreement"]
    assert first is None
    assert {run["uuid"] for run in found["runs"]} >= {odd["uuid"], found["first"]}
    assert found["chance"] <= found["limit"]
    assert max(run["mean"] for run in found["runs"]) == 300
    text = Client().get(f"/api/v1/series/{series.pk}/points.csv").content.decode()
    assert [row["runs_disagree"] for row in csv.DictReader(io.StringIO(text))][1] == "True"
