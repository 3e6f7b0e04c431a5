"""The result of a job as the run that is uploaded, and the delivery of what lies in the outbox."""

import json
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from labagent.errors import RefusedError, UnavailableError
from labagent.job import Job
from labagent.limits import WARNING
from labagent.model import RUN_NAMESPACE, clean
from labagent.readers.benchlab.kernel import parse_uname
from labagent.work.api import LEASE_LOST, JobsApi
from labagent.work.running import Say
from labagent.work.state import BootRecord, Outbox, Progress, Report, failure, kind_of


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


_OUR_FAULT = frozenset({401, 403})
_COUNTED = frozenset({"wrong_kernel", "wrong_job", LEASE_LOST})
"""Refusals with which the server has already drawn its conclusion about the job."""


_WORDS = {"result": "result", "fail": "failure", "profiles": "profiles"}


class Delivery:
    """Sends reports, oldest job first, each until the server has answered for it."""

    def __init__(self, api: JobsApi, outbox: Outbox, say: Say) -> None:
        self.api = api
        self.outbox = outbox
        self.say = say

    def deliver_all(self) -> None:
        """Raises `UnavailableError` when nothing gets through, `RefusedError` for a bad token.

        A report on which the server itself fails stays, and does not hold up the others.
        """
        for report in self.outbox.pending():
            try:
                self._deliver(report)
            except UnavailableError as error:
                if error.passing:
                    raise
                self.say(f"job {report.job}: {error}; the {report.kind} waits in the outbox")

    def _deliver(self, report: Report) -> None:
        try:
            self._sender(report)(report)
        except RefusedError as error:
            self._refused(report, error)
            return
        self.say(f"job {report.job}: {_WORDS[report.kind]} delivered")
        if report.kind == "result" and report.profiles:
            self.outbox.put(replace(report, kind="profiles"))
            self._deliver(self._again(report))
            return
        self.outbox.done(report)

    def _sender(self, report: Report) -> Callable[[Report], None]:
        return {
            "result": self._send_result,
            "fail": self._send_failure,
            "profiles": self._send_profiles,
        }[report.kind]

    def _send_result(self, report: Report) -> None:
        self.api.send_result(report.job, report.lease, report.body)

    def _send_profiles(self, report: Report) -> None:
        """One that is refused holds up no other."""
        refused = None
        for profile in report.profiles:
            try:
                self.api.send_profile(report.body["uuid"], profile)
            except RefusedError as error:
                if error.status in _OUR_FAULT:
                    raise
                refused = error
        if refused is not None:
            raise refused

    def _send_failure(self, report: Report) -> None:
        self.api.fail(report.job, report.lease, report.body)

    def _refused(self, report: Report, error: RefusedError) -> None:
        if error.status in _OUR_FAULT:
            raise error
        if _objects_to_time(report, error):
            self.outbox.put(replace(report, body=without_time(report.body)))
            self.say(f"job {report.job}: the server does not believe this clock; sent without time")
            self._deliver(self._again(report))
            return
        reason = "; ".join([str(error), *(f"{d.path}: {d.message}" for d in error.details)])
        path = self.outbox.refuse(report, reason)
        self.say(f"job {report.job}: {report.kind} refused: {reason}; kept in {path}")
        if report.kind == "result" and error.code not in _COUNTED and error.status != 404:
            self._report_refusal(report, reason)

    def _again(self, report: Report) -> Report:
        return next(one for one in self.outbox.pending() if one.job == report.job)

    def _report_refusal(self, report: Report, reason: str) -> None:
        """The job would otherwise stay leased until its lease runs out, and be done once more."""
        body = dict(failure("lab", f"the server refused the result: {reason}", ""))
        refusal = Report("fail", report.job, report.lease, body)
        self.outbox.put(refusal)
        self._deliver(refusal)


def _objects_to_time(report: Report, error: RefusedError) -> bool:
    named = any(detail.path.endswith("measured_at") for detail in error.details)
    return named and report.kind == "result" and report.body.get("measured_at") is not None
