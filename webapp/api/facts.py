"""Facts: any JSON that a lab wants to keep beside a run or a machine, within bounds."""

import json
from collections.abc import Iterator
from math import isfinite
from typing import Annotated, Any

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from webapp.results.models import wrong_with_text

MOST_BYTES = 64 * 1024
DEEPEST = 8
LONGEST_KEY = 200
LARGEST_WHOLE = 2**63 - 1
INSIDE = "inside"
"""In the context of an error: the path of the fault within the field."""

Path = tuple[str | int, ...]


def check_facts(facts: dict[str, Any]) -> dict[str, Any]:
    """``facts``, or an error that names the first fault and where it is."""
    for path, fault in _faults((), facts):
        raise PydanticCustomError("bad_fact", "{fault}", {"fault": fault, INSIDE: list(path)})
    size = len(json.dumps(facts))
    if size > MOST_BYTES:
        raise PydanticCustomError(
            "facts_too_large",
            "are {size} bytes as JSON; send at most {most}",
            {"size": size, "most": MOST_BYTES},
        )
    return facts


def _faults(path: Path, value: Any) -> Iterator[tuple[Path, str]]:
    """What is wrong with ``value`` and beneath it, as it comes."""
    if len(path) > DEEPEST:
        yield path[:DEEPEST], f"is nested deeper than {DEEPEST} levels; flatten it"
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _key_faults(path, key)
            yield from _faults((*path, key), inner)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _faults((*path, index), inner)
    elif fault := _wrong_with(value):
        yield path, fault


def _key_faults(path: Path, key: str) -> Iterator[tuple[Path, str]]:
    if len(key) > LONGEST_KEY:
        yield path, f"has a key of {len(key)} characters; shorten it to {LONGEST_KEY}"
    elif fault := wrong_with_text(key):
        yield path, f"has a key that {fault}"


def _wrong_with(value: Any) -> str:
    if isinstance(value, str):
        return wrong_with_text(value)
    if isinstance(value, float) and not isfinite(value):
        return "is beyond the range of a double; leave it out, or send it as text"
    if isinstance(value, int) and abs(value) > LARGEST_WHOLE:
        return "is a whole number beyond 64 bits; send it as text"
    return ""


Facts = Annotated[
    dict[str, Any],
    Field(
        description=f"Any JSON up to {MOST_BYTES} bytes and {DEEPEST} levels; "
        f"keys up to {LONGEST_KEY} characters."
    ),
    AfterValidator(check_facts),
]
