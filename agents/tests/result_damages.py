"""Damage to files of results, besides that of `mutations.KINDS`: what no tool prints, and what is
lost or stands twice within a line or a JSON document. None of it makes a true output of another
measurement, so a reader has to refuse it, to warn, or to read the same numbers."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from typing import Any

from agents.tests.mutations import KINDS, Damage

NO_NUMBERS = (b"nan", b"-inf", b"1e999", b"9" * 400, b"0x10", b"1_0", b"", b"\xd9\xa1", b"null")
_NUMBER = re.compile(rb"(?<![\w.])-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w.])")
_TOKEN = re.compile(rb"\S+")
MOST_NUMBERS = 50_000
"""Bytes; no number is looked for in longer files, which earlier damage made so."""


def _replaced(rng: random.Random, data: bytes, pattern: re.Pattern[bytes], new: Any) -> bytes:
    found = list(pattern.finditer(data)) if len(data) < MOST_NUMBERS else []
    if not found:
        return data
    match = rng.choice(found)
    return data[: match.start()] + new(match[0]) + data[match.end() :]


def _no_number(rng: random.Random, data: bytes, _other: bytes) -> bytes:
    text = rng.choice(NO_NUMBERS)
    return _replaced(rng, data, _NUMBER, lambda _: text)


def _token_lost(rng: random.Random, data: bytes, _other: bytes) -> bytes:
    return _replaced(rng, data, _TOKEN, lambda _: b"")


def _token_doubled(rng: random.Random, data: bytes, _other: bytes) -> bytes:
    return _replaced(rng, data, _TOKEN, lambda old: old + b" " + old)


def _lines_apart(rng: random.Random, data: bytes, _other: bytes) -> bytes:
    """Two lines, anywhere, in each other's place."""
    lines = data.splitlines(keepends=True)
    if lines:
        a, b = (rng.randrange(len(lines)) for _ in range(2))
        lines[a], lines[b] = lines[b], lines[a]
    return b"".join(lines)


def _member(change: Any) -> Damage:
    """A member or an element of a JSON document, changed in its container."""

    def damage(rng: random.Random, data: bytes, _other: bytes) -> bytes:
        try:
            document = json.loads(data)
        except (ValueError, RecursionError):
            return data
        if places := list(_places(document)):
            change(rng, *rng.choice(places))
        return json.dumps(document).encode() + b"\n"

    return damage


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """(container, key) of everything below."""
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from _places(value[key])


def _lose(_rng: random.Random, container: Any, key: Any) -> None:
    del container[key]


def _spoil(rng: random.Random, container: Any, key: Any) -> None:
    container[key] = rng.choice([None, True, {}, [], "x", [container[key]], {"x": 1}])


RESULT_KINDS: dict[str, Damage] = {
    **{name: damage for name, damage in KINDS.items() if name != "sum off"},
    "no number": _no_number,
    "token lost": _token_lost,
    "token doubled": _token_doubled,
    "member lost": _member(_lose),
    "member spoiled": _member(_spoil),
}
"""Without the kind that takes seconds on a line of 200,000 digits."""
