"""What a profile is, and what a format of profiles is."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from labagent.files import UnreadFileError
from labagent.limits import WARNING
from labagent.model import clean

MOST_ROWS = 200_000
MOST_DEPTH = 256
MOST_SECTIONS = 64
MOST_NODES = 200_000
MOST_FUNCTIONS = 50_000
LONGEST_NAME = 300
MOST_LINE = 2000
"""Characters of a line that holds one function; the longest symbols of Linux have 512."""

COUNT = r"\d{1,15}"
"""Samples as digits: beyond 2^53 readers of JSON lose some."""

MOST_WARNINGS = 100

Frame = tuple[str, str]
"""A function's name and its module; the module is empty where the profiler named none."""

Stack = tuple[Frame, ...]
"""Outermost caller first."""

_SUFFIX = re.compile(r"(?:\.(?:constprop|isra|part)\.\d+|\.cold(?:\.\d+)?)+\Z", re.ASCII)
_ADDRESS = re.compile(r"0x[0-9a-f]{1,16}\Z|[0-9a-f]{16}\Z", re.ASCII)
UNKNOWN = "[unknown]"


class UnreadProfileError(UnreadFileError):
    """A profile that is not read: file, line (0: the whole file), reason and remedy."""

    def __init__(self, path: Path, line: int, reason: str, remedy: str) -> None:
        super().__init__(path, f"line {line}: {reason}" if line else reason)
        self.line = line
        self.remedy = remedy


@dataclass
class Profile:
    """The samples of one profile.

    `sections` has the samples of each stack, a mapping a CPU where the format distinguishes CPUs;
    `expected` the samples that a section's header promises, None where there is none. `truncated`:
    a part is missing. `unsymbolized` are samples whose function is an address without a symbol.
    `boot` names what several profiles of one run share, None: a boot of its own. `pps` is the rate
    (packets/s) while it was taken, `cores` the number of CPUs of the machine, `event_rate` how
    often the event happened on all CPUs (1/s), where the format has the period of each sample.
    """

    format: str
    event: str = ""
    sections: list[dict[Stack, int]] = field(default_factory=list)
    expected: list[int | None] = field(default_factory=list)
    truncated: bool = False
    unsymbolized: int = 0
    warnings: list[str] = field(default_factory=list)
    name: str = ""
    iteration: int | None = None
    boot: str | None = None
    pps: float | None = None
    cores: int | None = None
    event_rate: float | None = None

    @property
    def samples(self) -> int:
        """All samples."""
        return sum(sum(section.values()) for section in self.sections)

    def add(self, stack: Stack, count: int, section: int = -1) -> None:
        """Count samples of a stack on a section, the last where none is named."""
        stacks = self.sections[section]
        stacks[stack] = stacks.get(stack, 0) + count
        if is_address(stack[-1][0]):
            self.unsymbolized += count

    def warn(self, text: str) -> None:
        """Add a warning, unless there are `MOST_WARNINGS`."""
        if len(self.warnings) < MOST_WARNINGS:
            self.warnings.append(text)

    def document(self) -> dict[str, Any]:
        """The profile as `POST /api/v1/runs/{uuid}/profiles` takes it."""
        return {
            "name": clean(self.name)[:LONGEST_NAME],
            "format": self.format,
            "event": clean(self.event)[:LONGEST_NAME],
            "iteration": self.iteration,
            "boot": self.boot,
            "expected": list(self.expected),
            "truncated": self.truncated,
            "pps": self.pps,
            "cores": self.cores,
            "event_rate": self.event_rate,
            "unsymbolized": self.unsymbolized,
            "warnings": [clean(text)[: WARNING.most] for text in self.warnings],
            **_call_tree(self.sections),
        }


@dataclass(frozen=True)
class ProfileFormat:
    """How one kind of file is read: `claims` looks at its bytes, `parse` raises
    `UnreadProfileError`."""

    name: str
    claims: Callable[[bytes], bool]
    parse: Callable[[Path, bytes], Profile]


def _call_tree(sections: Sequence[dict[Stack, int]]) -> dict[str, list[Any]]:
    """Functions, the nodes (parents before children) and the samples that ended at each."""
    functions: dict[Frame, int] = {}
    nodes: dict[tuple[int, int], int] = {}
    tree: dict[str, list[Any]] = {"node": [], "section": [], "count": []}
    for section, stacks in enumerate(sections):
        for stack, count in stacks.items():
            node = -1
            for frame in stack:
                function = functions.setdefault(frame, len(functions))
                node = nodes.setdefault((node, function), len(nodes))
            tree["node"].append(node)
            tree["section"].append(section)
            tree["count"].append(count)
    return {
        "functions": [list(frame) for frame in functions],
        "parent": [parent for parent, _ in nodes],
        "function": [function for _, function in nodes],
        **tree,
    }


def check_bounds(path: Path, profile: Profile) -> Profile:
    """The profile as it is. Raises UnreadProfileError for one that is empty or beyond what the
    server takes."""
    if not profile.samples:
        raise UnreadProfileError(path, 0, "holds no sample", "take the profile again")
    bounds = [("sections", len(profile.sections), MOST_SECTIONS)]
    frames = sum(len(stack) for section in profile.sections for stack in section)
    if frames > min(MOST_FUNCTIONS, MOST_NODES):
        tree = _call_tree(profile.sections)
        bounds.append(("functions", len(tree["functions"]), MOST_FUNCTIONS))
        bounds.append(("different calls", len(tree["parent"]), MOST_NODES))
    for what, found, most in bounds:
        if found > most:
            raise too_many(path, 0, f"{found} {what}", most)
    return profile


def too_many(path: Path, line: int, found: str, most: int) -> UnreadProfileError:
    """The error about a file beyond a bound."""
    remedy = "profile for a shorter time, or sample more rarely"
    return UnreadProfileError(path, line, f"{found}, more than the {most} that are read", remedy)


def check_depth(path: Path, line: int, depth: int) -> None:
    """Raises UnreadProfileError where a stack of so many levels may have no further one."""
    if depth >= MOST_DEPTH:
        raise too_many(path, line, f"{depth + 1} levels of callers", MOST_DEPTH)


def lines_not_taken(
    path: Path, lines: Iterable[str], take: Callable[[int, str], bool]
) -> list[int]:
    """The numbers of the lines that ``take`` refuses. Raises UnreadProfileError beyond `MOST_ROWS`
    lines that are not empty."""
    odd, rows = [], 0
    for number, line in enumerate(lines, 1):
        rows += bool(line)
        if rows > MOST_ROWS:
            raise too_many(path, number, f"{rows} lines", MOST_ROWS)
        if not take(number, line):
            odd.append(number)
    return odd


def warn_of_lines(profile: Profile, lines: Sequence[int]) -> None:
    """Warn of lines that are no part of the format."""
    if lines:
        more = f" and {len(lines) - 1} more" if len(lines) > 1 else ""
        profile.warn(f"line {lines[0]}{more} not understood, left out")


@lru_cache(maxsize=MOST_FUNCTIONS)
def frame_of(name: str, module: str = "") -> Frame:
    """A function without the suffixes that compilers add to its parts, and its module without the
    path; both within bounds."""
    name = name[:LONGEST_NAME]
    base = _SUFFIX.sub("", name) or name or UNKNOWN
    return clean(base)[:LONGEST_NAME], clean(module_of(module))[:LONGEST_NAME]


def module_of(path: str) -> str:
    """`/boot/kernel/ipfw.ko` → `ipfw`, `[nf_tables]` → `nf_tables`, any name of the kernel →
    `kernel`."""
    name = path.rpartition("/")[2].strip("[]").removesuffix(".ko")
    return "kernel" if name in ("kernel.kallsyms", "guest.kernel.kallsyms", "vmlinux") else name


def is_address(name: str) -> bool:
    """Whether a function's name is an address, so no symbol was found."""
    return name == UNKNOWN or bool(_ADDRESS.match(name))


def lines_of(data: bytes) -> list[str]:
    """The lines of a text file without their ends; bytes that are no UTF-8 become U+FFFD. The last
    one is empty where the file ends with a newline."""
    return [line.removesuffix("\r") for line in data.decode("utf-8", "replace").split("\n")]


def first_lines(data: bytes, count: int = 20) -> list[str]:
    """The first lines that are neither blank nor comments, of the first 16 KiB."""
    found = lines_of(data[: 16 * 1024])
    lines = (line for line in found if line.strip() and not line.startswith("#"))
    return [line for line, _ in zip(lines, range(count), strict=False)]


def is_any(pattern: re.Pattern[str], lines: Iterable[str]) -> bool:
    """Whether one of the lines is of this form."""
    return any(pattern.match(line) for line in lines)
