"""Experiments: what a server is told of the directories that an upload was read from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from posixpath import commonpath
from typing import Any

from labagent.client import Client
from labagent.errors import RefusedError
from labagent.model import Run, Skip, clean
from labagent.readers.benchlab import read_readme_text

LEAST_RUNS = 2
LONGEST_SOURCE = 300
MOST_RUNS = 10_000
"""The server's limits: tests/api/test_agent_limits.py holds the two together."""

NOT_KNOWN = 404
NOT_ALLOWED = frozenset({401, 403})

NO_EXPERIMENTS = "the server makes no reports"


@dataclass(frozen=True)
class Directory:
    """Runs that one README speaks of. `question` is what the user calls them, `baseline` the side
    that the others are compared with; empty: the server's choice."""

    source: str
    readme: str
    runs: tuple[Run, ...]
    question: str = ""
    baseline: str = ""

    def document(self) -> dict[str, Any]:
        """As `POST /api/v1/experiments` takes it."""
        baseline = {"baseline": clean(self.baseline)} if self.baseline else {}
        return baseline | {
            "source": clean(self.source)[-LONGEST_SOURCE:],
            "readme": clean(self.readme),
            "question": clean(self.question),
            "runs": [str(run.uuid) for run in self.runs[:MOST_RUNS]],
        }


@dataclass
class Made:
    """The addresses of the experiments that a server holds of `directories`, why it holds none of
    the others, and which two may be one report (`offers`: the address where, and both names)."""

    directories: int
    addresses: list[str] = field(default_factory=list)
    others: list[Skip] = field(default_factory=list)
    offers: list[tuple[str, str, str]] = field(default_factory=list)


def directories_of(runs: Sequence[Run], name: str = "", baseline: str = "") -> list[Directory]:
    """Each directory; with a `name`, all runs as one, and the README where they lie in one
    directory."""
    homes: dict[Path, list[Run]] = defaultdict(list)
    for run in runs:
        if run.home is not None:
            homes[run.home].append(run)
    if name:
        readme = read_readme_text(*homes) if len(homes) == 1 else ""
        return [Directory(name, readme, tuple(runs), name, baseline)] if runs else []
    return [
        Directory(_source(its), read_readme_text(home), tuple(its), baseline=baseline)
        for home, its in homes.items()
    ]


def _source(runs: Sequence[Run]) -> str:
    """What their directories have in common: the one whose README it is."""
    return commonpath([run.evidence.directory for run in runs if run.evidence] or [""])


def send_experiments(
    client: Client, directories: Sequence[Directory], missing: Container[str], made: Made
) -> None:
    """Have the server make an experiment of each, without the runs that it does not hold (the UUIDs
    `missing`); `made` takes what became of them. Runs that are no two sides make none, and a
    server that knows no experiments is asked once.

    Raises RefusedError for an agent that may not, and for an experiment that the user named.
    """
    for directory in directories:
        stored = tuple(run for run in directory.runs if str(run.uuid) not in missing)
        if len(stored) < LEAST_RUNS:
            made.others.append(Skip(directory.source, _too_few(directory, stored)))
            continue
        try:
            answer = client.add_experiment(replace(directory, runs=stored).document())
        except RefusedError as error:
            if directory.question or error.status in NOT_ALLOWED:
                raise
            if error.status == NOT_KNOWN:
                made.others = [Skip(one.source, NO_EXPERIMENTS) for one in directories]
                return
            why = "; ".join(one.message for one in error.details) or error.message
            made.others.append(Skip(directory.source, why))
        else:
            made.addresses.append(f"{client.server}{answer.get('url', '')}")
            made.offers += _offers(client.server, answer)


def _offers(server: str, answer: dict[str, Any]) -> list[tuple[str, str, str]]:
    """What is not made of two directories yet, each pair once: where the second was sent."""
    return [
        (f"{server}{answer.get('url', '')}", answer.get("source", ""), one.get("source", ""))
        for one in answer.get("beside", ())
        if one.get("both") is None
    ]


def _too_few(directory: Directory, stored: Sequence[Run]) -> str:
    if len(stored) == len(directory.runs):
        return "a single run"
    refused = len(directory.runs) - len(stored)
    return f"{refused} of its {len(directory.runs)} runs were not taken"
