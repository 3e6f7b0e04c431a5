"""Each kind of finding has a mark of its own at its series, and a line in the table of marks."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.charts.trend.test_trend import a_finding, a_series, a_trend, paths, texts
from webapp.analysis.models import Finding
from webapp.charts.trend import Found, Trend, columns, draw, legend
from webapp.charts.trend.marks import MARKS

SCRIPT = Path(__file__).parents[3] / "static" / "js" / "explorer" / "marks.js"
KINDS: dict[str, tuple[dict[str, Any], str]] = {
    "excursion": ({}, "finding-mark excursion worse"),
    "slow": ({}, "finding-mark slope worse"),
    "noise": ({"percent": None, "ratio": 2.14}, "finding-mark noise-bars worse"),
    "modes": ({"percent": None, "shares": (20.0, 60.0)}, "finding-mark mode-disc full worse"),
}


def a_mark(kind: str, **changes: Any) -> Found:
    return a_finding(kind=kind, **{**KINDS[kind][0], **changes})


def marked(kind: str, **changes: Any) -> Trend:
    return a_trend(a_series(found=[], marks=[a_mark(kind, **changes)]))


def test_every_kind_that_is_stored_is_drawn_here_and_by_the_script() -> None:
    table = re.search(r"export const MARKS = \{(.*?)\}", SCRIPT.read_text())
    assert table
    by_script = {one.split(":")[0].strip() for one in table[1].split(",")}
    assert set(MARKS) == by_script == set(Finding.Kind.values)


@pytest.mark.parametrize("kind", KINDS)
def test_a_finding_is_drawn_by_its_kind_and_says_why(kind: str) -> None:
    assert len(paths(marked(kind), KINDS[kind][1])) == 1
    assert "Confirmed: it fell." in draw(marked(kind))


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
    dots = paths(marked("slow"), "pt")[0].split("M")
    first, last = (dot.removesuffix("h0").split()[0] for dot in (dots[1], dots[3]))
    assert paths(marked("excursion"), "finding-mark excursion worse")[0].startswith(f"M{last} ")
    slope = paths(marked("slow"), "finding-mark slope worse")[0]
    assert slope.startswith(f"M{first} ")
    assert f"L{last} " in slope


def test_the_longer_bar_stands_where_the_noise_is_larger() -> None:
    def heights(ratio: float) -> list[float]:
        bars = paths(marked("noise", ratio=ratio), "finding-mark noise-bars worse")[0]
        return [float(one) for one in re.findall(r"v([\d.]+)", bars)]

    less, more = heights(2.0)
    assert less < more
    assert heights(0.5) == [more, less]


def test_the_full_disc_is_the_mode_that_more_runs_are_in() -> None:
    def height(css_class: str, shares: tuple[float, float]) -> float:
        disc = paths(marked("modes", shares=shares), css_class)[0]
        return float(disc.split()[1].split("a")[0])

    full, empty = "finding-mark mode-disc full worse", "finding-mark mode-disc worse"
    assert height(full, (20.0, 60.0)) > height(empty, (20.0, 60.0)), "lower on the page"
    assert height(full, (60.0, 20.0)) < height(empty, (60.0, 20.0))


def test_marks_are_no_changes_of_level() -> None:
    trend = marked("excursion")
    series = columns(trend)["series"][0]
    assert (series["found"], [one["kind"] for one in series["marks"]]) == ([], ["excursion"])
    assert trend.series[0].last_change is None


def test_in_an_indexed_chart_marks_follow_their_series() -> None:
    (made,) = a_series(marks=[a_mark("excursion")]).indexed().marks  # type: ignore[union-attr]
    assert (made.before, made.since) == (100.5, 80.0)


def test_the_table_shows_each_mark_as_it_is_drawn() -> None:
    shown = legend()
    assert len({one.name for one in shown}) == len(shown)
    for name, css_class in (("Excursion", "excursion"), ("Slow change", "slope")):
        assert any(one.name == name and css_class in one.image for one in shown)
    assert all(one.meaning and one.image.startswith("<svg") for one in shown)
