"""`result = "bench-lab"`: the run fills `{directory}` as bench-lab's scripts do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from labagent.errors import SettingsError
from labagent.job import Job
from labagent.model import Metric, Overrides, Run, runs_of, skips_of
from labagent.readers.benchlab import read_directories
from labagent.readers.benchlab.info import parse_info
from labagent.readers.results.base import Measurement, Output, Reader, UnreadableError
from labagent.reading import UnreadFileError, read_text


def read(output: Output, job: Job, _metric: Metric | None) -> Measurement:
    """The one run of the directory. Its mode, tree and hardware are the job's."""
    overrides = Overrides(job.tree, job.hardware, job.mode)
    try:
        outcomes = list(read_directories([output.directory], overrides))
    except SettingsError as error:
        raise UnreadableError(
            f"{output.directory} holds the logs of more than one mode",
            "let the run measure one configuration with one traffic",
        ) from error
    runs = runs_of(outcomes)
    if len(runs) != 1:
        reasons = "; ".join(f"{skip.where}: {skip.reason}" for skip in skips_of(outcomes))
        found = f"{len(runs)} runs" if runs else "no run"
        raise UnreadableError(
            f"{output.directory} holds {found}" + (f" ({reasons})" * bool(reasons))
        )
    return _measurement(runs[0])


def _measurement(run: Run) -> Measurement:
    values = {samples.metric: samples.values for samples in run.samples}
    findings = {one.metric: one.findings for one in run.samples if one.findings is not None}
    return Measurement(values, run.kernel_ident, run.warnings, findings)


def kernels(directory: Path) -> Iterator[str]:
    """What each whole `.info` says of the kernel: the script writes it before the first iteration.
    One that is being written is passed over."""
    for path in sorted(directory.rglob("bench*.info")):
        with suppress(UnreadFileError):
            info = parse_info(read_text(path))
            if info.uname and not info.old and not info.doubts:
                yield info.uname


READER = Reader("bench-lab", read, kernels=kernels, ends_itself=True)
