"""`result = NAME` of any format: the standard output of each iteration."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from labagent.histograms import Histogram
from labagent.job import Job
from labagent.model import Metric, safe_name
from labagent.readers.formats import Content, Format, Printed, Result, read_results
from labagent.readers.results.base import Measurement, Output, Reader, UnreadableError
from labagent.reading import MAX_LOG_BYTES, UnreadFileError, read_text


def reader_of(form: Format) -> Reader:
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
