"""What a lab's `run` command leaves behind, by the word `result` in the configuration.

`bench-lab` is a directory, which the run fills as bench-lab's scripts do; any other kind is a
format in `labagent.readers.formats`, of the standard output of each iteration.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from labagent.errors import SettingsError
from labagent.files import MAX_LOG_BYTES, UnreadFileError, read_text
from labagent.histograms import Histogram, derived_names
from labagent.job import Job
from labagent.model import Finding, Metric, Overrides, Run, runs_of, safe_name, skips_of
from labagent.readers.benchlab import read_directories
from labagent.readers.benchlab.info import parse_info
from labagent.readers.formats import (
    FORMATS,
    Content,
    Format,
    Printed,
    Result,
    UnreadableError,
    read_results,
)

__all__ = ["READERS", "Measurement", "Output", "Reader", "UnreadableError"]


@dataclass(frozen=True)
class Output:
    """What one boot left behind: its directory, and the standard output of each iteration."""

    directory: Path
    printed: Sequence[Path]


@dataclass(frozen=True)
class Measurement:
    """The samples or histograms of one boot by metric. `ident` is the kernel's where the files say
    it; `findings`, where the reader judges what it reads, has those of each sample."""

    values: Mapping[Metric, Sequence[float]]
    ident: str = ""
    warnings: Sequence[str] = field(default=())
    findings: Mapping[Metric, Sequence[Sequence[Finding]]] = field(default_factory=dict)
    histograms: Mapping[Metric, Sequence[Histogram]] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """The metrics, as the server has them."""
        derived = (derived_names(metric.name) for metric in self.histograms)
        return [*(metric.name for metric in self.values), *sorted(set().union(*derived))]


@dataclass(frozen=True)
class Reader:
    """How results of one kind are read; `needs_metric` where they do not say what they measure.

    `kernels` are what the files in a boot's directory say of the kernel while the run goes on.
    `ends_itself` where results show by themselves that they are complete, whatever the command that
    left them did afterwards.
    """

    name: str
    read: Callable[[Output, Job, Metric | None], Measurement]
    needs_metric: bool = False
    kernels: Callable[[Path], Iterable[str]] = lambda _directory: ()
    ends_itself: bool = False


def _read_benchlab(output: Output, job: Job, _metric: Metric | None) -> Measurement:
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


def _kernels(directory: Path) -> Iterator[str]:
    """What each whole `.info` says of the kernel: the script writes it before the first iteration.
    One that is being written is passed over."""
    for path in sorted(directory.rglob("bench*.info")):
        with suppress(UnreadFileError):
            info = parse_info(read_text(path))
            if info.uname and not info.old and not info.doubts:
                yield info.uname


def _reader_of(form: Format) -> Reader:
    """The reader of what `run` prints in this format."""
    read = partial(_read, form)
    return Reader(form.name, read, needs_metric=form.needs_metric, ends_itself=form.ends_itself)


def _read(form: Format, output: Output, job: Job, metric: Metric | None) -> Measurement:
    """The samples of all iterations. Raises UnreadableError."""
    if form.needs_metric and metric is None:
        raise UnreadableError("no metric is configured for these values")
    values: dict[Metric, list[float]] = {}
    histograms: dict[Metric, list[Histogram]] = {}
    warnings: dict[str, None] = {}
    for path in output.printed:
        content = read_results(Printed(_text(path), path.name, metric), form)
        warnings |= dict.fromkeys(content.warnings)
        for one in _of_the_job(content, job, path):
            if one.histograms:
                histograms.setdefault(one.metric, []).extend(one.histograms)
            else:
                values.setdefault(one.metric, []).extend(one.values)
    return Measurement(values, warnings=tuple(warnings), histograms=histograms)


def _text(path: Path) -> str:
    try:
        return read_text(path, MAX_LOG_BYTES)
    except UnreadFileError as error:
        raise UnreadableError(str(error)) from error


def _of_the_job(content: Content, job: Job, path: Path) -> Sequence[Result]:
    """The results of the one case, or of that which the job's workload is named after; only those
    whose direction is known."""
    cases = {one.case for one in content.results}
    wanted = job.mode.workload
    named = {case for case in cases if wanted.endswith(f".{safe_name(case)}")}
    if len(cases) > 1 and len(named) != 1:
        some = ", ".join(sorted(cases)[:5])
        raise UnreadableError(
            f"{path.name} holds {len(cases)} cases ({some})",
            f"name the workload after one of them, as {wanted}.{safe_name(min(cases))}",
        )
    of_one = [one for one in content.results if one.case in (named or cases)]
    known = [one for one in of_one if one.metric.better]
    if not known:
        raise UnreadableError(f"{path.name}: {of_one[0].metric.name} has no direction")
    return known


READERS: dict[str, Reader] = {
    one.name: one
    for one in (
        Reader("bench-lab", _read_benchlab, kernels=_kernels, ends_itself=True),
        *map(_reader_of, FORMATS.values()),
    )
}
