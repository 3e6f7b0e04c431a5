"""The result of a job as the run that is uploaded."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from labagent.job import Job
from labagent.limits import WARNING
from labagent.model import RUN_NAMESPACE, clean
from labagent.readers.benchlab.kernel import parse_uname
from labagent.work.progress import BootRecord, Progress, kind_of


def result_document(job: Job, progress: Progress, worker: str) -> dict[str, Any]:
    """The run: the samples of all boots, each with the index of its boot.

    Its UUID follows from the job and what was measured, so a result sent twice is stored once.
    """
    metrics = _metrics(progress.boots)
    build = _build(progress)
    identity = ["job", job.id, job.tree, job.revision, job.hardware, str(job.mode), build, metrics]
    return {
        "uuid": str(uuid.uuid5(RUN_NAMESPACE, json.dumps(identity, sort_keys=True))),
        "tree": job.tree,
        "revision": job.revision,
        "hardware": job.hardware,
        "mode": {
            "workload": job.mode.workload,
            "traffic": job.mode.traffic,
            "options": list(job.mode.options),
        },
        "metrics": _with_validity(metrics, progress.boots),
        "build_id": clean(build),
        "kernel_ident": clean(progress.boots[0].ident),
        "measured_at": progress.started_at,
        "facts": _facts(job, progress, worker),
        "sources": [],
        "warnings": sorted({clean(text)[: WARNING.most] for text in _warnings(progress)}),
    }


def _warnings(progress: Progress) -> Iterator[str]:
    for boot in progress.boots:
        yield from boot.warnings
    yield from filter(None, [progress.unprofiled])


def _metrics(boots: Sequence[BootRecord]) -> dict[str, Any]:
    metrics: dict[str, Any] = {}
    for index, boot in enumerate(boots):
        for name, found in boot.values.items():
            kind = kind_of(found)
            start = {"unit": found["unit"], "better": found["better"], kind: [], "boots": []}
            metric = metrics.setdefault(name, start)
            metric[kind] += found[kind]
            metric["boots"] += [index] * len(found[kind])
    return metrics


def _with_validity(
    metrics: Mapping[str, Mapping[str, Any]], boots: Sequence[BootRecord]
) -> dict[str, Any]:
    """The metrics with what may be wrong with their samples, which is no part of the identity."""
    complete = {name: dict(metric) for name, metric in metrics.items()}
    before = dict.fromkeys(metrics, 0)
    for boot in boots:
        for name, found in boot.values.items():
            for one in found.get("validity", ()):
                moved = {**one, "sample": before[name] + one["sample"]}
                complete[name].setdefault("validity", []).append(moved)
            before[name] += len(found[kind_of(found)])
    return complete


def _build(progress: Progress) -> str:
    """The kernel's own word for its build where it carries a date, else the lab's."""
    return parse_uname(progress.boots[0].ident).build or progress.build_id or ""


def _facts(job: Job, progress: Progress, worker: str) -> dict[str, Any]:
    digest = {"kernel_sha256": progress.digest} if progress.digest else {}
    return {
        **digest,
        "job": job.id,
        "attempt": job.attempt,
        "worker": worker,
        "build_seconds": round(progress.build_seconds, 1),
        "boot_seconds": _seconds(progress.boots, "boot"),
        "run_seconds": _seconds(progress.boots, "run"),
    }


def _seconds(boots: Sequence[BootRecord], stage: str) -> list[float]:
    return [round(boot.seconds.get(stage, 0.0), 1) for boot in boots]


def without_time(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document for a server that does not believe this machine's clock."""
    warning = f"measured at {document['measured_at']} by a clock that the server does not believe"
    return {**document, "measured_at": None, "warnings": [*document["warnings"], warning]}
