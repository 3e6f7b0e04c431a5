"""`/trends/` asked for what is not there: nothing else is drawn, and the nearest are offered."""

from collections.abc import Callable

import pytest
from django.test import Client

from tests import make
from tests.pages.conftest import words
from tests.pages.trends import figure
from webapp.pages.trends import data as trend_data
from webapp.results.models import Revision

pytestmark = pytest.mark.django_db
Visit = Callable[[str], str]


@pytest.mark.parametrize(
    "query",
    [
        "tree=nope",
        "metric=nope",
        "from=r9",
        "to=r9",
        "from=2030-01-01",
        "to=2020-01-01",
        "from=2026-02-30",
    ],
)
def test_a_name_that_is_not_known_is_not_found(
    client: Client, along: list[Revision], query: str
) -> None:
    assert client.get(f"/trends/?{query}").status_code == 404
    assert client.get(f"/trends/figure.json?{query}").status_code == 404


@pytest.mark.usefixtures("along")
@pytest.mark.parametrize("query", ["x=nonsense", "last=0", "last=-3", "last=9e9", "y=", "last=٣"])
def test_a_setting_that_means_nothing_falls_back_to_the_default(visit: Visit, query: str) -> None:
    assert "What these series can prove" in visit(f"/trends/?{query}")


@pytest.mark.usefixtures("along")
def test_a_mode_that_is_not_measured_here_is_named_not_silently_dropped(visit: Visit) -> None:
    text = visit("/trends/?mode=pf&mode=nope")
    assert "No mode is called nope in pps along freebsd-head." in text
    assert text.index("called nope") < text.index("What these series can prove")


def test_of_a_machine_that_is_not_there_nothing_is_drawn_and_the_nearest_are_offered(
    client: Client,
) -> None:
    at = make.revision("r1")
    for name in ("Atom_C2758/T540", "Atom_C2558/T540", "Xeon/T580"):
        make.point(make.series(on=make.hardware(name)), at)
    page = client.get("/trends/?hardware=atom_c2757/T540&y=indexed").content.decode()
    assert "<svg" not in page.partition("<main")[2]
    assert "data-figure" not in page
    notice = page.partition('id="notice"')[2]
    assert words(notice).startswith(
        'aria-live="polite"> No hardware is called atom_c2757/T540 in pps along freebsd-head. '
        "Did you mean Atom_C2758/T540"
    )
    assert 'href="/trends/?tree=freebsd-head&amp;metric=pps&amp;hardware=Atom_C2758/T540' in notice
    assert 'id="chart"' not in page
    assert "There is, for example," in client.get("/trends/?hardware=foo").content.decode()
    found = figure(client, "hardware=foo")
    assert found["series"] == []


def test_without_a_tree_it_is_the_one_that_measures_the_machine(client: Client) -> None:
    other = make.tree("stable-12")
    make.point(make.series(on=make.hardware("Atom/T540")), make.revision("r1"))
    make.point(make.series(of=other, on=make.hardware("Xeon/T580")), make.revision("r2", of=other))
    for machine, tree in (("Atom/T540", "freebsd-head"), ("Xeon/T580", "stable-12")):
        response = client.get("/trends/", {"hardware": machine})
        assert "No hardware is called" not in response.content.decode()
        assert response.context["query"].tree == tree


def test_a_machine_that_is_there_is_drawn_beside_one_that_is_not(client: Client) -> None:
    make.point(make.series(on=make.hardware("Xeon/T580")), make.revision("r1"))
    page = client.get("/trends/?hardware=Xeon/T580&hardware=foo").content.decode()
    assert "No hardware is called <strong>foo</strong>" in page
    assert "<svg" in page.partition("<main")[2]


@pytest.mark.parametrize(
    ("query", "nearest"),
    [("tree=freebsd-haed", "/trends/?tree=freebsd-head"), ("metric=ppp", "/trends/?metric=pps")],
)
def test_a_tree_or_metric_that_is_not_there_offers_the_nearest(
    client: Client, along: list[Revision], query: str, nearest: str
) -> None:
    answer = client.get(f"/trends/?{query}")
    assert answer.status_code == 404
    assert f'href="{nearest}' in answer.content.decode()


def test_hardware_and_modes_that_never_met_give_no_series_but_a_word(visit: Visit) -> None:
    at = make.revision("r1")
    make.point(make.series(on=make.hardware("A/x"), in_mode="pf"), at)
    make.point(make.series(on=make.hardware("B/y"), in_mode="ipfw"), at)
    assert "has a point in this choice" in visit("/trends/?hardware=A/x&mode=ipfw")


def test_more_series_than_fit_are_counted(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trend_data, "MOST_SERIES", 2)
    at = make.revision("r1")
    for number in range(5):
        make.point(make.series(in_mode=f"mode-{number}"), at)
    assert "3 more series match" in visit("/trends/")


def test_on_the_time_axis_undated_commits_are_counted(visit: Visit) -> None:
    make.point(make.series(), make.revision("r1"))
    dated = make.revisions(1)[0]
    make.point(make.series(), dated)
    assert "1 of 2 revisions has no known time" in visit("/trends/?x=time")


def test_without_any_date_there_is_no_time_axis_and_the_other_is_offered(client: Client) -> None:
    make.point(make.series(), make.revision("r1"))
    page = client.get("/trends/?x=time&y=indexed").content.decode()
    assert "No time axis: none of the 1 revision shown has a known time" in " ".join(page.split())
    assert 'y=indexed">Draw them along the commits' in page
    assert "<svg" not in page.partition("<main")[2]
    assert "data-figure" not in page
