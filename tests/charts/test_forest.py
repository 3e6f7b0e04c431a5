"""Intervals of many comparisons on one scale."""

import re
from xml.etree import ElementTree

import pytest

from webapp.charts import forest


def places(image: str, name: str) -> list[float]:
    return [float(text) for text in re.findall(rf'{name}="([0-9.]+)%"', image)]


def test_zero_lies_within_and_the_margin_around_it() -> None:
    reach = forest.reach_of([(-12.8, -6.2), (-5.5, -3.5)], margin=2.0)
    assert reach.low == pytest.approx(-12.8 * 1.08)
    assert reach.high == 3.0
    assert reach.position(reach.low) == 0
    assert reach.position(reach.high) == 100


def test_noise_is_no_drama() -> None:
    assert forest.reach_of([(-0.1, 0.1)], margin=0.0) == forest.Reach(-3.0, 3.0, 0.0)
    assert forest.reach_of([], margin=2.0) == forest.Reach(-3.0, 3.0, 2.0)


def test_one_row_of_many_does_not_set_the_scale() -> None:
    intervals = [(-2.0, 4.0)] * 19 + [(150.0, 170.0)]
    assert forest.reach_of(intervals, margin=2.0).high == pytest.approx(4.0 * 1.08)


def test_what_leaves_the_scale_has_an_arrow() -> None:
    reach = forest.Reach(-10.0, 10.0, 2.0)
    image = forest.row(reach, 40.0, 30.0, 50.0, kind="better")
    assert "#fp-right" in image
    assert "#fp-left" not in image
    assert places(image, "cx") == [100.0]
    assert "#fp-left" in forest.row(reach, -4.0, -20.0, 3.0, kind="unsure")


def test_a_bar_spans_its_interval() -> None:
    image = forest.row(forest.Reach(-10.0, 10.0, 2.0), -5.0, -6.0, -4.0, kind="worse")
    assert places(image, " x") == [20.0]
    assert places(image, "width") == [10.0]
    assert 'aria-label="−5.0 [−6.0, −4.0] %"' in image


def test_without_an_interval_there_is_a_dot_alone_and_without_a_figure_nothing() -> None:
    reach = forest.Reach(-10.0, 10.0, 2.0)
    assert "<rect" not in forest.row(reach, 1.0, None, None, kind="unsure")
    assert "<circle" not in forest.row(reach, None, None, None, kind="unsure")


def test_every_image_is_well_formed_and_escapes_words() -> None:
    reach = forest.reach_of([(-12.0, 30.0)], margin=2.0)
    for image in (
        forest.definitions(reach),
        forest.axis(reach, less="worse:<slow>", more="better:&"),
        forest.row(reach, 1.0, -1e300, 1e300, kind="unsure"),
    ):
        ElementTree.fromstring(image)
