"""What every text and time from outside keeps to, so that it can be stored and shown anywhere.

PostgreSQL holds no NUL, UTF-8 no half of a surrogate pair, a feed (XML 1.0) no other control
character, a page no time that another zone moves out of the calendar.
"""

import re
from datetime import UTC, datetime
from typing import Final

EARLIEST: Final = datetime(1970, 1, 1, tzinfo=UTC)
"""The Unix epoch: what a clock shows that was never set."""

LATEST_COMMIT: Final = datetime(2200, 1, 1, tzinfo=UTC)
"""Commits dated decades ahead exist, made by machines whose clocks were wrong."""

HARDWARE_MAX: Final = 200
SHORT_FACT: Final = 28
"""Characters of a fact that names a machine in passing; longer ones are sentences."""

INVISIBLE: Final = (
    r"\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff"
)
"""Of names, as part of a character class: controls, line ends, marks without a width, and those
that turn the direction of writing."""

HALVES: Final = r"\ud800-\udfff"
"""The same for halves of surrogate pairs. Apart, because pydantic's regular expressions know none
(and refuse them by themselves)."""

_NOT_TEXT = re.compile(rf"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff{HALVES}]")
_LINE_ENDS = re.compile(r"[\t\n\r\x7f-\x9f\u2028\u2029]")
_UNSTORABLE = re.compile(rf"[\x00{HALVES}]")


def wrong_with_name(name: str) -> str:
    """Why no page at ``name`` could be reached, with the remedy; empty: it could."""
    step = next((part for part in name.split("/") if part in (".", "..")), "")
    return f"{step!r} is what browsers take out of an address; give another name" if step else ""


def wrong_with_revision(name: str) -> str:
    """What is wrong with the name of a new revision beside its characters; empty: nothing."""
    if ".." not in name:
        return ""
    return f"{name} holds .., which stands between the ends of a range; give another name"


def wrong_with_text(text: str) -> str:
    """What ``text`` holds that cannot be stored or shown, with the remedy; empty: nothing."""
    found = _NOT_TEXT.search(text)
    return "" if found is None else _named(found)


def wrong_with_line(text: str) -> str:
    """The same for text of one line."""
    found = _NOT_TEXT.search(text) or _LINE_ENDS.search(text)
    return "" if found is None else _named(found)


def sound(text: str) -> str:
    """``text`` with a replacement character for each that cannot be stored or shown."""
    return _NOT_TEXT.sub("\N{REPLACEMENT CHARACTER}", text)


def storable(text: str) -> str:
    """``text`` with a replacement character where PostgreSQL cannot hold one of its own."""
    return _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def searchable(text: str) -> str:
    """``text`` as it is. Raises ValueError for what no stored name can hold."""
    found = _UNSTORABLE.search(text)
    if found:
        raise ValueError(_named(found))
    return text


def _named(found: re.Match[str]) -> str:
    code = ord(found[0])
    kind = "a NUL character" if code == 0 else f"the character U+{code:04X}"
    if 0xD800 <= code <= 0xDFFF:
        kind = f"half a surrogate pair (U+{code:04X})"
    return f"holds {kind} at offset {found.start()}; remove it or replace it"
