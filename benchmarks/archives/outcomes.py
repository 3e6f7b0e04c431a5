"""What agent and server report of an archive: what is rejected, skipped, warned of, filed elsewhere
or waiting, how often, and in which directories."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

from labagent.limits import faults
from labagent.model import Overrides, Run, Skip
from labagent.readers.benchlab import read_directories
from labagent.readers.benchlab.layout import LabelDirectory, find_labels
from labagent.upload import detail_text

from benchmarks.intervals import table
from webapp.results.identity import Evidence, identify

REJECTED, SKIPPED, WARNED, REMARKED, WAITING = KINDS = (
    "rejected",
    "skipped",
    "warning",
    "remark",
    "waiting",
)
HEADER = ("what", "reason", "count", "directories")

_WORD = re.compile(r"[^\s,:()|']+")
_LIST = re.compile("…(?:, …)+")


class Event(NamedTuple):
    """One thing reported of a run, or of what is none."""

    kind: str
    reason: str
    directory: str


class Row(NamedTuple):
    """A reason with the directories it was given in, each with its count."""

    kind: str
    reason: str
    directories: Counter[str]


class Outcomes(NamedTuple):
    """How many directories and runs an archive has, and what is reported of them, by reason."""

    directories: int
    runs: int
    rows: Sequence[Row]

    def to_markdown(self) -> str:
        """A sentence with the counts, and a table. What did not occur has a row of its own."""
        missing = [Row(kind, "", Counter()) for kind in KINDS if kind not in self._kinds]
        rows = sorted([*self.rows, *missing], key=lambda row: KINDS.index(row.kind))
        heading = f"{self.directories} directories, {self.runs} runs."
        return f"{heading}\n\n{table(HEADER, [_cells(row) for row in rows])}"

    @property
    def _kinds(self) -> set[str]:
        return {row.kind for row in self.rows}


def outcomes_of(root: Path) -> Outcomes:
    """Read an archive as the agent does, file each run as a server does that has imported no
    history; in the order in which the reasons occur first.

    Raises OSError where ``root`` cannot be read.
    """
    titles = [one.title for one in find_labels([root]) if isinstance(one, LabelDirectory)]
    runs = 0
    events: list[Event] = []
    for outcome in read_directories([root], Overrides()):
        runs += isinstance(outcome, Run)
        events += _events(outcome, titles)
    return Outcomes(len(titles), runs, list(_rows(events)))


def masked(text: str) -> str:
    """A reason without what differs from run to run: words that hold a digit become `…`."""
    words = _WORD.sub(lambda word: "…" if re.search(r"\d", word[0]) else word[0], text)
    return _LIST.sub("…", words)


def _events(outcome: Run | Skip, titles: Sequence[str]) -> Iterator[Event]:
    if isinstance(outcome, Skip):
        yield Event(SKIPPED, masked(outcome.reason), _directory(outcome.where, titles))
        return
    run, evidence = outcome, outcome.evidence
    where = _directory(evidence.directory if evidence else run.hardware, titles)
    yield from (Event(WARNED, masked(text), where) for text in run.warnings)
    if found := faults(run.document()):
        yield Event(REJECTED, masked(detail_text(found)), where)
    elif evidence:
        identity = identify(run.revision, Evidence(**asdict(evidence)))
        if identity.waits:
            texts = ", ".join(one.text for one in identity.candidates)
            yield Event(WAITING, masked(texts), where)
        elif identity.remark:
            yield Event(REMARKED, masked(identity.remark), where)


def _directory(where: str, titles: Sequence[str]) -> str:
    """The result directory that a message is about; a message about no such directory names what
    it is about itself."""
    fitting = [title for title in titles if re.match(rf"{re.escape(title)}(?=$|[/: ])", where)]
    return max(fitting, key=len, default=where)


def _rows(events: Iterable[Event]) -> Iterator[Row]:
    found: dict[tuple[str, str], Counter[str]] = {}
    for kind, reason, directory in events:
        found.setdefault((kind, reason), Counter())[directory] += 1
    yield from (Row(*key, directories) for key, directories in found.items())


def _cells(row: Row) -> Sequence[str]:
    names = [
        f"`{_escaped(name)}`" + (f" ({count})" if count > 1 else "")
        for name, count in row.directories.items()
    ]
    return (
        row.kind,
        _escaped(row.reason) or "none",
        str(row.directories.total()),
        ", ".join(names),
    )


def _escaped(text: str) -> str:
    """Text in a cell of a table in Markdown."""
    return " ".join(text.replace("|", "\\|").split())
