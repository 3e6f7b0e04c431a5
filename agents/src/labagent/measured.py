"""Runs from what a benchmark printed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from labagent.histograms import Histogram
from labagent.model import Evidence, Metric, Mode, Run, Samples, Source
from labagent.readers.formats import Content, Result


@dataclass(frozen=True)
class Origin:
    """All that a run has besides its mode and its samples."""

    tree: str
    revision: str
    hardware: str
    build_id: str
    kernel_ident: str = ""
    position: int | None = None
    measured_at: str | None = None
    sources: tuple[Source, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    evidence: Evidence | None = None


def joined(contents: Sequence[Content], boots: Sequence[int]) -> Content:
    """The contents of several repetitions as one, the samples of each in their order, with the boot
    that the repetition was measured in."""
    found: dict[tuple[str, Metric], list[float]] = {}
    histograms: dict[tuple[str, Metric], list[Histogram]] = {}
    measured: dict[tuple[str, Metric], list[int]] = {}
    warnings: dict[str, None] = {}
    facts: dict[str, Any] = {}
    for content, boot in zip(contents, boots, strict=True):
        warnings |= dict.fromkeys(content.warnings)
        facts |= content.facts
        for one in content.results:
            key = (one.case, one.metric)
            found.setdefault(key, []).extend(one.values)
            histograms.setdefault(key, []).extend(one.histograms)
            count = len(one.values or one.histograms)
            measured.setdefault(key, []).extend([boot] * count)
    results = [
        Result(
            metric,
            tuple(values),
            case,
            tuple(histograms[case, metric]),
            tuple(measured[case, metric]),
        )
        for (case, metric), values in found.items()
    ]
    return Content(results, tuple(warnings), facts)


def runs_from(content: Content, name: str, origin: Origin, mode: Mode | None) -> list[Run]:
    """One run a case; the mode is ``mode`` or called ``name``, with the case after a dot."""
    base = mode or Mode.of(name, None, ())
    cases: dict[str, list[Result]] = {}
    for one in content.results:
        cases.setdefault(one.case, []).append(one)
    return [_run(results, _mode_of(base, case), content, origin) for case, results in cases.items()]


def _mode_of(base: Mode, case: str) -> Mode:
    workload = f"{base.workload}.{case}" if case else base.workload
    return replace(Mode.of(workload, None, ()), traffic=base.traffic, options=base.options)


def _run(results: Iterable[Result], mode: Mode, content: Content, origin: Origin) -> Run:
    samples = [
        Samples(one.metric, one.values, one.boots, histograms=one.histograms) for one in results
    ]
    return Run(
        tree=origin.tree,
        revision=origin.revision,
        hardware=origin.hardware,
        mode=mode,
        samples=tuple(samples),
        build_id=origin.build_id,
        kernel_ident=origin.kernel_ident,
        measured_at=origin.measured_at,
        sources=origin.sources,
        facts={**origin.facts, **content.facts},
        warnings=tuple(content.warnings),
        evidence=origin.evidence,
        position=origin.position,
    )
