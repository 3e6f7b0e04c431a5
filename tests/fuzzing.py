"""How many generated cases a parser is given: 60 in `make test`, 10,000 by `make fuzz`.

What takes bytes or text from outside is tried with all kinds of it. The claim is always the same:
an answer or the error that the parser documents, never another exception.
"""

from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

IN_THE_SUITE = 60
WHOLE = "fuzz"
"""The profile of `make fuzz`; the conftest registers it."""


def cases(**more: Any) -> settings:
    """Settings of a test of a parser."""
    default = settings.get_profile(settings.get_current_profile_name())
    return settings(
        max_examples=max(IN_THE_SUITE, default.max_examples),
        deadline=None,
        suppress_health_check=list(HealthCheck),
        **more,
    )


def is_whole() -> bool:
    """Whether `make fuzz` asks."""
    return settings.get_current_profile_name() == WHOLE


def portions(*, test: int, release: int, fuzz: int) -> list[Any]:
    """Parameters: how much of a matrix `make test`, `make faults` and `make fuzz` go through."""
    if is_whole():
        return [pytest.param(fuzz, id="fuzz")]
    marks = pytest.mark.release
    return [pytest.param(test, id="test"), pytest.param(release, id="release", marks=marks)]


NASTY = (
    *("", " ", "\x00", "\ud800", "\udfff", "\ufeff", "\ufffe", "\u202e", "\u0661\u0662", "\x85"),
    *("1e999", "-1e999", "nan", "inf", "-0.0", "5e-324", "1e308", "0x1p99999", "1_000", "\uff11"),
    *("9" * 400, "9" * 5000, "1" + "0" * 30, str(2**63), str(-(2**63)), "1e-400"),
    *("0001-01-01T00:00:00Z", "9999-12-31T23:59:59-23:59", "1234567890", "2026-13-41T00:00Z"),
    *("\r\n", "\t", '"', "'", "\\", "{", "}", "[", "]", "<a href=//x>", ",", ";", ":", "/", "#"),
    *("@", "+", "*", "**", "?", "[!", "](", "%00", "..", "\u2028", "\U0001f4a5"),
)
nasty_text = st.one_of(
    st.text(st.characters(exclude_categories=[]), max_size=60),
    st.lists(
        st.one_of(st.sampled_from(NASTY), st.text("abr0123456789.-+eE:/@, \n\t#*", max_size=12)),
        max_size=12,
    ).map("".join),
)
nasty_bytes = st.one_of(
    st.binary(max_size=300), nasty_text.map(lambda text: text.encode("utf-8", "surrogatepass"))
)
