"""`/hardware/` and the trend wall."""

from collections.abc import Callable

import pytest
from django.test import Client

from tests import make
from tests.pages.conftest import Counted
from webapp.pages import hardware

pytestmark = pytest.mark.django_db
Visit = Callable[[str], str]
WALL = "/hardware/Atom_C2758/T540-CR/"


def test_without_hardware_the_list_says_how_to_add_some(visit: Visit) -> None:
    assert "labagent hardware add" in visit("/hardware/")


def test_the_list_names_lab_and_number_of_series(visit: Visit) -> None:
    make.series(in_mode="pf")
    make.series(in_mode="ipfw")
    assert "Atom_C2758/T540-CR orange-lab 2" in visit("/hardware/")


def test_hardware_is_found_by_a_name_with_a_slash(visit: Visit) -> None:
    make.hardware()
    assert "Nothing is measured on it yet" in visit(WALL)


def test_unknown_hardware_is_not_found(client: Client) -> None:
    assert client.get("/hardware/Nope/em0/").status_code == 404


def test_the_wall_has_a_chart_for_each_mode_with_its_flags_counted(client: Client) -> None:
    along = make.revisions(3)
    make.history(make.series(in_mode="pf"), along, [100, 90, 90])
    make.history(make.series(in_mode="ipfw"), along, [100, 100, 100])
    page = client.get(WALL).content.decode()
    assert page.count("<svg") == 2
    assert page.count('class="regressed candidate"') == 1


def test_a_tile_has_its_levels_its_confirmed_changes_and_what_it_could_prove(
    client: Client,
) -> None:
    along = make.revisions(3)
    series = make.series(in_mode="pf")
    make.history(series, along, [100, 90, 90])
    make.finding(series, along[0], along[1])
    make.analysis(
        series,
        count=5,
        segments=[make.segment(along[1], along[2], 90.0)],
        noise=make.noise(run_pct=0.8, build_pct=2.4),
        smallest={"pct": 5.2, "later_pct": 3.0, "more_runs_pct": 5.0, "helps": "revisions"},
    )
    page = client.get(WALL).content.decode()
    assert page.count('class="level"') == 1
    assert page.count('class="regressed"') == 1
    assert "noise: run 0.80 %, build 2.4 %; smallest provable change: 5.2 %" in " ".join(
        page.split()
    )


def test_what_is_not_known_of_a_series_is_called_so(visit: Visit) -> None:
    make.history(make.series(), make.revisions(2), [100, 100])
    assert "noise: run not known, build not known; smallest provable change: not known" in visit(
        WALL
    )


def test_the_wall_shows_the_last_revisions_only(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hardware, "REVISIONS_SHOWN", 4)
    make.history(make.series(), make.revisions(10), [100.0] * 10)
    assert "Mean at each of the 4 revisions shown" in visit(WALL)


def test_a_series_whose_runs_are_all_withdrawn_is_not_on_the_wall(visit: Visit) -> None:
    make.series(in_mode="pf")
    assert "Nothing is measured on it yet" in visit(WALL)


def test_the_number_of_queries_does_not_grow_with_series(queries: Counted) -> None:
    along = make.revisions(3)
    make.history(make.series(in_mode="pf"), along, [100, 90, 90])
    few, few_listed = queries(WALL), queries("/hardware/")
    for number in range(5):
        make.history(make.series(in_mode=f"mode-{number}"), along, [100, 90, 90])
        make.hardware(f"Machine-{number}/em0")
    assert queries(WALL) == few <= 10  # one each for its events and its canaries
    assert queries("/hardware/") == few_listed <= 3
