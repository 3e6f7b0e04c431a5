"""What a run's own files state about it, before its siblings and its label are asked.

Files are named `bench.[IMAGE.][CFG.][PKTGEN.]ITERATION.receiver`; a configuration may hold dots or
be a number. The `.info` file has each by itself, and agrees with the file name except where files
were renamed after the run (then the name is right) or carry only a part of the configuration.

Since May 2016 a shell can read the `.info` file (`IMAGE="" CFG="" PKTGEN="" UNAME="…"`); before, it
had `Image:`, `CFG:`, a bare `uname -a` line and the time it started. A zone is known by its name
only, and names are ambiguous (`CST`, `IST`, `BST`). Those below mean one offset wherever such logs
are written; any other leaves the time unknown rather than wrong.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from pathlib import Path, PurePosixPath
from typing import Any

from labagent.files import UnreadFileError, read_head, read_text
from labagent.readers.benchlab.groups import Group, Measured, ValueFile, measure_values
from labagent.readers.benchlab.kernel import Kernel, parse_uname
from labagent.readers.benchlab.label import Image, leading_image, parse_image
from labagent.readers.benchlab.pairing import Entry, Paired

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


TRAFFIC_PRESETS = frozenset(
    {"inet4", "inet6"}
    | {"64", "128", "256", "512", "1024", "1280", "1518", "2048", "9800"}
    | {"1K", "5K", "10K", "50K", "100K", "1M", "2M", "4M", "5M", "6M", "10M"}
)
"""The presets of pkt-gen by which files were named; anything else is part of the configuration."""


@dataclass(frozen=True)
class Names:
    """The parts of a file's name before the iteration; empty: the name lacks that part."""

    image: str = ""
    cfg: str = ""
    pktgen: str = ""

    @property
    def prefix(self) -> str:
        """The parts that are there, joined as in the file's name."""
        return ".".join(part for part in (self.image, self.cfg, self.pktgen) if part)


def read_names(prefix: str, info: Info | None, images: Iterable[str] = ()) -> Names:
    """The names behind `prefix`; `images` are those known from the same directory."""
    if info is None:
        return names_of_prefix(prefix, images)
    if info.old:
        return _old_names(prefix, info)
    stated = Names(info.image, info.cfg, info.pktgen)
    if stated.prefix == prefix or _is_part(prefix, stated):
        return stated
    return names_of_prefix(prefix, [*images, info.image])


def names_of_prefix(prefix: str, images: Iterable[str] = ()) -> Names:
    """The names in `prefix`, read from both ends: an image first, a preset last."""
    image = _image_of(prefix, images)
    rest = prefix[len(image) :].lstrip(".")
    cfg, _, last = rest.rpartition(".")
    if last in TRAFFIC_PRESETS:
        return Names(image, cfg, last)
    return Names(image, rest, "")


def _image_of(prefix: str, images: Iterable[str]) -> str:
    known = [image for image in images if image and f"{prefix}.".startswith(f"{image}.")]
    return max(known, key=len) if known else leading_image(prefix)


def _old_names(prefix: str, info: Info) -> Names:
    if prefix == info.cfg:
        return Names(info.image, info.cfg)
    if info.cfg and prefix.endswith(f".{info.cfg}"):
        return Names(prefix.removesuffix(f".{info.cfg}"), info.cfg)
    found = names_of_prefix(prefix)
    return found if found.image else replace(found, image=info.image)


def _is_part(prefix: str, stated: Names) -> bool:
    """Whether `prefix` has nothing but parts of what is stated (`128KBhash` of the configuration
    `4Mstates-128KBhash`, or all of it without the image)."""
    rest = _without(prefix, stated.image)
    if rest in ("", stated.pktgen, replace(stated, image="").prefix):
        return rest != ""
    part = re.escape(rest.removesuffix(f".{stated.pktgen}") if stated.pktgen else rest)
    return bool(re.search(rf"(?<![A-Za-z0-9]){part}(?![A-Za-z0-9])", stated.cfg))


def _without(prefix: str, image: str) -> str:
    return prefix.removeprefix(f"{image}.") if image else prefix


@dataclass
class Draft:
    """An entry with everything read that its own files state."""

    entry: Entry
    names: Names
    image: Image
    info: Info | None
    kernel: Kernel | None
    options: tuple[str, ...] = ()

    @property
    def group(self) -> Group:
        """The logs of the run."""
        return self.entry.group


def make_drafts(paired: Paired) -> list[Draft]:
    """A draft for each group of logs, then one for each set of value files without logs."""
    infos = {id(entry): _read_info(entry) for entry in paired.entries}
    images = sorted({info.image for info in infos.values() if info and info.image})
    drafts = [_draft(entry, infos[id(entry)], images) for entry in paired.entries]
    return drafts + [_draft_of_values(files, images) for files in paired.alone]


def _read_info(entry: Entry) -> Info | None:
    if entry.group.info is None:
        return None
    try:
        return parse_info(read_text(entry.group.info))
    except UnreadFileError as error:
        entry.measured.unread = entry.measured.unread or str(error)
        return None


def _draft(entry: Entry, info: Info | None, images: Sequence[str]) -> Draft:
    names = read_names(entry.group.prefix, info, images)
    if entry.renamed is not None:
        renamed = names_of_prefix(entry.renamed.prefix, [*images, names.image])
        if (renamed.image, renamed.pktgen) == (names.image, names.pktgen):
            names = renamed
    kernel = parse_uname(info.uname) if info and info.uname else None
    return Draft(entry, names, parse_image(names.image), info, kernel)


def _draft_of_values(files: Sequence[ValueFile], images: Sequence[str]) -> Draft:
    group = Group(files[0].prefix, files[0].variant)
    names = names_of_prefix(group.prefix, images)
    entry = Entry(group, measure_values(files))
    return Draft(entry, names, parse_image(names.image), None, None)


_COMMAND_BYTES = 2048
_USED_LINES = 2
_MAX_TEXT = 500


def run_facts(
    *,
    group: Group,
    names: Names,
    kernel: Kernel | None,
    label: str,
    topic: str | None,
    iterations: Sequence[str],
    typed: Mapping[str, Any],
) -> dict[str, Any]:
    """The facts of one run, those that a person `typed` apart; those unknown are left out."""
    facts: dict[str, Any] = {
        "format": "bench-lab",
        "label": label,
        "topic": topic,
        "image": names.image,
        "cfg": names.cfg,
        "pktgen": names.pktgen,
        "iterations": list(iterations),
        "senders": count_senders(group.logs),
        "receiver_command": _first_command(group.logs.get("receiver", {})),
        "sender_command": _first_command(group.logs.get("sender", {})),
        **_kernel_facts(kernel),
        "typed": dict(typed),
    }
    return {name: fact for name, fact in facts.items() if fact not in (None, "", [], {}, 0)}


def _kernel_facts(kernel: Kernel | None) -> dict[str, Any]:
    if kernel is None:
        return {}
    return {
        "uname": kernel.ident[:_MAX_TEXT],
        "host": kernel.host,
        "release": kernel.release,
        "kernel_revision": kernel.revision,
        "commit": kernel.commit,
    }


def count_senders(logs: Mapping[str, Mapping[str, Path]]) -> int:
    """Load generators that sent something: one whose log is only its command line did not."""
    kinds = [kind for kind in logs if kind.startswith("sender")]
    return sum(any(_was_used(path) for path in logs[kind].values()) for kind in kinds)


def _was_used(path: Path) -> bool:
    return read_head(path, _COMMAND_BYTES).count(b"\n") > _USED_LINES


def _first_command(logs: Mapping[str, Path]) -> str | None:
    """The command line of the first iteration's log: `pkt-gen -f rx -i igb3 -w 4`."""
    if not logs:
        return None
    head = read_head(logs[min(logs)], _COMMAND_BYTES).decode("utf-8", "replace")
    command = next((line for line in head.splitlines() if line.startswith("CMD")), "")
    return command.partition(": ")[2][:_MAX_TEXT]


MAX_DOUBTS = 20
"""Doubts about the files of one run that are named; the others are counted."""


def doubt_warnings(draft: Draft) -> Iterator[str]:
    """What is odd about the files, the first twenty."""
    doubts = [*draft.entry.measured.doubts, *(draft.info.doubts if draft.info else ())]
    doubts += [f"{name} lies in two directories: one was read" for name in draft.group.twice]
    yield from doubts[:MAX_DOUBTS]
    if len(doubts) > MAX_DOUBTS:
        yield f"{len(doubts) - MAX_DOUBTS} more doubts about these files"


def problem_warnings(measured: Measured) -> Iterator[str]:
    """Why iterations gave no value."""
    for problem in sorted(set(measured.problems.values())):
        iterations = [i for i, found in measured.problems.items() if found == problem]
        yield f"iteration {', '.join(iterations)} gave no value: {problem}"
