"""How a side of a comparison is written and read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webapp.analysis.queries import Side, SideError
from webapp.analysis.queries.sides import matched_mode
from webapp.results.models import ModeName

PART = st.text("ab09~:%+@/. \u00e9", max_size=6)
NAMED = PART.filter(bool)
SIDES = st.builds(Side, NAMED, NAMED, PART, PART, PART, PART, PART)


@pytest.mark.fuzz
@given(SIDES)
def test_whatever_its_names_hold_a_side_is_read_as_it_was_written(side: Side) -> None:
    assert Side.parse(str(side)) == side


@pytest.mark.fuzz
@given(st.text("ab~:%7E3A0", max_size=20))
def test_any_text_is_a_side_or_refused_with_the_remedy(text: str) -> None:
    try:
        side = Side.parse(text)
    except SideError as error:
        refusal = str(error)
    else:
        refusal = ""
        assert Side.parse(str(side)) == side
    assert refusal == "" or "is not a side: " in refusal


@pytest.mark.parametrize(
    ("text", "side"),
    [
        ("t:r1", Side("t", "r1")),
        ("t:r1~D12685", Side("t", "r1", variant="D12685")),
        ("t:r1~a%7Eb%3Ac::pf", Side("t", "r1", mode="pf", variant="a~b:c")),
        ("t:r1~yandex+D12685:h:m:x:s", Side("t", "r1", "h", "m", "x", "s", "yandex+D12685")),
        ("t:r1::a~b", Side("t", "r1", mode="a~b")),
    ],
)
def test_the_second_part_may_name_a_variant(text: str, side: Side) -> None:
    assert Side.parse(text) == side
    assert str(side) == text


@pytest.mark.parametrize("text", ["t:r1~", "t:r1~a~b", "t:~a", "t:r1~:h"])
def test_a_tilde_that_means_nothing_is_refused(text: str) -> None:
    with pytest.raises(SideError, match="is not a side"):
        Side.parse(text)


@pytest.mark.parametrize(
    ("mode", "matched"),
    [
        ("pf@inet4+x", "inet4"),
        ("pf@inet6+x", "inet6"),
        ("pf+x", "traffic not named"),
        ("pf@inet4", None),
        ("pf@inet4+x+y", None),
        ("ipfw@inet4+x", None),
    ],
)
def test_a_workload_is_matched_by_its_traffic(mode: str, matched: str | None) -> None:
    side = Side("head", "r1", mode="pf@+x")
    assert (side.mode_name, side.is_open("mode")) == ("", True)
    assert matched_mode(side, ModeName.parse(mode), ()) == matched
