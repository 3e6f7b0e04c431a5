"""Modes as people write them, and names that they can carry."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from labagent.errors import SettingsError
from labagent.model import MAX_NAME, Mode, safe_name

NAMES = st.text("abcXYZ019._-", min_size=1, max_size=20)


@given(NAMES, st.none() | NAMES, st.lists(NAMES))
def test_a_mode_survives_being_written_and_read(workload, traffic, options):
    mode = Mode.of(workload, traffic, options)
    assert Mode.parse(str(mode)) == mode


def test_options_are_a_sorted_set():
    assert str(Mode.of("pf", "inet4", ["b", "a", "b"])) == "pf@inet4+a+b"


@pytest.mark.parametrize("text", ["", "@inet4", "pf@", "pf+", "pf++a", "p f", "pf@a@b", "x" * 101])
def test_what_is_no_mode_is_refused_with_the_way_to_write_it(text):
    with pytest.raises(SettingsError, match="workload"):
        Mode.parse(text)


@given(st.text(min_size=1, max_size=300))
def test_any_text_becomes_a_name_that_a_mode_can_carry(text):
    name = safe_name(text)
    assert str(Mode.parse(name)) == name
    assert len(name) <= MAX_NAME


def test_characters_that_separate_stay_apart():
    assert safe_name("a+b") != safe_name("a@b") != safe_name("a-b")


def test_a_long_name_keeps_its_beginning_and_ends_in_a_digest():
    one, other = safe_name("x" * 150), safe_name("x" * 151)
    assert one != other
    assert len(one) == MAX_NAME
    assert one.startswith("xxx")
