"""Faults of one run: its files, or what its logs state."""

import os
from collections.abc import Callable
from pathlib import Path
from random import Random

from labagent.readers.benchlab.pairing import PROFILED

from benchmarks.archives.logs import MICROSECONDS
from benchmarks.archives.plan import PlannedDirectory, PlannedRun, Sign

Spoil = Callable[[Random, PlannedDirectory, PlannedRun], Sign | None]
"""Does a fault to one run and returns how it is to show; None where it does not fit this run."""

OVERSIZED = 17 * 1024 * 1024
"""Bytes; more than the agent reads of a log. The file is sparse and takes none on disk."""


def no_info(_rng: Random, directory: PlannedDirectory, run: PlannedRun) -> Sign | None:
    """The other runs of the image name the kernel."""
    others = [one for one in directory.runs if one is not run and one.image == run.image]
    if not any(one.info for one in others) or run.blocked:
        return None
    run.info = ""
    return run.sign if run.sign and run.sign.what != "filed" else Sign("warned", "no .info")


def renamed(rng: Random, _directory: PlannedDirectory, run: PlannedRun) -> Sign | None:
    """`fastforwarding` was renamed to `forwarding` after the run, all files or the values."""
    if run.info != "new" or run.cfg != "forwarding":
        return None
    if rng.random() < 0.5 and run.raw == "" and not run.nested:
        run.log_cfg = run.info_cfg = "fastforwarding"
        run.values = "right"
        return Sign("warned", "results kept")
    run.info_cfg = "fastforwarding"
    return Sign("warned", ".info names")


def edited_values(_rng: Random, _directory: PlannedDirectory, run: PlannedRun) -> Sign | None:
    """A value was changed or left out by hand; the logs count."""
    if run.raw.startswith("RAW."):
        return None
    run.values = "edited"
    return Sign("warned", "than the logs")


def profiled(rng: Random, _directory: PlannedDirectory, run: PlannedRun) -> Sign | None:
    """A profiled run of the same name beside the plain one."""
    run.profiled = rng.choice(("PMC", "PMC/on", "hwpmc", "pmc"))
    return Sign("skipped", PROFILED)


def unreadable(rng: Random, _directory: PlannedDirectory, run: PlannedRun) -> Sign | None:
    """No file, or one that is too large, in the place of a log."""
    run.blocked = rng.choice((os.mkfifo, _dangling, _oversized))
    return Sign("skipped", "receiver")


def binary(rng: Random, _directory: PlannedDirectory, run: PlannedRun) -> Sign | None:
    noise = rng.randbytes(rng.randint(100, 5000))
    rng.choice(run.iterations).damage = lambda _data: noise
    return Sign("warned", "gave no value")


def cut(rng: Random, _directory: PlannedDirectory, run: PlannedRun) -> Sign | None:
    """The log ends early."""
    share = rng.uniform(0.1, 0.95)
    rng.choice(run.iterations).damage = lambda data: data[: int(share * len(data))]
    return Sign("warned", ".receiver: |gave no value")


def crlf(_rng: Random, _directory: PlannedDirectory, run: PlannedRun) -> Sign | None:
    """Every text with the line ends of another system."""
    run.crlf = True
    return run.sign or Sign("filed")


def zero_seconds(rng: Random, _directory: PlannedDirectory, run: PlannedRun) -> Sign | None:
    iteration = rng.choice(run.iterations)
    for at in rng.sample(iteration.measured, rng.randint(1, 5)):
        iteration.seconds[at].packets = 0
    return Sign("found", "zero-seconds")


def missing_seconds(rng: Random, _directory: PlannedDirectory, run: PlannedRun) -> Sign | None:
    """Lines lost from the middle."""
    iteration = rng.choice(run.iterations)
    first = rng.choice(iteration.measured[2:-6])
    del iteration.seconds[first : first + rng.randint(1, 4)]
    return Sign("found", "missing-seconds")


def clock_step(rng: Random, _directory: PlannedDirectory, run: PlannedRun) -> Sign | None:
    """The clock was set back, or one second lasted longer."""
    iteration = rng.choice(run.iterations)
    at = rng.choice(iteration.measured[2:-2])
    if rng.random() < 0.5:
        back = rng.randint(2 * MICROSECONDS, 400 * MICROSECONDS)
        for one in iteration.seconds[at:]:
            one.stamp -= back
    else:
        longer = round(MICROSECONDS * rng.uniform(0.4, 3))
        iteration.seconds[at].length += longer
        for one in iteration.seconds[at:]:
            one.stamp += longer
    return Sign("found", "clock-step")


def saturated_sender(rng: Random, _directory: PlannedDirectory, run: PlannedRun) -> Sign | None:
    """All that was sent arrived; of some it is known that the generator was the limit."""
    iteration = rng.choice(run.iterations)
    value = iteration.value
    if value is None:
        return None
    iteration.sent = value * rng.uniform(1.0, 1.015)
    iteration.is_limited = rng.random() < 0.5
    return Sign("found", "sender-saturated" if iteration.is_limited else "all-arrived")


def warm_up(rng: Random, _directory: PlannedDirectory, run: PlannedRun) -> Sign | None:
    """The rate rises or falls by 5 to 15 % while it is measured."""
    iteration = rng.choice(run.iterations)
    change = rng.choice((-1, 1)) * rng.uniform(0.05, 0.15)
    span = iteration.measured
    is_bent = rng.random() < 0.5

    def share(at: int) -> float:
        left = 1 - (at - span.start) / len(span)
        return 1 - change * max(left, 0) ** (2 if is_bent else 1)

    iteration.scale(span.start, len(iteration.seconds), share)
    return Sign("found", "warm-up")


KINDS: dict[str, Spoil] = {
    "no .info beside one run": no_info,
    "renamed after the run": renamed,
    "value file edited by hand": edited_values,
    "profiled run beside it": profiled,
    "log that cannot be read": unreadable,
    "binary log": binary,
    "log cut": cut,
    "CRLF": crlf,
    "seconds without packets": zero_seconds,
    "missing seconds": missing_seconds,
    "step of the clock": clock_step,
    "saturated sender": saturated_sender,
    "warm-up": warm_up,
}


def _dangling(path: Path) -> None:
    path.symlink_to("nowhere")


def _oversized(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(OVERSIZED)
