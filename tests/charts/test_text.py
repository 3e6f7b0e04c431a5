"""Numbers and verdicts as people read them."""

from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webapp.charts import text
from webapp.charts.scale import TICK_ROOM, level_text, tick_texts, ticks


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (1148692.5, "1,148,692"),
        (-120.0, "−120"),
        (0.0, "0"),
        (-0.0, "0"),
        (3.14159, "3.142"),
        (999.5, "999.5"),
        (1e300, "1e+300"),
        (1e-300, "1e−300"),
        (None, "–"),
        (nan, "–"),
        (-inf, "–"),
    ],
)
def test_a_number_has_separators_and_four_digits(value: float | None, written: str) -> None:
    assert text.number(value) == written


@pytest.mark.parametrize(
    ("value", "written"),
    [(1_160_000, "1.16 M"), (-12.3, "−12.3"), (-0.0, "0.00"), (-0.004, "0.00"), (inf, "–")],
)
def test_a_short_number_has_three_digits_and_no_sign_before_nought(
    value: float, written: str
) -> None:
    assert text.short_number(value) == written


@pytest.mark.parametrize(
    ("values", "written"),
    [
        ([800_000.0, 1_000_000.0], ["800,000", "1,000,000"]),
        ([0.0, 14_000_000.0], ["0", "14,000,000"]),
        ([92e9, 94e9, 96e9], ["92 G", "94 G", "96 G"]),
        ([0.0, 500_000_000.0, 1e9], ["0", "0.5 G", "1.0 G"]),
        ([-1e9, 9.4e9, 9.45e9], ["−1.00 G", "9.40 G", "9.45 G"]),
        ([1e12, 2.5e12], ["1.0 T", "2.5 T"]),
        ([94_158_000_000.0, 94_158_200_000.0], ["94.1580 G", "94.1582 G"]),
        ([4.1e-6, 4.2e-6], ["4.1e−06", "4.2e−06"]),
        ([1e16, 2e16], ["1e+16", "2e+16"]),
        ([], []),
    ],
)
def test_the_numbers_at_ticks_are_short_where_the_margin_has_no_room(
    values: list[float], written: list[str]
) -> None:
    assert tick_texts(values) == written


@given(st.floats(1e9, 9e14), st.floats(1e-3, 0.3))
def test_numbers_at_ticks_differ_as_the_ticks_do(level: float, step: float) -> None:
    values = ticks(level, level * (1 + step))
    written = tick_texts(values)
    assert len(set(written)) == len(values)
    assert all(len(one) <= TICK_ROOM for one in written)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (1_164_684.0, "1,164,684"),
        (94_168_730_102.0, "94.17 G"),
        (-9_415_823_411.0, "−9.416 G"),
        (2e15, "2e+15"),
    ],
)
def test_a_level_beside_a_chart_fits(value: float, written: str) -> None:
    assert level_text(value) == written


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (82.509, "+82.5"),
        (-11.36, "−11.4"),
        (-0.425, "−0.42"),
        (939.6, "+940"),
        (0.0, "0.00"),
        (-0.001, "0.00"),
        (12345.6, "+12,346"),
        (None, "–"),
        (nan, "–"),
    ],
)
def test_a_change_has_its_sign_and_no_false_precision(value: float | None, written: str) -> None:
    assert text.percent(value) == written


def test_a_change_is_written_with_its_interval_where_it_is_known() -> None:
    assert text.change(-11.3619, 0.903476) == "−11.4 ± 0.90"
    assert text.change(-11.3619, None) == "−11.4"
    assert text.change(None, 1.0) == "–"


@pytest.mark.parametrize(
    ("percent", "better", "unit", "word"),
    [
        (-11.4, "more", "packets/s", "slower"),
        (+82.5, "more", "packets/s", "faster"),
        (-11.4, "less", "ms", "faster"),
        (+11.4, "less", "s", "slower"),
        (+5.0, "less", "bytes", "higher"),
        (-5.0, "more", "points", "lower"),
    ],
)
def test_a_direction_is_stated_in_the_words_of_the_metric(
    percent: float, better: str, unit: str, word: str
) -> None:
    assert text.direction(percent=percent, better=better, unit=unit) == word


def test_a_finding_is_stated_with_its_size_direction_and_interval() -> None:
    shown = text.finding_sentence(
        percent=-11.3619, low=-12.3, high=-10.5, better="more", unit="packets/s"
    )
    assert shown == "11.4 % slower [−12.3, −10.5]"


def test_a_finding_beyond_all_figures_has_words_and_no_number() -> None:
    shown = text.finding_sentence(percent=None, low=None, high=1.0, better="more", unit="s")
    assert shown == "changed beyond any percentage"


def test_an_interval_without_an_end_is_left_out() -> None:
    assert text.change_within(-11.4, -12.3, -10.5) == "−11.4 [−12.3, −10.5]"
    assert text.change_within(-11.4, None, -10.5) == "−11.4"
    assert text.change_within(None, -1.0, 1.0) == "–"


@pytest.mark.parametrize(
    ("probability", "shown"),
    [(0.995, "> 99 %"), (0.97, "97 %"), (0.004, "< 1 %"), (1.0, "> 99 %")],
)
def test_a_probability_never_claims_certainty(probability: float, shown: str) -> None:
    assert text.chance(probability) == shown


def test_a_small_share_is_given_to_two_digits_or_as_below_a_bound() -> None:
    assert text.small_share(0.0312) == "= 0.031"
    assert text.small_share(1e-12) == "< 0.0001"


@given(st.floats(allow_nan=True, allow_infinity=True))
def test_no_text_ever_shows_nan_or_infinity(value: float) -> None:
    for written in (
        text.number(value),
        text.percent(value),
        text.half_width(value),
        text.change_within(value, value, value),
    ):
        assert "nan" not in written.lower()
        assert "inf" not in written.lower()


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        ("5 revisions lie -9.0 % [-9.3, -8.8]", "5 revisions lie −9.0 % [−9.3, −8.8]"),
        ("Xeon_E5-2650/T540-CR on 2026-11-22", "Xeon_E5-2650/T540-CR on 2026-11-22"),
    ],
)
def test_a_stored_sentence_has_a_minus_sign_and_names_keep_their_hyphens(
    stored: str, shown: str
) -> None:
    assert text.with_minus(stored) == shown


edges = st.builds(
    lambda digits, power: (digits + 0.5) * 10.0**power,
    st.integers(99_999, 1_000_000),
    st.integers(-30, 30),
)
"""Halfway between two numbers of six digits, as near as a double comes."""

figures = st.none() | st.floats() | st.floats(-1e7, 1e7) | edges | st.integers(0, 2000).map(float)


@given(st.lists(figures, max_size=30))
def test_many_figures_are_rounded_as_each_alone(values: list[float | None]) -> None:
    found, each = text.all_rounded(values), [text.rounded(value) for value in values]
    assert found == each
    assert [type(one) for one in found] == [type(one) for one in each]


def test_a_level_of_0_is_0_and_one_at_the_least_of_its_unit_is_at_most_that():
    assert text.level_figure(0.0, "more", is_cost=False) == "0"
    assert text.level_figure(1.0, "less", is_cost=False, least=1.0) == "≤ 1"
    assert text.level_figure(1.5, "less", is_cost=False, least=1.0) == "1.5"


@pytest.mark.parametrize(
    ("before", "after", "pct", "least", "expected"),
    [
        (1.0, 29.95, 2895.0, 1.0, ("≤ 1", "29.95")),
        (29.95, 1.0, -96.7, 1.0, ("29.95", "≤ 1")),
        (0.019, 3.0, 15_345.0, 0.01, ("0.019", "3")),
        (1.0, 1.0, 0.0, 1.0, None),
        (20.0, 30.0, 50.0, 1.0, None),
        (1.0, 0.5, -50.0, 0.0, None),
        (100.0, 999.0, 899.0, 0.0, None),
        (100.0, 1e300, None, 0.0, None),
    ],
)
def test_what_was_nothing_or_became_many_times_as_much_is_shown_by_its_levels(
    before: float, after: float, pct: float | None, least: float, expected: tuple[str, str] | None
) -> None:
    assert text.end_levels(before, after, pct, least) == expected
