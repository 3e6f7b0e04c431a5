"""What points keep of their samples, as bytes and back."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webapp.stats.compare import own_units, pack_summary, pool, summarize, unpack_summary

IDENTITY = "0123456789abcdef"
FEW = 80
values = st.floats(allow_nan=False, allow_infinity=False) | st.integers(0, 2**40).map(float)


@st.composite
def runs(draw: st.DrawFn) -> tuple[list[float], list[int] | None, str]:
    samples = draw(st.lists(values, min_size=1, max_size=6))
    boots = st.lists(st.integers(0, 3), min_size=len(samples), max_size=len(samples))
    return samples, draw(st.none() | boots), draw(st.sampled_from("pqr"))


def stored(*measured: tuple[list[float], list[int] | None, str]) -> dict[str, Any]:
    """The levels of runs, as JSON of the database gives them."""
    levels = summarize(pool(measured)).to_data() | {"identity": IDENTITY}
    text = json.dumps(levels).replace("-0.0,", "0.0,")  # PostgreSQL knows no negative zero
    found: dict[str, Any] = json.loads(text)
    return found


def units_of(*packed: bytes) -> list[tuple[float, ...]]:
    """Mean, standard deviation, share, degrees of freedom and exponent of each."""
    return list(zip(*own_units(packed), strict=True))


@given(st.lists(st.lists(runs(), min_size=1, max_size=5), max_size=6))
def test_many_units_are_those_of_each(
    points: list[list[tuple[list[float], list[int] | None, str]]],
) -> None:
    packed = [pack_summary({}), *(pack_summary(stored(*each)) for each in points)]
    assert units_of(*packed) == [units_of(one)[0] for one in packed]


@given(st.lists(runs(), min_size=1, max_size=5))
def test_packed_levels_are_the_levels_to_the_last_bit(
    measured: list[tuple[list[float], list[int] | None, str]],
) -> None:
    levels = stored(*measured)
    packed = pack_summary(levels)
    assert json.dumps(unpack_summary(packed), sort_keys=True) == json.dumps(levels, sort_keys=True)
    linear = levels["linear"]
    unit = next(linear[level] for level in ("build", "boot", "run") if level in linear)
    assert units_of(packed) == [(*unit[:4], levels["exponent"])]


def test_a_build_of_five_boots_takes_few_bytes() -> None:
    levels = stored(([500_123.5, 499_876.1, 501_000.2, 500_420.7, 498_900.3], [0, 1, 2, 3, 4], "p"))
    assert len(pack_summary(levels)) < FEW
    assert len(pack_summary(stored(([5.0] * 300, list(range(300)), "p")))) < FEW


@pytest.mark.parametrize("change", [{"total": None}, {"share": 0.125}, {"identity": "unknown"}])
def test_levels_of_another_form_are_packed_too(change: dict[str, Any]) -> None:
    """Stored by a version that knew no totals, or reckoned shares otherwise, or by nothing."""
    levels = stored(([1.5, 2.5, 4.0], None, "p"))
    if "share" in change:
        levels["linear"]["run"][2] = change["share"]
    elif change == {"total": None}:
        del levels["total"]
    else:
        levels |= change
    assert unpack_summary(pack_summary(levels)) == levels
    unit = levels["linear"]["run"]
    assert units_of(pack_summary(levels)) == [(*unit[:4], levels["exponent"])]
    assert unpack_summary(pack_summary({})) == {}
    assert units_of(pack_summary({})) == [(0, 0, 0, 0, 0)]
