"""Experiments: what a server is told of the directories that an upload was read from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from posixpath import commonpath
from typing import Any

from labagent.client import Client
from labagent.errors import RefusedError
from labagent.model import Run, clean
from labagent.readers.benchlab import read_readme_text

LEAST_RUNS = 2
LONGEST_SOURCE = 300
MOST_RUNS = 10_000
"""The server's limits: tests/api/test_agent_limits.py holds the two together."""

NO_SIDES, NOT_KNOWN = 422, 404


@dataclass(frozen=True)
class Directory:
    """Runs that one README speaks of. `question` is what the user calls them."""

    source: str
    readme: str
    runs: tuple[Run, ...]
    question: str = ""

    def document(self) -> dict[str, Any]:
        """As `POST /api/v1/experiments` takes it."""
        return {
            "source": clean(self.source)[-LONGEST_SOURCE:],
            "readme": clean(self.readme),
            "question": clean(self.question),
            "runs": [str(run.uuid) for run in self.runs[:MOST_RUNS]],
        }


def directories_of(runs: Sequence[Run], name: str = "") -> list[Directory]:
    """Each directory with two runs or more; with a `name`, all runs as one, and the README where
    they lie in one directory."""
    homes: dict[Path, list[Run]] = defaultdict(list)
    for run in runs:
        if run.home is not None:
            homes[run.home].append(run)
    if name:
        readme = read_readme_text(*homes) if len(homes) == 1 else ""
        return [Directory(name, readme, tuple(runs), name)] if len(runs) >= LEAST_RUNS else []
    return [
        Directory(_source(its), read_readme_text(home), tuple(its))
        for home, its in homes.items()
        if len(its) >= LEAST_RUNS
    ]


def _source(runs: Sequence[Run]) -> str:
    """What their directories have in common: the one whose README it is."""
    return commonpath([run.evidence.directory for run in runs if run.evidence] or [""])


def send_experiments(client: Client, directories: Sequence[Directory]) -> Iterator[str]:
    """Tell the server of each; yields the address of each experiment that it holds. Runs that are
    no two sides make none, and a server that knows no experiments is told once."""
    for directory in directories:
        try:
            answer = client.add_experiment(directory.document())
        except RefusedError as error:
            if error.status == NOT_KNOWN and not directory.question:
                return
            if error.status == NO_SIDES and not directory.question:
                continue
            raise
        yield f"{client.server}{answer.get('url', '')}"
