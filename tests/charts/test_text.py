"""Numbers and verdicts as people read them."""

from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webapp.charts import text


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (1148692.5, "1,148,692"),
        (-120.0, "−120"),
        (0.0, "0"),
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
def test_a_direction_is_said_in_the_words_of_the_metric(
    percent: float, better: str, unit: str, word: str
) -> None:
    assert text.direction(percent=percent, better=better, unit=unit) == word


def test_an_uncertain_verdict_is_never_said_as_a_change() -> None:
    said = text.verdict_sentence(
        "cannot tell", percent=-9.0, error=12.0, better="more", unit="packets/s"
    )
    assert said == "cannot tell"


def test_a_proven_verdict_says_how_much_and_how_sure() -> None:
    said = text.verdict_sentence(
        "worse", percent=-11.3619, error=0.903476, better="more", unit="packets/s"
    )
    assert said == "11.4 % slower (± 0.90)"


@given(st.floats(allow_nan=True, allow_infinity=True))
def test_no_text_ever_shows_nan_or_infinity(value: float) -> None:
    for written in (text.number(value), text.percent(value), text.half_width(value)):
        assert "nan" not in written.lower()
        assert "inf" not in written.lower()
