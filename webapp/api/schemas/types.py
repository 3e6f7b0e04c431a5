"""Types that several schemas share: text without what no name holds, moments, samples, facts within
bounds; and the body of a refusal.
"""

import json
import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from math import isfinite
from typing import Annotated, Any

from django.utils import timezone
from ninja import Schema
from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
)
from pydantic_core import PydanticCustomError

from webapp.results import models
from webapp.stats.metrics import LARGEST_SAMPLE, RANGE, is_sample

CLOCK_TOLERANCE = timedelta(days=1)


ISO_8601 = re.compile(
    r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:?\d\d)", re.ASCII
)

MOST_BYTES = 64 * 1024
DEEPEST = 8
LONGEST_KEY = 200
LARGEST_WHOLE = 2**63 - 1
INSIDE = "inside"
"""In the context of an error: the path of the fault within the field."""

Path = tuple[str | int, ...]


def sound(text: str) -> str:
    """``text`` as it is. Raises ValueError for what cannot be stored or shown."""
    if fault := models.wrong_with_text(text):
        raise ValueError(fault)
    return text


def reachable(name: str) -> str:
    """``name`` as it is. Raises ValueError for one at which no page could be reached."""
    if fault := models.wrong_with_name(name):
        raise ValueError(fault)
    return name


def sound_line(text: str) -> str:
    """``text`` as it is. Raises ValueError for what cannot be stored, shown, or is no one line."""
    if fault := models.wrong_with_line(text):
        raise ValueError(fault)
    return text


def within_the_calendar(moment: datetime) -> datetime:
    """``moment`` as it is. Raises ValueError before 1970 and in the future."""
    if moment < models.EARLIEST:
        raise ValueError(f"lies before {models.EARLIEST:%Y-%m-%d}; send null where it is not known")
    if moment > timezone.now() + CLOCK_TOLERANCE:
        raise ValueError("lies in the future; check the clock and the time zone")
    return moment


def text_of_a_moment(value: Any) -> Any:
    """Not what else a parser of times may take, a bare number of seconds above all."""
    if not isinstance(value, str) or not ISO_8601.fullmatch(value):
        raise ValueError("must be an ISO 8601 time with its zone, as 2016-08-02T10:00:00Z, or null")
    return value


def sample(value: Any) -> Any:
    """``value`` as it is. Raises ValueError for anything but a finite number in range."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("must be a number")  # noqa: TRY004 (pydantic reports ValueError)
    if not is_sample(value):
        raise ValueError(f"must be {RANGE}; choose another unit, or leave the sample out")
    return value


Asked = Annotated[str, AfterValidator(models.searchable)]

Moment = Annotated[
    AwareDatetime, BeforeValidator(text_of_a_moment), AfterValidator(within_the_calendar)
]


"""What a query looks for; a name that is not known finds nothing."""


_NAME = rf"^[^\s:/?#&{models.INVISIBLE}]+$"
_HARDWARE = rf"^[^\s:/?#&{models.INVISIBLE}]+(/[^\s:/?#&{models.INVISIBLE}]+)*$"
_PART = f"^{models.PART_PATTERN}$"
_REVISION = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"
_SEEN = "must not be empty, nor hold a blank, what nobody sees, or one of"
IN_WORDS = {
    _NAME: f"{_SEEN} : / ? # &",
    _HARDWARE: f"{_SEEN} : ? # &; the parts between / are not empty",
    _PART: f"{_SEEN} @ + / ? # &",
    _REVISION: "must begin with a letter or digit of ASCII, and hold only these and . _ -",
}
"""What a text must be like to fit a pattern."""

Name = Annotated[
    str, StringConstraints(pattern=_NAME, max_length=100, strict=True), AfterValidator(reachable)
]


HardwareName = Annotated[
    str,
    StringConstraints(pattern=_HARDWARE, max_length=models.HARDWARE_MAX, strict=True),
    AfterValidator(reachable),
]


ModePart = Annotated[
    str,
    StringConstraints(pattern=_PART, max_length=models.PART_MAX, strict=True),
    AfterValidator(reachable),
]


def whole_mode(text: str) -> str:
    """``text``, a mode as it is written, with its options in order."""
    return str(models.ModeName.parse(text)) if text else ""


FormerMode = Annotated[
    str,
    StringConstraints(
        pattern=f"^({models.MODE_PATTERN})?$", max_length=models.NAME_MAX, strict=True
    ),
    AfterValidator(whole_mode),
]


RevisionName = Annotated[str, StringConstraints(pattern=_REVISION, max_length=64, strict=True)]


Text = Annotated[str, Field(strict=True), AfterValidator(sound)]


Line = Annotated[str, Field(strict=True), AfterValidator(sound_line)]


"""Text without a line end."""


Sample = Annotated[
    float,
    Field(allow_inf_nan=False, ge=-LARGEST_SAMPLE, le=LARGEST_SAMPLE),
    BeforeValidator(sample),
]


Boot = Annotated[int, Field(strict=True, ge=0, le=1_000_000)]


class Strict(BaseModel):
    """Input. Not ninja's Schema: its getter for model attributes doubles the cost of a batch."""

    model_config = ConfigDict(extra="forbid")


class ProblemOut(Schema):
    """The path of a field, and what is wrong with it."""

    path: str
    message: str


class ErrorBody(Schema):
    """`code` is for programs, the sentences are for people; `details` lists the fields refused."""

    code: str
    message: str
    remedy: str
    details: list[ProblemOut] = []


class ErrorOut(Schema):
    """The body of every refusal."""

    error: ErrorBody


REFUSALS = dict.fromkeys((401, 403, 409, 413, 422, 429), ErrorOut)
"""What an endpoint that writes may answer instead."""


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
    elif fault := models.wrong_with_text(key):
        yield path, f"has a key that {fault}"


def _wrong_with(value: Any) -> str:
    if isinstance(value, str):
        return models.wrong_with_text(value)
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
