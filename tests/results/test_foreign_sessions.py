"""Sessions from elsewhere, from the upload to findings, pages and the API."""

import random
from typing import Any

import pytest
from django.test import Client

from tests import make
from tests.documents import run_document
from tests.results.steps import analyse, upload
from webapp.analysis.models import Finding, SeriesAnalysis
from webapp.results.models import Point, Run, Series
from webapp.results.services import withdraw_run

pytestmark = pytest.mark.django_db
LENGTH = 40


def run(at: int, session: str, factor: float = 1.0) -> dict[str, Any]:
    rng = random.Random(at)
    level = 1e6 * factor * (1 + 0.01 * rng.gauss(0, 1))
    samples = [level * (1 + 0.005 * rng.gauss(0, 1)) for _ in range(5)]
    return run_document(
        revision=f"r{1000 + at}",
        samples=samples,
        build_id=f"b{at} {session}",
        evidence={"session": session} if session else None,
    )


def year(factor: float = 1.0, length: int = LENGTH) -> list[dict[str, Any]]:
    return [run(at, "year", factor) for at in range(length)]


def stray(*places: int, session: str = "other", factor: float = 0.93) -> list[dict[str, Any]]:
    return [run(at, session, factor) for at in places]


def beside() -> list[str]:
    points = Point.objects.filter(beside__isnull=False).order_by("position")
    return [name for (name,) in points.values_list("revision__name")]


def found() -> list[str]:
    rows = Finding.objects.filter(state__in=Finding.PROVEN, kind=Finding.Kind.LEVEL)
    return [name for (name,) in rows.order_by("position").values_list("revision__name")]


def test_two_strays_at_the_end_make_no_loss() -> None:
    upload(*year(), *stray(40, 41))
    analyse()
    assert (beside(), found()) == (["r1040", "r1041"], [])
    compared = {row.revision for row in make.compared()}
    assert not {"r1040", "r1041"} & compared


def test_a_second_session_that_agrees_shows_the_loss_where_it_began() -> None:
    upload(*year(), *stray(40, 41))
    analyse()
    upload(*stray(42, 43, session="third"))
    analyse()
    assert (beside(), found()) == ([], ["r1040"])


def test_without_the_second_session_they_stand_beside_it_again() -> None:
    upload(*year(), *stray(40, 41), *stray(42, 43, session="third"))
    analyse()
    for one in Run.objects.filter(session="third"):
        withdraw_run(run=one, by=make.user(name=str(one.pk)), reason="another machine")
    analyse()
    assert (beside(), found()) == (["r1040", "r1041"], [])


def test_a_new_year_begins_a_stretch_of_its_own_and_its_own_changes_are_found() -> None:
    later = [run(at, "next", 0.93 if at < 60 else 0.8) for at in range(40, 75)]
    upload(*year(), *later)
    analyse()
    assert (beside(), found()) == ([], ["r1060"])
    assert SeriesAnalysis.objects.get().epochs == [1040]


def test_a_lab_whose_every_revision_is_a_session_finds_what_it_found() -> None:
    upload(*(run(at, f"s{at}", 0.93 if at >= 30 else 1.0) for at in range(LENGTH)))
    analyse()
    assert (beside(), found()) == ([], ["r1030"])


def test_the_api_and_the_pages_name_the_session() -> None:
    upload(*year(), *stray(40, 41))
    analyse()
    series, client = Series.objects.get(), Client()
    (*others, last) = client.get(f"/api/v1/series/{series.pk}/points").json()["foreign_session"]
    assert (last["session"], last["home"], last["counts"]) == ("other", "year", False)
    assert last["percent"] == pytest.approx(-7, abs=1.5)
    assert others[:LENGTH] == [None] * LENGTH
    commit = client.get("/commits/freebsd-head/r1041/").content.decode()
    assert "session from elsewhere" in commit
    assert "Session other stands beside the series" in commit
    chosen = {"tree": "freebsd-head", "metric": "pps", "b": f"{series.pk}@r1041"}
    assert "Hollow: measured in a session from elsewhere" in client.get("/trends/").content.decode()
    card = client.get("/trends/chosen/", chosen).content.decode()
    assert "Session other stands beside the series" in card


def test_the_picture_shows_where_a_new_session_begins() -> None:
    upload(*year(), *(run(at, "next", 0.85) for at in range(40, 60)))
    analyse()
    picture = Client().get("/trends.svg").content.decode()
    assert "new session" in picture
    chosen = {"b": f"{Series.objects.get().pk}@r1040"}
    card = Client().get("/trends/chosen/", chosen).content.decode()
    assert "Session next begins here" in card
