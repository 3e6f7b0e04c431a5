"""What a lab noted about a run: the `.info` file beside the logs, the directory's README.md.

A zone is known by its name only, and names are ambiguous (`CST`, `IST`, `BST`). Those below mean
one offset wherever such logs are written; any other leaves the time unknown rather than wrong.

Since May 2016 a shell can read the `.info` file (`IMAGE="" CFG="" PKTGEN="" UNAME="…"`); before, it
had `Image:`, `CFG:`, a bare `uname -a` line and the time it started.

The bullets of a README.md are sent as typed, never as measured: they were copied from older
directories, and a few contradict the kernel. Bullets in code blocks and mere links state nothing
about the bench.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path, PurePosixPath
from typing import Any

from labagent.files import UnreadFileError, read_head

ZONE_HOURS = {
    "UTC": 0, "GMT": 0, "WET": 0, "WEST": 1, "CET": 1, "CEST": 2, "EET": 2, "EEST": 3,
}  # fmt: skip

FIRST_YEAR, LAST_YEAR = 1990, 2099
"""A clock that was never set shows 1970; no lab measured before there was a kernel to measure."""

_UNIX = re.compile(r"^\w{3} (\w{3}) +([0-9]+) ([0-9]+:[0-9]+:[0-9]+) (\S+) ([0-9]{4})$")
_SPOKEN = re.compile(r"^(\w+) +([0-9]+), ([0-9]{4}) at ([0-9]+:[0-9]+:[0-9]+ [AP]M) (\S+)$")


def parse_time(text: str) -> datetime | None:
    """`Thu Sep 10 08:11:48 CEST 2015` or `May  8, 2016 at 06:43:48 PM CEST`, else None."""
    if match := _UNIX.match(text):
        month, day, clock, zone, year = match.groups()
        return _aware(f"{month} {day} {year} {clock}", "%b %d %Y %H:%M:%S", zone)
    if match := _SPOKEN.match(text):
        month, day, year, clock, zone = match.groups()
        return _aware(f"{month[:3]} {day} {year} {clock}", "%b %d %Y %I:%M:%S %p", zone)
    return None


def _aware(text: str, layout: str, zone: str) -> datetime | None:
    if zone not in ZONE_HOURS:
        return None
    try:
        naive = datetime.strptime(text, layout)  # noqa: DTZ007 (the zone follows)
    except ValueError:
        return None
    if not FIRST_YEAR <= naive.year <= LAST_YEAR:
        return None
    return naive.replace(tzinfo=timezone(timedelta(hours=ZONE_HOURS[zone])))


_ASSIGNMENT = re.compile(r'(\w{1,40})="')
_CLOSING = re.compile(r'"(?: \([^"]*\))?\s*\Z')
"""Behind the value the script may name where it is from: `DURING_CMD="…" (self-triggered on …)`."""

_NEW_FIELDS = ("IMAGE", "CFG", "PKTGEN", "UNAME")
_OLD_FIELDS = ("Image", "CFG", "Start time", "End time")
_UNAME = re.compile(r"(?:FreeBSD|[A-Z][A-Za-z]{0,20}BSD|Linux|DragonFly) .")
_IMAGE_NAME = re.compile(r"[A-Za-z]{1,40}-(.{1,200}?)-(?:upgrade|full|amd64|i386)")

MAX_LINE = 1024
"""Characters of a line that are read; real ones have up to 250."""


@dataclass(frozen=True)
class Info:
    """`old` distinguishes the two notations: an old one names its image by a path, so `image` is
    what that path suggests, while a new one states it. `doubts` are what shows that the file is not
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


README = "README.md"
MAX_README_BYTES = 64 * 1024
"""Of a longer one the beginning is read."""

MOST_BULLETS = 30
LONGEST_BULLET = 200

_BULLET = re.compile(r"\s*[-*+] +(.+)")
_FENCE = re.compile(r"\s*(```|~~~)")
_LINK = re.compile(r"!?\[.*\]\(.*\)")
_SETTING = re.compile(r"([a-z][\w-]*(?:\.[\w-]+)+) ?= ?\"?([\w.:/-]{1,100})\"?", re.ASCII)
_KINDS = {
    "cpu": re.compile(
        r"^CPU\b|\b(Atom|Xeon|Opteron|EPYC|Ryzen|Celeron|Pentium|Cortex|ThunderX|Ampere|Core i\d)\b"
        r"|\bAMD G|\bIntel (i[3579]|[EDW][3579]?|[XLNJ])-?\d{4}"
    ),
    "nic": re.compile(
        r"^NIC\b|\b(Chelsio|Mellanox|ConnectX|Realtek|Broadcom|OneConnect|Emulex)\b"
        r"|\bIntel (i[2-4]\d\d|X[57]\d\d|(XL|XXV)7\d\d|E[68]\d\d|82\d{3})(?!\d)"
        r"|\b(\d+-)?Gigabit Ethernet ports?\b"
    ),
    "bios": re.compile(r"\bBIOS\b"),
    "memory": re.compile(r"^(Memory|RAM)\b|\b\d+ ?G(i?)B (of )?(RAM|memory)\b", re.IGNORECASE),
    "routes": re.compile(r"^\d+ static routes?\b"),
}
_HEAD = re.compile(r"^(CPU|NIC|BIOS|Memory|RAM)\s*:\s*", re.IGNORECASE)


@dataclass(frozen=True)
class Readme:
    """The facts that were typed, and why there are none where the file could not be read."""

    typed: dict[str, Any] = field(default_factory=dict)
    problem: str = ""


def read_readme(directory: Path) -> Readme:
    """The facts of a directory's README.md; none where there is no such file."""
    path = directory / README
    if not os.path.lexists(path):
        return Readme()
    try:
        text = read_head(path, MAX_README_BYTES).decode("utf-8", "replace")
    except UnreadFileError as error:
        return Readme(problem=f"typed facts left out: {error}")
    return Readme(typed_facts(text))


def read_readme_text(directory: Path) -> str:
    """The README as it was typed; empty where there is none, or it cannot be read."""
    try:
        return read_head(directory / README, MAX_README_BYTES).decode("utf-8", "replace")
    except UnreadFileError:
        return ""


def typed_facts(text: str) -> dict[str, Any]:
    """The facts that bullets name, each the first that does; other bullets as they are."""
    found: dict[str, Any] = {}
    settings: dict[str, str] = {}
    others: list[str] = []
    for bullet in _bullets(text):
        setting = _SETTING.fullmatch(bullet)
        kind = next((name for name, form in _KINDS.items() if form.search(bullet)), None)
        if setting:
            settings.setdefault(setting[1], setting[2])
        elif kind and kind not in found:
            found[kind] = _HEAD.sub("", bullet)
        else:
            others.append(bullet)
    parts = found | {"sysctl": settings, "bullets": others}
    return {name: part for name, part in parts.items() if part}


def _bullets(text: str) -> Iterator[str]:
    """At most so many bullets outside of code blocks, each on one line."""
    number, fenced = 0, False
    for line in text.splitlines():
        fenced ^= bool(_FENCE.match(line))
        match = _BULLET.fullmatch(line)
        if fenced or match is None:
            continue
        bullet = " ".join(match[1].replace("`", "").replace("**", "").split())
        if bullet and not _LINK.search(bullet):
            yield bullet[:LONGEST_BULLET]
            number += 1
        if number == MOST_BULLETS:
            return
