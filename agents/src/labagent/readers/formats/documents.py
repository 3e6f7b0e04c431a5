"""Run documents, as `labagent run --dry-run` and `labagent parse --json` print them: a run with its
boots and its build."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from labagent.histograms import Histogram
from labagent.model import Evidence, Finding, Metric, Mode, Run, Samples, Source
from labagent.readers.formats.base import Content, Format, Printed, Result, UnreadableError
from labagent.readers.formats.numbers import amount, finite, whole

MARKS = frozenset({"uuid", "tree", "revision", "hardware", "mode", "metrics", "build_id"})


def claims(printed: Printed) -> bool:
    """Whether all there is are documents of runs."""
    found = _documents(printed)
    return bool(found) and all(isinstance(one, dict) and one.keys() >= MARKS for one in found)


def _documents(printed: Printed) -> Sequence[Any]:
    found = printed.json if printed.json is not None else printed.json_lines
    return found if isinstance(found, list) else [found]


def read(printed: Printed) -> Content:
    """The runs, and their results with the mode as the case. Raises UnreadableError."""
    if not claims(printed):
        raise UnreadableError(f"{printed.where} holds no document of a run")
    runs = []
    for number, one in enumerate(_documents(printed), 1):
        where = f"{printed.where}: run {number}"
        try:
            runs.append(run_of(one, where))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise UnreadableError(f"{where} is no document of a run: {error!r:.200}") from error
    results = [
        Result(one.metric, one.values, str(run.mode), one.histograms, one.boots)
        for run in runs
        for one in run.samples
    ]
    return Content(results, [text for run in runs for text in run.warnings], runs=runs)


def run_of(document: Mapping[str, Any], where: str) -> Run:
    """The run. Raises UnreadableError, also where the identity is not that of the content, and
    KeyError, TypeError, ValueError or AttributeError for what is no document."""
    mode, evidence = document["mode"], document.get("evidence")
    run = Run(
        tree=str(document["tree"]),
        revision=str(document["revision"]),
        hardware=str(document["hardware"]),
        mode=Mode(str(mode["workload"]), mode.get("traffic"), tuple(map(str, mode["options"]))),
        samples=tuple(_samples(document["metrics"], where)),
        build_id=str(document["build_id"]),
        kernel_ident=str(document["kernel_ident"]),
        measured_at=document["measured_at"],
        sources=tuple(Source(str(one["path"]), str(one["sha256"])) for one in document["sources"]),
        facts=dict(document["facts"]),
        warnings=tuple(map(str, document["warnings"])),
        evidence=None if evidence is None else Evidence(**evidence),
        position=document.get("position"),
    )
    if document["uuid"] != str(run.uuid):
        raise UnreadableError(
            f"{where}: its uuid is not that of its content; it was changed",
            "read the files that it was made of again",
        )
    return run


def _samples(metrics: Mapping[str, Any], where: str) -> Iterator[Samples]:
    for name, one in metrics.items():
        place = f"{where} {name[:80]}"
        values = tuple(finite(value, place) for value in one.get("samples", ()))
        histograms = tuple(_histogram(each, place) for each in one.get("histograms", ()))
        boots = one["boots"]
        if boots is not None:
            boots = tuple(whole(boot, f"{place}: boots") for boot in boots)
            if len(boots) != len(values or histograms):
                raise UnreadableError(f"{place} has not one boot a sample")
        if one["better"] not in ("more", "less"):
            raise UnreadableError(f"{place}: better is neither more nor less")
        metric = Metric(str(name), str(one["unit"]), one["better"])
        findings = _findings(one.get("validity", ()), len(values), place)
        yield Samples(metric, values, boots, findings, histograms)


def _histogram(document: Mapping[str, Any], where: str) -> Histogram:
    pairs = zip(document["values"], document["counts"], strict=True)
    found = [(amount(value, where), whole(count, where)) for value, count in pairs]
    if any(low >= high for (low, _), (high, _) in pairwise(found)):
        raise UnreadableError(f"{where}: the values of a histogram do not rise")
    return Histogram.of(found)


def _findings(
    listed: Sequence[Mapping[str, Any]], count: int, where: str
) -> tuple[tuple[Finding, ...], ...] | None:
    found: list[list[Finding]] = [[] for _ in range(count)]
    for one in listed:
        index = whole(one["sample"], f"{where}: validity")
        if index >= count:
            raise UnreadableError(f"{where}: validity is of sample {index} of {count}")
        found[index].append(Finding(str(one["kind"]), str(one["text"])))
    return tuple(map(tuple, found)) if listed else None


FORMAT = Format("run-document", "the document itself", claims, read, ends_itself=True)
