"""What a reader of results is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from labagent.histograms import Histogram, derived_names
from labagent.job import Job
from labagent.model import Finding, Metric
from labagent.readers.formats import UnreadableError

__all__ = ["Measurement", "Output", "Reader", "UnreadableError"]


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
