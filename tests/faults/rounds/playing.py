"""Round after round: a quiet one first, whose digest all others must have."""

import random
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from http.client import HTTPException
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import psycopg

from tests.faults.rounds.breaking import STARVED, kill
from tests.faults.rounds.fault import Broken, Fault, Skipped
from tests.faults.rounds.rig import Rig, Stuck
from tests.faults.rounds.workload import at_work
from webapp.launcher import StackError

IDENTICAL = "identical"
# What a round may run into: a program that refuses, ends or stays silent. The next one goes on.
FAILURES = (
    *(AssertionError, OSError, HTTPException),
    *(StackError, subprocess.SubprocessError, psycopg.Error),
)
SENT = "SELECT message_id FROM outbox_mail WHERE state = 'sent'"


@dataclass(frozen=True)
class Outcome:
    """What became of one round. `outcome` is `identical`, or what is wrong."""

    fault: str
    outcome: str
    seconds: float
    kills: int = 0
    mails: int = 0
    lost: int = 0
    twice: int = 0
    digest: dict[str, str] = field(default_factory=dict, repr=False)

    @property
    def is_skipped(self) -> bool:
        return self.outcome.startswith("skipped")

    @property
    def is_well(self) -> bool:
        return self.outcome == IDENTICAL and not self.lost

    def line(self) -> dict[str, Any]:
        """As all our benchmarks print theirs."""
        return {
            "name": f"faults: {self.fault}",
            "value": int(self.is_well),
            "unit": "identical to a quiet run",
            "n": self.kills,
            "outcome": self.outcome,
            "mails": self.mails,
            "mails_lost": self.lost,
            "mails_twice": self.twice,
            "seconds": round(self.seconds, 1),
        }


def plan(names: Sequence[str], *, rounds: int, only: str = "") -> list[tuple[str, Fault]]:
    """What starves, then `rounds` of kill -9 over all `names` in turn; those that hold `only`."""
    killing = [(f"kill -9 {name}", kill(name)) for name in islice(cycle(names), rounds)]
    return [each for each in [*STARVED.items(), *killing] if only in each[0]]


def play(rig: Rig, faults: Sequence[tuple[str, Fault]], *, seed: int = 1) -> Iterator[Outcome]:
    """The quiet round, then one for each fault."""
    quiet = _round(rig, "nothing", None, {}, random.Random(seed))
    yield quiet
    for number, (name, fault) in enumerate(faults):
        yield _round(rig, name, fault, quiet.digest, random.Random(seed * 1000 + number))


def _round(
    rig: Rig, name: str, fault: Fault | None, wanted: dict[str, str], draw: random.Random
) -> Outcome:
    start, broken, digest, outcome = time.monotonic(), Broken(), {}, ""
    with tempfile.TemporaryDirectory(prefix="driftline-faults-") as place:
        try:
            with at_work(rig, Path(place)) as work:
                broken = fault(rig, work, draw) if fault else broken
                work.finish()
                digest = rig.digest()
                outcome = broken.wrong or _compared(digest, wanted or digest)
        except Skipped as skipped:
            outcome = f"skipped: {skipped}"
        except Stuck as stuck:
            outcome = f"stuck: waited in vain for {stuck}"
        except FAILURES as failure:
            outcome = f"failed: {_one_line(failure)}"
    left = rig.make_sound()
    copies = rig.mails.copies
    stored = {row[0] for row in rig.system.rows(SENT)}
    return Outcome(
        fault=name,
        outcome=outcome if outcome != IDENTICAL or not left else f"left running: {left}",
        seconds=time.monotonic() - start,
        kills=broken.kills,
        mails=len(stored),
        lost=len(stored - copies.keys()),
        twice=sum(number - 1 for number in copies.values()),
        digest=digest,
    )


def _one_line(failure: Exception) -> str:
    reason = getattr(failure, "stderr", None) or str(failure)
    return f"{type(failure).__name__}: {' '.join(str(reason).split())[-1000:]}"


def _compared(found: dict[str, str], wanted: dict[str, str]) -> str:
    parts = [part for part in wanted if found.get(part) != wanted[part] and part != "all"]
    return f"differs: {', '.join(parts)}" if parts else IDENTICAL
