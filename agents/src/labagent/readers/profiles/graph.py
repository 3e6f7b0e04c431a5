"""Folded stacks, and call graphs as `pmcstat -G` of FreeBSD writes them.

Folded stacks are lines, outermost caller first: `fork_exit;ithread_loop;ip_input 17`. A call graph
has a section a CPU, `@ EVENT [N samples]`, then blocks of rows:

    15.36%  [703]      iflib_txq_drain @ /boot/kernel/kernel
     100.0%  [700]       drain_ring_lockless

The row without indentation is the function that ran, each deeper one a caller of the row above it
with one space less. A row's samples without those of its callers ended at that row: the chain was
no longer known. Percentages are of what is printed above them, so they are not read. A module is
printed only where it is another one than that of the row printed before it in the block.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from labagent.readers.profiles import base

_LINE = re.compile(rf"(\S.*?) ({base.COUNT})\Z", re.ASCII)
_TWO_COUNTS = re.compile(r".* \d+\Z", re.ASCII)


def parse_folded(path: Path, data: bytes) -> base.Profile:
    """The profile of folded stacks. Raises UnreadProfileError."""
    profile = base.Profile("folded", sections=[{}], expected=[None])
    *lines, rest = base.lines_of(data)
    odd, rows = [], 0
    for number, line in enumerate(lines, 1):
        if row := _LINE.match(line):
            rows += 1
            if rows > base.MOST_ROWS:
                raise base.too_many(path, number, f"{rows} stacks", base.MOST_ROWS)
            _take_folded(path, profile, number, row)
        elif line.strip():
            odd.append(number)
    base.warn_of_lines(profile, odd)
    if rest:
        profile.truncated = True
        profile.warn(
            f"truncated: its last line is cut and left out, {profile.samples} samples are there"
        )
    return profile


def _take_folded(path: Path, profile: base.Profile, number: int, row: re.Match[str]) -> None:
    if _TWO_COUNTS.match(row[1]):
        raise base.UnreadProfileError(
            path, number, "a stack has two counts", "send the two profiles that were compared"
        )
    names = row[1].split(";")
    if len(names) > base.MOST_DEPTH:
        raise base.too_many(path, number, f"{len(names)} levels of callers", base.MOST_DEPTH)
    if int(row[2]):
        profile.add(tuple(base.frame_of(name) for name in names), int(row[2]))


def claims_folded(data: bytes) -> bool:
    """Whether most of the first lines are stacks, one of them with a caller."""
    lines = base.first_lines(data)
    stacks = [row for line in lines if (row := _LINE.match(line))]
    return 2 * len(stacks) > len(lines) and any(";" in row[1] for row in stacks)


FOLDED = base.ProfileFormat("folded", claims_folded, parse_folded)


_HEADER = re.compile(rf"@ (\S+) \[({base.COUNT}) samples\]\Z", re.ASCII)
_ROW = re.compile(rf"( *)[0-9.]+%  \[({base.COUNT})\]\s+(\S.*?)(?: @ (\S+))?\Z", re.ASCII)
_PERL_ROW = re.compile(r"( *)[0-9.]+%  \[([0-9]+)\]\s*(\S+)", re.ASCII)


@dataclass
class _Level:
    """A row of the chain in hand; `left` are its samples without those of its callers."""

    frame: base.Frame
    left: int
    line: int


@dataclass
class _Graph:
    """A graph while it is read. `found` are the samples of each section by its rows."""

    path: Path
    profile: base.Profile
    chain: list[_Level] = field(default_factory=list)
    module: str = ""
    found: list[int] = field(default_factory=list)
    rows: int = 0
    odd: list[int] = field(default_factory=list)

    def begin(self, event: str, expected: int | None) -> None:
        """Begin a section."""
        self.close(0)
        if self.profile.event and event != self.profile.event:
            other = f"sections of {self.profile.event} and {event}"
            raise base.UnreadProfileError(self.path, 0, other, "write a graph of one event only")
        self.profile.event = event
        self.profile.sections.append({})
        self.profile.expected.append(expected)
        self.found.append(0)

    def close(self, depth: int) -> None:
        """Count what ended at the rows of the chain from ``depth`` on, and drop these."""
        while len(self.chain) > depth:
            level = self.chain[-1]
            if level.left > 0:
                stack = tuple(one.frame for one in reversed(self.chain))
                self.profile.add(stack, level.left)
            elif level.left < 0:
                few = f"its callers have {-level.left} samples more than {level.frame[0]}"
                self.profile.warn(f"line {level.line}: {few}")
            self.chain.pop()

    def row(self, line: int, row: re.Match[str]) -> None:
        """Take a row into the chain; one whose callee is missing is left out."""
        depth, count = len(row[1]), int(row[2])
        self.rows += 1
        if self.rows > base.MOST_ROWS:
            raise base.too_many(self.path, line, f"{self.rows} rows", base.MOST_ROWS)
        base.check_depth(self.path, line, depth)
        self.close(depth)
        if depth > len(self.chain):
            self.odd.append(line)
            return
        self.module = row[4] or (self.module if depth else "")
        if depth:
            self.chain[-1].left -= count
        else:
            self.found[-1] += count
        self.chain.append(_Level(base.frame_of(row[3], self.module), count, line))

    def check_totals(self) -> None:
        """Compare the rows with what the headers promise."""
        pairs = [
            (one, has)
            for one, has in zip(self.profile.expected, self.found, strict=True)
            if one is not None
        ]
        if any(has < promised for promised, has in pairs):
            self.profile.truncated = True
        for section, (promised, has) in enumerate(pairs, 1):
            if has > promised:
                more = f"section {section} has {has} samples, its header states {promised}"
                self.profile.warn(more)


def parse_graph(path: Path, data: bytes) -> base.Profile:
    """The profile of a graph. Raises UnreadProfileError."""
    graph = _Graph(path, base.Profile("pmcstat"))
    *lines, rest = base.lines_of(data)
    for number, line in enumerate(lines, 1):
        _take_graph(graph, number, line)
    graph.close(0)
    if rest:
        graph.profile.truncated = True
    base.warn_of_lines(graph.profile, graph.odd)
    graph.check_totals()
    _judge(graph, rest)
    return graph.profile


def _take_graph(graph: _Graph, number: int, line: str) -> None:
    if row := _ROW.match(line):
        if not graph.profile.sections:
            graph.begin("", None)
            graph.profile.truncated = True
        graph.row(number, row)
    elif header := _HEADER.match(line):
        graph.begin(header[1], int(header[2]))
    elif line:
        graph.odd.append(number)
    else:
        graph.close(0)


def _judge(graph: _Graph, rest: str) -> None:
    """State what a cut graph has, of what; a complete one has a section for each CPU."""
    profile = graph.profile
    if not profile.truncated:
        profile.cores = len(profile.sections)
        return
    promised = sum(one for one in profile.expected if one is not None)
    cut = ", its last row is cut" if rest else ""
    sections = len(profile.sections)
    profile.warn(
        f"truncated: {sum(graph.found)} of {promised} samples are there, of the {sections}"
        f" CPUs that it names{cut}"
    )


def perl_folded(data: bytes) -> str:
    """The graph as `stackcollapse-pmc.pl` of FlameGraph folds it, a line for each row that has no
    callers: samples whose chain ended at another row are lost."""
    return "".join(f"{line}\n" for line in _perl_lines(data))


def _perl_lines(data: bytes) -> Iterator[str]:
    stack: list[str] = []
    count, last = "", -1
    for line in base.lines_of(data):
        if row := _PERL_ROW.match(line):
            depth = len(row[1])
            if depth <= last:
                yield f"{';'.join(reversed(stack[: last + 1]))} {count}"
            stack += [""] * (depth + 1 - len(stack))
            stack[depth], count, last = row[3], row[2], depth
    if stack:
        yield f"{';'.join(reversed(stack[: last + 1]))} {count}"


def claims_graph(data: bytes) -> bool:
    """Whether one of the first lines is a header, or a row with a percentage and a count."""
    lines = base.first_lines(data)
    return base.is_any(_HEADER, lines) or base.is_any(_ROW, lines)


GRAPH = base.ProfileFormat("pmcstat", claims_graph, parse_graph)
