"""Relative times, against Django's own."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.contrib.humanize.templatetags.humanize import naturaltime
from hypothesis import example, given
from hypothesis import strategies as st

from webapp.pages.parts.components import relative, when

NOW = datetime(2024, 2, 29, 12, 30, 15, tzinfo=UTC)
seconds = st.integers(-63_000_000_000, 251_000_000_000)
"""To either end of the calendar."""

moments = st.builds(lambda number: NOW + timedelta(seconds=number), seconds)
near = st.builds(lambda seconds: NOW + timedelta(seconds=seconds), st.integers(-(10**8), 10**8))


def without_smaller_unit(text: str) -> str:
    largest, comma, rest = text.partition(",")
    return largest + (" ago" if rest.endswith("ago") else " from now") if comma else text


@given(moments | near)
@example(NOW)
@example(datetime(2024, 1, 31, 12, 30, 15, tzinfo=UTC))
@example(datetime(2023, 2, 28, 12, 30, 16, tzinfo=UTC))
def test_it_is_the_largest_unit_of_natural_time(moment: datetime) -> None:
    with time_machine.travel(NOW, tick=False):
        assert relative(moment, NOW) == without_smaller_unit(naturaltime(moment))


@pytest.mark.parametrize(
    ("back", "stated"),
    [
        (timedelta(), "now"),
        (timedelta(seconds=1), "a second ago"),
        (timedelta(minutes=59, seconds=59), "59\N{NO-BREAK SPACE}minutes ago"),
        (timedelta(hours=1), "an hour ago"),
        (timedelta(days=13), "1\N{NO-BREAK SPACE}week ago"),
        (timedelta(days=-2), "2\N{NO-BREAK SPACE}days from now"),
        (timedelta(days=366), "1\N{NO-BREAK SPACE}year ago"),
    ],
)
def test_what_it_states(back: timedelta, stated: str) -> None:
    assert relative(NOW - back, NOW) == stated


def test_the_exact_time_is_there_on_hover_and_unknown_is_a_dash() -> None:
    assert when(NOW, NOW) == (
        '<time datetime="2024-02-29T12:30:15+00:00" title="2024-02-29 12:30 UTC">now</time>'
    )
    assert when(None) == "\N{EN DASH}"
