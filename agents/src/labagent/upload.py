"""Spool, then send: what `labagent upload` does with runs and their experiments."""

import re
from collections import defaultdict, deque
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from posixpath import commonpath
from typing import Any

from labagent.client import Client, Flags
from labagent.errors import Detail, RefusedError, UnavailableError
from labagent.limits import faults
from labagent.model import Run, Skip, clean
from labagent.readers.benchlab import read_readme_text
from labagent.spool import Batch, Spool

FAULTS_SHOWN = 3
PATIENT_FAILURES = 20
"""To find two bad runs among a hundred takes 16."""

BATCH_RUNS = 100
"""Runs in a request: enough that round trips do not count, few enough to be answered in seconds."""

_RUN_PATH = re.compile(r"^runs\[(\d+)\]\.?")
_ISOLATED = frozenset({404, 409, 413, 422})

Progress = Callable[[int], None]


@dataclass
class Tally:
    """What became of the runs; `waiting` and `refiled` count the runs that wait for a decision and
    those that were known and moved. `rejected` has by UUID which were refused, and why, `failed`
    on which the server itself failed, `warned` which it took otherwise than they were sent.
    `hardware` are the machines of runs that are new.
    """

    stored: int = 0
    replaced: int = 0
    known: int = 0
    waiting: int = 0
    refiled: int = 0
    hardware: set[str] = field(default_factory=set)
    rejected: dict[str, Skip] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    warned: list[Skip] = field(default_factory=list)

    def __str__(self) -> str:
        counts = {
            "stored": self.stored,
            "replaced": self.replaced,
            "refiled": self.refiled,
            "known": self.known,
            "waiting": self.waiting,
            "rejected": len(self.rejected),
        }
        always = ("stored", "known", "rejected")
        return ", ".join(f"{what} {n}" for what, n in counts.items() if n or what in always)


def spool_runs(spool: Spool, documents: Iterable[dict[str, Any]], flags: Flags) -> dict[str, Skip]:
    """Put the documents of runs to disk in batches. Those that no server takes are set aside and
    returned, by their UUIDs."""
    aside: dict[str, Skip] = {}
    taken = _within_limits(spool, documents, aside)
    while batch := list(islice(taken, BATCH_RUNS)):
        spool.add(batch, flags)
    return aside


def _within_limits(
    spool: Spool, documents: Iterable[dict[str, Any]], aside: dict[str, Skip]
) -> Iterator[dict[str, Any]]:
    for document in documents:
        if found := faults(document):
            reason = detail_text(found)
            spool.reject(document, reason)
            aside[document["uuid"]] = Skip(describe(document), reason)
        else:
            yield document


def detail_text(found: Sequence[Detail]) -> str:
    """Faults of one run in a line."""
    more = f"; and {len(found) - FAULTS_SHOWN} more" if len(found) > FAULTS_SHOWN else ""
    return "; ".join(map(str, found[:FAULTS_SHOWN])) + more


def out_of_limits(runs: Iterable[Run]) -> list[Skip]:
    """The runs that no server would take, and why."""
    documents = (run.document() for run in runs)
    checked = ((document, faults(document)) for document in documents)
    return [Skip(describe(document), detail_text(found)) for document, found in checked if found]


class Sender:
    """Sends what the spool holds. Any error but a refusal of single runs stops it; what was not
    answered for stays in the spool.

    A run on which the server itself fails (500) holds up no others: its batch is halved until it
    is alone, and waits. A server that fails `PATIENT_FAILURES` times is left alone.
    """

    def __init__(self, client: Client, spool: Spool, progress: Progress = lambda _runs: None):
        self.client = client
        self.spool = spool
        self.progress = progress
        self.tally = Tally()
        self._failures = 0

    def send_all(self) -> Tally:
        """Send every batch, the oldest first; what became of the runs."""
        waiting = deque(self.spool.pending())
        while waiting:
            batch = self.spool.load(waiting.popleft())
            if batch is not None:
                waiting.extendleft(self._send(batch))
        return self.tally

    def _send(self, batch: Batch) -> list[Path]:
        """Send one batch; the smaller batches that take its place when some of it is refused."""
        try:
            receipt = self.client.send_runs(batch.runs, batch.flags)
        except RefusedError as error:
            return self._isolate(batch, error)
        except UnavailableError as error:
            return self._work_around(batch, error)
        self.tally.stored += receipt.count("stored")
        self.tally.replaced += receipt.count("replaced")
        self.tally.known += receipt.count("known")
        self.tally.waiting += receipt.count("waiting")
        self.tally.refiled += receipt.count("refiled")
        self.tally.hardware |= {
            run["hardware"]
            for run in batch.runs
            if receipt.status.get(run["uuid"]) in ("stored", "replaced")
        }
        self.tally.warned += [
            Skip(describe(run), warning)
            for run in batch.runs
            for warning in receipt.warnings.get(run["uuid"], ())
        ]
        self.spool.done(batch)
        self.progress(len(batch.runs))
        return []

    def _isolate(self, batch: Batch, error: RefusedError) -> list[Path]:
        """Set aside the runs that the server named, or find them by halving; keep the others."""
        named = _named_runs(error.details, len(batch.runs))
        if error.status not in _ISOLATED or (error.status == 404 and not named):
            raise error
        if not named and len(batch.runs) == 1:
            named = {0: [Detail("", str(error))]}
        for index, details in named.items():
            self._reject(batch.runs[index], "; ".join(_reasons(details, error)))
        parts = list(_parts(batch.runs, named))
        paths = [self.spool.add(part, batch.flags) for part in parts]
        self.spool.drop(batch)
        return paths

    def _work_around(self, batch: Batch, error: UnavailableError) -> list[Path]:
        """The halves of a batch on which the server itself fails; a run alone waits."""
        self._failures += 1
        if error.passing or self._failures >= PATIENT_FAILURES:
            raise error
        if len(batch.runs) == 1:
            self.tally.failed[batch.runs[0]["uuid"]] = describe(batch.runs[0])
            return []
        paths = [self.spool.add(part, batch.flags) for part in _parts(batch.runs, {})]
        self.spool.drop(batch)
        return paths

    def _reject(self, run: Mapping[str, Any], reason: str) -> None:
        self.spool.reject(run, reason)
        self.tally.rejected[run["uuid"]] = Skip(describe(run), reason)
        self.progress(1)


def describe(run: Mapping[str, Any]) -> str:
    """A run in words that its uploader recognises."""
    mode = run["mode"]
    traffic = f"@{mode['traffic']}" if mode["traffic"] else ""
    options = "".join(f"+{option}" for option in mode["options"])
    label = run["facts"].get("label", run["uuid"])
    return f"{run['hardware']} {run['revision']} {mode['workload']}{traffic}{options} ({label})"


def _named_runs(details: Iterable[Detail], count: int) -> dict[int, list[Detail]]:
    """The runs of the batch that the error's paths name, with what it states about each."""
    named: dict[int, list[Detail]] = {}
    for detail in details:
        match = _RUN_PATH.match(detail.path)
        if match and int(match.group(1)) < count:
            inner = Detail(detail.path[match.end() :], detail.message)
            named.setdefault(int(match.group(1)), []).append(inner)
    return named


def _reasons(details: Sequence[Detail], error: RefusedError) -> Iterator[str]:
    yield from map(str, details)
    if error.status == 409:
        yield "--replace lets the new content take its place"


def _parts(
    runs: Sequence[dict[str, Any]], named: Mapping[int, object]
) -> Iterator[Sequence[dict[str, Any]]]:
    """What is sent next: all but the named runs, or two halves when none was named."""
    if named:
        rest = [run for index, run in enumerate(runs) if index not in named]
        if rest:
            yield rest
        return
    middle = len(runs) // 2
    yield from (runs[:middle], runs[middle:])


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
