"""The `.info` file beside the logs: what the lab noted about a run.

Since May 2016 it can be read by a shell (`IMAGE="" CFG="" PKTGEN="" UNAME="…"`); before, it had
`Image:`, `CFG:`, a bare `uname -a` line and the time it started.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

_ASSIGNMENT = re.compile(r'^(\w+)="(.*?)"?\s*$', re.MULTILINE)
_OLD_FIELD = re.compile(r"^(Image|CFG|Start time|End time):[ \t]*(.*?)[ \t]*$", re.MULTILINE)
_UNAME = re.compile(r"^(?:FreeBSD|[A-Z][A-Za-z]*BSD|Linux|DragonFly) .+$", re.MULTILINE)
_IMAGE_NAME = re.compile(r"^[A-Za-z]+-(.+?)-(?:upgrade|full|amd64|i386)")


@dataclass(frozen=True)
class Info:
    """`old` tells the two notations apart: an old one names its image by a path, so `image` is
    what that path suggests, while a new one states it."""

    image: str = ""
    cfg: str = ""
    pktgen: str = ""
    uname: str = ""
    started: str = ""
    old: bool = False


def parse_info(text: str) -> Info:
    """The fields of an `.info` file; those it lacks are empty."""
    fields = dict(_ASSIGNMENT.findall(text))
    if fields:
        return Info(
            image=fields.get("IMAGE", ""),
            cfg=fields.get("CFG", ""),
            pktgen=fields.get("PKTGEN", ""),
            uname=fields.get("UNAME", "").strip(),
        )
    return _parse_old(text)


def _parse_old(text: str) -> Info:
    fields = dict(_OLD_FIELD.findall(text))
    uname = _UNAME.search(text)
    return Info(
        image=_image_of_path(fields.get("Image", "")),
        cfg=PurePosixPath(fields.get("CFG", "")).name,
        uname=uname.group().strip() if uname else "",
        started=fields.get("Start time", ""),
        old=True,
    )


def _image_of_path(path: str) -> str:
    """`…//BSDRP-295150-upgrade-amd64-vga.img.xz` → `295150`; `none` → nothing."""
    match = _IMAGE_NAME.match(PurePosixPath(path).name)
    return match.group(1) if match else ""
