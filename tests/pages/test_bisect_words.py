"""What the page of a bisect states of boots, and how it names who leads."""

import re

import pytest
from django.test import Client

from tests.bisects import lab
from tests.bisects.lab import Truth
from tests.pages.conftest import words
from webapp.charts.bisect import WEAK, BisectChart, Dot, draw
from webapp.pages.bisects.bisect import leading
from webapp.pages.bisects.story import level_of, note_of

NAMES = tuple(f"r{1000 + index}" for index in range(9))


def chart(*dots: Dot, chances: tuple[float, ...] = (), after: float | None = 98.0) -> BisectChart:
    return BisectChart(NAMES, dots, chances or (0.0,) * 9, frozenset(), "pps", "more", 100.0, after)


def dot(index: int, value: float, half: float = 0.8, **more: object) -> Dot:
    described = {"source": "run", "steady": None} | more
    return Dot(f"r{1000 + index}", index, value, value - half, value + half, **described)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "half", "text"),
    [
        (100.1, 0.8, "old level"),
        (97.9, 0.8, "new level"),
        (99.3, 1.5, "between the levels, nearer the old one"),  # holds both
        (98.9, 0.5, "between the levels, nearer the new one"),  # holds neither
        (102.0, 0.5, "beyond the old level"),
        (95.0, 0.5, "beyond the new level"),
    ],
)
def test_a_boot_is_on_the_level_that_its_interval_holds(
    value: float, half: float, text: str
) -> None:
    assert level_of(dot(4, value, half), 100.0, 98.0) == text


def test_what_the_machine_moved_is_taken_off_first() -> None:
    assert level_of(dot(4, 98.0, steady=100.0), 100.0, 98.0) == "old level"


def test_one_boot_states_on_which_side_the_step_is() -> None:
    old, new = dot(3, 100.0), dot(5, 98.0)
    assert note_of([old], chart(old)) == "old level: the step is after it"
    assert note_of([new], chart(new)) == "new level: the step is at or before it"
    assert note_of([dot(0, 100.0)], chart()) == "old level, at the good end"
    assert note_of([dot(8, 100.0)], chart()) == "old level, at the bad end"


def test_several_boots_state_each_what_they_are_along_the_tree() -> None:
    both = [dot(5, 98.0), dot(3, 100.0), dot(5, 98.1)]
    assert note_of(both, chart(*both)) == "r1003: old level; r1005: new level"


def test_nothing_is_stated_without_levels_and_weak_boots_are_set_aside() -> None:
    assert note_of([dot(4, 99.0)], chart(after=None)) == ""
    assert note_of([dot(4, 99.0, source=WEAK)], chart()) == "set aside as weak"


def test_those_that_are_nearly_as_likely_lead_together() -> None:
    assert leading([0.0, 0.36, 0.35, 0.12]) == [1, 2]
    assert leading([0.05] * 20) == []
    assert leading([]) == []


def test_bars_state_what_neighbours_share() -> None:
    chances = (0.0, 0.0, 0.0, 0.36, 0.36, 0.12, 0.12, 0.0, 0.0)
    drawn = draw(chart(dot(3, 99.0), chances=chances))
    assert re.findall(r">(\d+ % each)<", drawn) == ["36 % each", "12 % each"]
    assert "next boot" not in drawn


def test_the_band_of_the_next_boot_is_named_where_the_axis_leaves_room() -> None:
    wide = BisectChart(NAMES, [], (0.0,) * 9, frozenset(), "pps", "more", next=frozenset({5}))
    assert "next boot" in draw(wide)
    beside = BisectChart(NAMES, [], (0.0,) * 9, frozenset(), "pps", "more", next=frozenset({0}))
    assert 'class="next"' in draw(beside)
    assert "next boot" not in draw(beside)


def test_levels_are_dashed_only_where_the_step_may_lie() -> None:
    settled = draw(chart(chances=(0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0)))
    assert settled.count('class="lv"') == 2
    assert "old level" in settled
    assert draw(chart()).count('class="lv"') == 0  # nobody knows where


@pytest.mark.django_db
def test_the_heading_names_who_leads_and_keeps_every_figure_below(client: Client) -> None:
    truth = Truth()
    bisect = lab.start(truth)
    lab.work(truth, bisect)
    html = client.get(f"/bisects/{bisect.pk}/").content.decode()
    heading = re.search(r"<h1>(.*?)</h1>", html)
    assert heading
    assert re.fullmatch(r"r1009 made pf (1\.9|2\.0|2\.1) % slower", words(heading[1]))
    assert "r1009 made the step (over 99 %)" in words(html)
