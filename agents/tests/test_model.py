"""Modes as people write them, and names that they can carry."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from labagent.errors import SettingsError
from labagent.model import MAX_NAME, Mode, safe_name

NAMES = st.text("abcXYZ019._-", min_size=1, max_size=20)
KNOBS = st.builds("{}={}".format, NAMES, NAMES)


@given(NAMES, st.none() | NAMES, st.lists(NAMES | KNOBS))
def test_a_mode_survives_being_written_and_read(workload, traffic, options):
    mode = Mode.of(workload, traffic, options)
    assert Mode.parse(str(mode)) == mode


def test_options_are_a_sorted_set():
    assert str(Mode.of("pf", "inet4", ["b", "a", "b"])) == "pf@inet4+a+b"


@pytest.mark.parametrize(
    "text",
    [
        *("", "@inet4", "pf@", "pf+", "pf++a", "p f", "pf@a@b", "x" * 101),
        *("pf=1", "pf@inet=4", "pf+=1", "pf+a=", "pf+=", "pf+a=1=2", f"pf+{'x' * 99}=1"),
    ],
)
def test_what_is_no_mode_is_refused_with_the_way_to_write_it(text):
    with pytest.raises(SettingsError, match="workload"):
        Mode.parse(text)


@given(st.text(min_size=1, max_size=300))
def test_any_text_becomes_a_name_that_a_mode_can_carry(text):
    name = safe_name(text)
    assert str(Mode.parse(name)) == name
    assert len(name) <= MAX_NAME


@given(st.text(min_size=1, max_size=300) | KNOBS)
def test_any_text_becomes_an_option(text):
    mode = Mode.of("pf", None, [text])
    assert Mode.parse(str(mode)) == mode
    assert len(mode.options[0]) <= MAX_NAME


def test_a_knob_keeps_its_value_apart_and_nothing_else_does():
    assert str(Mode.of("a=b", "c=d", ["hw.x=5", "=5", "x=", "a=b=c"])) == (
        "a_3db@c_3dd+_3d5+a_3db_3dc+hw.x=5+x_3d"
    )


def test_characters_that_separate_stay_apart():
    assert safe_name("a+b") != safe_name("a@b") != safe_name("a-b")


def test_a_long_name_keeps_its_beginning_and_ends_in_a_digest():
    one, other = safe_name("x" * 150), safe_name("x" * 151)
    assert one != other
    assert len(one) == MAX_NAME
    assert one.startswith("xxx")
