"""Bench-lab directories: the layout of the FreeBSD netbenches archive (docs/agent.md).

The bullets of a README.md are sent as typed, never as measured: they were copied from older
directories, and a few contradict the kernel. Bullets in code blocks and mere links state nothing
about the bench.
"""

import hashlib
import os
import re
import signal
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any
from uuid import UUID

from labagent.errors import SettingsError
from labagent.files import UnreadFileError, read_head
from labagent.model import Outcome, Overrides, Run, Skip
from labagent.readers.benchlab.layout import LabelDirectory, find_labels
from labagent.readers.benchlab.reader import Readme, read_label

__all__ = ["read_directories", "read_readme_text"]

MANY_LABELS, LABELS_AT_ONCE, MOST_READERS = 16, 2, 8
"""Labels from which on they are read by several processes, how many one takes at a time, and how
many processes there are at most."""

DUPLICATE = "the same files as another run"

_STAMPED = ".receiver"
"""Logs with time stamps to the microsecond, so that two are never the same; other files may be."""

_EMPTY = hashlib.sha256().hexdigest()


def read_directories(directories: Iterable[Path], overrides: Overrides) -> Iterator[Outcome]:
    """Every run below `directories`, each once, and what was skipped; label by label.

    Raises `SettingsError` where an override would put two configurations into one series.
    """
    found = list(find_labels(directories))
    labels = [one for one in found if isinstance(one, LabelDirectory)]
    _check(labels, overrides)
    skips = (one for one in found if isinstance(one, Skip))
    return chain(_read(labels, overrides), skips)


def _read(labels: Sequence[LabelDirectory], overrides: Overrides) -> Iterator[Outcome]:
    seen: set[UUID] = set()
    files: dict[str, str] = {}
    for label, outcomes in _each(labels, overrides):
        for outcome in outcomes:
            if not isinstance(outcome, Run):
                yield outcome
            elif outcome.uuid in seen:
                yield Skip(f"{label.title}: {outcome.mode}", DUPLICATE)
            else:
                seen.add(outcome.uuid)
                yield _compared(outcome, f"{label.title}: {outcome.mode}", files)


def _compared(run: Run, title: str, files: dict[str, str]) -> Run:
    """The run, with a warning where another one has logs of it: one of the two is a copy, and need
    not be of the revision that it is named after. ``files`` maps digests to runs."""
    digests = [one.sha256 for one in run.sources if one.path.endswith(_STAMPED)]
    others = {files[digest]: None for digest in digests if digest in files}
    for digest in digests:
        if digest != _EMPTY:
            files.setdefault(digest, title)
    found = tuple(f"the same files as {other}: one is a copy" for other in others)
    return replace(run, warnings=(*run.warnings, *found))


def _each(
    labels: Sequence[LabelDirectory], overrides: Overrides
) -> Iterator[tuple[LabelDirectory, list[Outcome]]]:
    """What each label holds, in their order; of many labels as many at once as there are
    processors. A reader that the system ends (memory) leaves the rest to this process."""
    read = partial(_outcomes, overrides=overrides)
    done = 0
    workers = min(os.cpu_count() or 1, MOST_READERS)
    if workers > 1 and len(labels) >= MANY_LABELS:
        pool = ProcessPoolExecutor(workers, initializer=_leave_interrupts)
        try:
            for outcomes in pool.map(read, labels, chunksize=LABELS_AT_ONCE):
                yield labels[done], outcomes
                done += 1
        except BrokenProcessPool:
            pass  # the rest is read below
        finally:
            pool.shutdown(cancel_futures=True)
    for label in labels[done:]:
        yield label, read(label)


def _leave_interrupts() -> None:
    """Ctrl-C is the business of the process that was started."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _outcomes(label: LabelDirectory, overrides: Overrides) -> list[Outcome]:
    """What a label holds; where it cannot be read, that, and the other labels go on."""
    try:
        return list(read_label(label, overrides, read_readme(label.path)))
    except OSError as error:
        return [Skip(label.title, f"cannot be read: {error.strerror}", unread=True)]


def _check(labels: Sequence[LabelDirectory], overrides: Overrides) -> None:
    if overrides.hardware:
        found = {label.hardware for label in labels if label.hardware}
        _refuse_many("--hardware", "machines", found)
    if overrides.mode:
        outcomes = _read(labels, replace(overrides, mode=None))
        _refuse_many("--mode", "modes", {str(run.mode) for run in outcomes if isinstance(run, Run)})


def _refuse_many(option: str, what: str, found: set[str]) -> None:
    if len(found) > 1:
        some = ", ".join(sorted(found)[:3])
        raise SettingsError(
            f"{option} names one, but these directories hold {len(found)} {what} ({some}, …)",
            "name fewer directories, one call for each",
        )


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
