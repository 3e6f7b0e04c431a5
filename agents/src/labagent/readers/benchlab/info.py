"""The `.info` file beside the logs: what the lab noted about a run.

Since May 2016 it can be read by a shell (`IMAGE="" CFG="" PKTGEN="" UNAME="…"`); before, it had
`Image:`, `CFG:`, a bare `uname -a` line and the time it started.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

_ASSIGNMENT = re.compile(r'(\w{1,40})="')
_CLOSING = re.compile(r'"(?: \([^"]*\))?\s*\Z')
"""Behind the value the script may say where it is from: `DURING_CMD="…" (self-triggered on …)`."""

_NEW_FIELDS = ("IMAGE", "CFG", "PKTGEN", "UNAME")
_OLD_FIELDS = ("Image", "CFG", "Start time", "End time")
_UNAME = re.compile(r"(?:FreeBSD|[A-Z][A-Za-z]{0,20}BSD|Linux|DragonFly) .")
_IMAGE_NAME = re.compile(r"[A-Za-z]{1,40}-(.{1,200}?)-(?:upgrade|full|amd64|i386)")

MAX_LINE = 1024
"""Characters of a line that are read; real ones have up to 250."""


@dataclass(frozen=True)
class Info:
    """`old` tells the two notations apart: an old one names its image by a path, so `image` is
    what that path suggests, while a new one states it. `doubts` say what shows that the file is not
    as the lab's script wrote it."""

    image: str = ""
    cfg: str = ""
    pktgen: str = ""
    uname: str = ""
    started: str = ""
    old: bool = False
    doubts: tuple[str, ...] = ()


def parse_info(text: str) -> Info:
    """The fields of an `.info` file; those it lacks are empty."""
    lines = [line[:MAX_LINE] for line in text.split("\n")]
    fields = dict(_assignments(lines))
    if not fields:
        return _parse_old(text, lines)
    uname = fields.get("UNAME", "").strip()
    return Info(
        image=fields.get("IMAGE", ""),
        cfg=fields.get("CFG", ""),
        pktgen=fields.get("PKTGEN", ""),
        uname=uname,
        doubts=tuple(f".info: {doubt}" for doubt in (*_new_doubts(lines), *_doubts(text, uname))),
    )


def _assignments(lines: list[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        if match := _ASSIGNMENT.match(line):
            yield match.group(1), _CLOSING.sub("", line[match.end() :].rstrip())


def _parse_old(text: str, lines: list[str]) -> Info:
    parts = [line.partition(":") for line in lines]
    fields = {name: value.strip() for name, colon, value in parts if colon and name in _OLD_FIELDS}
    uname = next((line.strip() for line in lines if _UNAME.match(line)), "")
    lacking = [f"no {name}" for name in ("Image", "CFG") if name not in fields]
    cut = (
        []
        if not text or text.endswith("\n")
        else [f"line {len(lines)} is cut: no newline at the end"]
    )
    doubts = (*lacking, *cut, *_twice([part[0] for part in parts], _OLD_FIELDS))
    return Info(
        image=_image_of_path(fields.get("Image", "")),
        cfg=PurePosixPath(fields.get("CFG", "")).name,
        uname=uname,
        started=fields.get("Start time", ""),
        old=True,
        doubts=tuple(f".info: {doubt}" for doubt in (*doubts, *_doubts(text, uname))),
    )


def _new_doubts(lines: list[str]) -> Iterator[str]:
    """Four lines or more, each of them `NAME="value"`."""
    names = []
    for number, line in enumerate(lines, 1):
        if match := _ASSIGNMENT.match(line):
            names.append(match.group(1))
            if not _CLOSING.search(line, match.end()):
                yield f"line {number} is cut: no closing quote"
        elif line.strip():
            yield f'line {number} is no NAME="value"'
    yield from (f"no {name}" for name in _NEW_FIELDS if name not in names)
    yield from _twice(names, _NEW_FIELDS)


def _twice(names: list[str], known: tuple[str, ...]) -> Iterator[str]:
    yield from (f"{name} is given twice" for name in known if names.count(name) > 1)


def _doubts(text: str, uname: str) -> Iterator[str]:
    """What holds for either notation."""
    if "\0" in text:
        yield "NUL bytes"
    if "\ufffd" in text:
        yield "bytes that are no UTF-8"
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > MAX_LINE:
            yield f"line {number} has more than {MAX_LINE} characters"
            break
    before, carriage_return, _ = text.partition("\r")
    if carriage_return:
        yield f"line {before.count(chr(10)) + 1} holds a carriage return"
    words = uname.split()[:5]
    if len(words) == 5 and words[0] == words[3] == "FreeBSD" and words[2] != words[4]:
        yield f"uname names two releases, {words[2]} and {words[4]}"


def _image_of_path(path: str) -> str:
    """`…//BSDRP-295150-upgrade-amd64-vga.img.xz` → `295150`; `none` → nothing."""
    match = _IMAGE_NAME.match(PurePosixPath(path).name)
    return match.group(1) if match else ""
