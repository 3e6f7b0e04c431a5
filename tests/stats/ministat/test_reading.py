from contextlib import suppress
from math import isfinite

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webapp.stats.ministat.__main__ import InvalidDataError, number, read_column


def read(text: bytes, **options) -> list[float]:
    return read_column(text.splitlines(keepends=True), name="F", **options)


@pytest.mark.parametrize(
    ("token", "value"),
    [
        (b"1", 1),
        (b"-2.5", -2.5),
        (b"+.5", 0.5),
        (b"3.", 3),
        (b"1e3", 1000),
        (b"1E-2", 0.01),
        (b"0x1F", 31),
        (b"0x1.8p1", 3),
        (b" 7", 7),
        (b"1e-400", 0),
    ],
)
def test_numbers_are_what_strtod_takes_whole(token: bytes, value: float) -> None:
    assert number(token) == value


@pytest.mark.parametrize(
    "token",
    [b"", b".", b"e5", b"1_000", b"1,5", b"12x", b"7 ", b"0x", b"--1", b"1e", "٣".encode()],
)
def test_anything_else_is_not_a_number(token: bytes) -> None:
    assert number(token) is None


@pytest.mark.parametrize("token", [b"nan", b"NaN(1)", b"inf", b"-Infinity", b"1e999", b"0x1p9999"])
def test_nan_and_infinities_are_not_numbers_here(token: bytes) -> None:
    assert number(token) is None


def test_blank_lines_comments_and_short_lines_are_ignored() -> None:
    assert read(b"# head\n1\n\n   \n2 # two\n3\n") == [1, 2, 3]
    assert read(b"a 1\nb\nc # 2\nd 3 #\n#e 4\n", column=2) == [1, 3]


def test_line_ends_of_other_systems_and_trailing_space_do_not_count() -> None:
    assert read(b"1\r\n2 \t\r\n3") == [1, 2, 3]


def test_delimiters_are_a_set_of_characters_in_runs() -> None:
    assert read(b",,1;;2\n3;4\n", column=2, delimiters=b",;") == [2, 4]
    assert read(b"1]2^3\n", column=3, delimiters=b"^]-") == [3]


def test_a_bad_line_is_named_by_its_number_and_file() -> None:
    with pytest.raises(InvalidDataError, match=r"^Invalid data on line 3 in F$"):
        read(b"1\n# x\nbad\n4\n")


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False)))
def test_printed_numbers_are_read_back_exactly(values: list[float]) -> None:
    assert read("".join(f"{value!r}\n" for value in values).encode()) == values


@given(st.binary(max_size=200), st.integers(1, 4))
def test_bytes_of_any_kind_are_read_or_refused(text: bytes, column: int) -> None:
    with suppress(InvalidDataError):
        assert all(isfinite(value) for value in read(text, column=column))
