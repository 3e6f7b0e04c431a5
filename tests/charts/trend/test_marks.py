"""Each kind of finding has a mark of its own at its series, and a line in the table of marks."""

from dataclasses import replace
from typing import Any

import pytest

from tests.charts.trend.test_trend import a_finding, a_series, a_trend, lines, symbols, texts
from webapp.analysis.models import Finding
from webapp.charts.trend import Found, Trend, draw, figure, legend
from webapp.charts.trend.marks import MARKS
from webapp.charts.trend.series import Level

KINDS: dict[str, dict[str, Any]] = {
    "excursion": {},
    "slow": {},
    "noise": {"percent": None, "ratio": 2.14},
    "modes": {"percent": None, "shares": (20.0, 60.0)},
}


def a_mark(kind: str, **changes: Any) -> Found:
    return a_finding(kind=kind, **{**KINDS[kind], **changes})


def marked(kind: str, **changes: Any) -> Trend:
    return a_trend(a_series(found=[], marks=[a_mark(kind, **changes)]))


def test_every_kind_that_is_stored_is_drawn() -> None:
    assert set(MARKS) == set(Finding.Kind.values)


@pytest.mark.parametrize("kind", ["excursion", "slow", "modes"])
def test_a_symbol_has_its_reason(kind: str) -> None:
    assert "Confirmed: it fell." in draw(figure(marked(kind)), described="")


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("excursion", "−20.8\u202f%"),
        ("slow", "−20.8\u202f%"),
        ("noise", "noise\u202f×\u202f2.1"),
        ("modes", "lower mode 20 → 60\u202f%"),
    ],
)
def test_its_size_stands_beside_it_in_its_own_terms(kind: str, text: str) -> None:
    assert text in texts(marked(kind))


def test_an_excursion_is_around_its_point_and_a_slope_begins_where_it_does() -> None:
    assert symbols(marked("excursion"))[0][:2] == ("diamond-open", 2)
    (slope,) = lines(marked("slow"), 2.0)
    assert slope["x"] == [0, 2, None]
    assert symbols(marked("slow"))[0][:2] == ("triangle-down", 2)


def test_a_slope_begins_at_the_last_step_within_it() -> None:
    """Before that step the points lie elsewhere; a level that moves has the slope already."""
    step = a_finding(at=1, index=1, after=0, last=1)
    slow = a_mark("slow", before=100.0, since=80.0)
    for levels, heights in (((), [95.0, 80.0]), ((Level(0, 2, 120.0, 80.0),), [110.0, 80.0])):
        (slope,) = lines(a_trend(a_series(found=[step], marks=[slow], levels=levels)), 2.0)
        assert slope["x"] == [0.5, 2, None]
        assert slope["y"] == [*heights, None]


def test_the_size_of_a_slope_stands_in_the_part_in_view() -> None:
    whole = marked("slow")
    for trend in (whole, replace(whole, window=("r2", "r3"))):
        (size,) = (
            one for one in figure(trend)["layout"]["annotations"] if one["text"].endswith("%")
        )
        low, high = figure(trend)["layout"]["xaxis"]["range"]
        assert low < size["x"] < high


def test_the_longer_bar_stands_where_the_noise_is_larger() -> None:
    def heights(ratio: float) -> list[float]:
        (bars,) = lines(marked("noise", ratio=ratio), 1.6)
        ends = list(zip(bars["x"], bars["y"], strict=True))
        return [ends[at + 1][1] - ends[at][1] for at in (0, 9)]

    less, more = heights(2.0)
    assert less < more
    assert heights(0.5) == pytest.approx([more, less])


def test_the_full_disc_is_the_mode_that_more_runs_are_in() -> None:
    def heights(shares: tuple[float, float]) -> tuple[float, float]:
        full, empty = symbols(marked("modes", shares=shares))
        return full[2], empty[2]

    full, empty = heights((20.0, 60.0))
    assert full < empty, "lower on the page"
    full, empty = heights((60.0, 20.0))
    assert full > empty


def test_marks_are_no_changes_of_level() -> None:
    trend = marked("excursion")
    drawn = [one for one in figure(trend)["data"] if one.get("name") == "findings"]
    assert [one["marker"]["symbol"] for one in drawn] == [["diamond-open"]]
    assert trend.series[0].last_change is None


def test_in_an_indexed_chart_marks_follow_their_series() -> None:
    (made,) = a_series(marks=[a_mark("excursion")]).indexed().marks  # type: ignore[union-attr]
    assert (made.before, made.since) == (100.5, 80.0)


def test_the_table_shows_each_mark_as_it_is_drawn() -> None:
    shown = legend()
    assert len({one.name for one in shown}) == len(shown)
    assert len({one.image for one in shown}) == len(shown)
    assert all(one.meaning and one.image.startswith("<svg") for one in shown)
