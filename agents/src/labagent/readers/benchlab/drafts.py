"""What a run's own files state about it, before its siblings and its label are asked.

Files are named `bench.[IMAGE.][CFG.][PKTGEN.]ITERATION.receiver`; a configuration may hold dots or
be a number. The `.info` file has each by itself, and agrees with the file name except where files
were renamed after the run (then the name is right) or carry only a part of the configuration.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from labagent.files import UnreadFileError, read_head, read_text
from labagent.readers.benchlab.groups import Group, Measured, ValueFile, measure_values
from labagent.readers.benchlab.info import Info, parse_info
from labagent.readers.benchlab.kernel import Kernel, parse_uname
from labagent.readers.benchlab.label import Image, leading_image, parse_image
from labagent.readers.benchlab.pairing import Entry, Paired

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
