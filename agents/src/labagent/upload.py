"""Spool, then send: what `labagent upload` does."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from labagent.client import Client, Flags
from labagent.errors import Detail, RefusedError
from labagent.model import Run, Skip
from labagent.spool import Batch, Spool

BATCH_RUNS = 100
"""Runs in a request: enough that round trips do not count, few enough to be answered in seconds."""

_RUN_PATH = re.compile(r"^runs\[(\d+)\]\.?")
_ISOLATED = frozenset({404, 409, 413, 422})

Progress = Callable[[int], None]


@dataclass
class Tally:
    """What became of the runs sent; `rejected` says which the server refused, and why."""

    stored: int = 0
    replaced: int = 0
    known: int = 0
    rejected: list[Skip] = field(default_factory=list)

    def __str__(self) -> str:
        replaced = f", replaced {self.replaced}" if self.replaced else ""
        return f"stored {self.stored}{replaced}, known {self.known}, rejected {len(self.rejected)}"


def spool_runs(spool: Spool, runs: Iterable[Run], flags: Flags) -> int:
    """Put the runs to disk in batches; how many there were."""
    count = 0
    documents = (run.document() for run in runs)
    while batch := list(islice(documents, BATCH_RUNS)):
        spool.add(batch, flags)
        count += len(batch)
    return count


class Sender:
    """Sends what the spool holds. Any error but a refusal of single runs stops it; what was not
    answered for stays in the spool."""

    def __init__(self, client: Client, spool: Spool, progress: Progress = lambda _runs: None):
        self.client = client
        self.spool = spool
        self.progress = progress
        self.tally = Tally()

    def send_all(self) -> Tally:
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
        self.tally.stored += receipt.count("stored")
        self.tally.replaced += receipt.count("replaced")
        self.tally.known += receipt.count("known")
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

    def _reject(self, run: Mapping[str, Any], reason: str) -> None:
        self.spool.reject(run, reason)
        self.tally.rejected.append(Skip(describe(run), reason))
        self.progress(1)


def describe(run: Mapping[str, Any]) -> str:
    """A run in words that its uploader recognises."""
    mode = run["mode"]
    traffic = f"@{mode['traffic']}" if mode["traffic"] else ""
    options = "".join(f"+{option}" for option in mode["options"])
    label = run["facts"].get("label", run["uuid"])
    return f"{run['hardware']} {run['revision']} {mode['workload']}{traffic}{options} ({label})"


def _named_runs(details: Iterable[Detail], count: int) -> dict[int, list[Detail]]:
    """The runs of the batch that the error's paths name, with what it says about each."""
    named: dict[int, list[Detail]] = {}
    for detail in details:
        match = _RUN_PATH.match(detail.path)
        if match and int(match.group(1)) < count:
            inner = Detail(detail.path[match.end() :], detail.message)
            named.setdefault(int(match.group(1)), []).append(inner)
    return named


def _reasons(details: Sequence[Detail], error: RefusedError) -> Iterator[str]:
    for detail in details:
        yield f"{detail.path}: {detail.message}" if detail.path else detail.message
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
