"""`result = "values"`: numbers on standard output, one a line."""

from __future__ import annotations

from labagent.job import Job
from labagent.model import Metric
from labagent.readers.results.base import Measurement, Output, Reader, UnreadableError
from labagent.readers.results.numbers import finite, printed_lines


def read(output: Output, _job: Job, metric: Metric | None) -> Measurement:
    """One number a line, all of ``metric``. Raises UnreadableError, also without a metric."""
    if metric is None:
        raise UnreadableError("no metric is configured for these values")
    values = [finite(line, where) for path in output.printed for where, line in printed_lines(path)]
    return Measurement({metric: values})


READER = Reader("values", read, needs_metric=True)
