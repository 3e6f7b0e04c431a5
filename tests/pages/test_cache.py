"""What pages keep in their process."""

from collections.abc import Sequence

import pytest

from webapp.pages.parts.cache import Cache, fingerprint


def test_a_value_is_made_once_for_its_key() -> None:
    kept: Cache[str] = Cache(most=2, seconds=60.0)
    made: list[str] = []

    def make(name: str) -> str:
        made.append(name)
        return name

    assert [kept.get(key, lambda key=key: make(key)) for key in "aab"] == ["a", "a", "b"]  # type: ignore[misc]
    assert made == ["a", "b"]


def test_the_values_used_longest_ago_go() -> None:
    kept: Cache[int] = Cache(most=2, seconds=60.0)
    for key in (1, 2, 3):
        kept.get(key, lambda: 0)
    assert kept.get(1, lambda: 7) == 7
    assert kept.get(3, lambda: 9) == 0


def test_what_is_too_old_is_made_anew() -> None:
    kept: Cache[int] = Cache(most=2, seconds=-1.0)
    kept.get("a", lambda: 1)
    assert kept.get("a", lambda: 2) == 2
    kept.clear()


def test_a_fingerprint_distinguishes_values_and_not_their_copies() -> None:
    rows = [(1, "a", 0.5, None, True, ["x"]), (2, "b", 1e300, "c", False, [])]
    copies = [(int("1"), "".join("a"), 0.25 + 0.25, None, True, list("x")), rows[1]]
    assert fingerprint(rows) == fingerprint(copies)
    others: list[object] = [rows[:1], rows[::-1], [(1.0, *rows[0][1:]), rows[1]], [[*rows[0]]]]
    assert len({fingerprint(one) for one in (rows, *others)}) == 5


def test_what_has_no_fingerprint_is_refused() -> None:
    with pytest.raises(ValueError, match="unmarshallable"):
        fingerprint([object()])


def test_of_many_values_those_that_lack_are_made_at_once() -> None:
    kept: Cache[str] = Cache(most=3, seconds=60.0)
    asked: list[list[str]] = []

    def make(names: Sequence[str]) -> dict[str, str]:
        asked.append([*names])
        return {name: name.upper() for name in names if name != "none"}

    assert kept.get_all(["a", "b"], make) == {"a": "A", "b": "B"}
    assert kept.get_all(["b", "c", "none", "a"], make) == {"a": "A", "b": "B", "c": "C"}
    assert kept.get_all(["a", "c"], make) == {"a": "A", "c": "C"}
    assert asked == [["a", "b"], ["c", "none"]]
