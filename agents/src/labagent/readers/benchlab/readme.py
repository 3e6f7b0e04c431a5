"""What a person typed about a result directory: the bullets of its README.md.

They are sent as typed, never as measured: they were copied from older directories, and a few
contradict the kernel. Bullets in code blocks and mere links say nothing about the bench.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from labagent.reading import UnreadFileError, read_head

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
