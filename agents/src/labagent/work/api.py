"""What passes between a worker and the server: the jobs API, each of whose methods asks once, the
heartbeat that keeps a lease, the result of a job as the run that is uploaded, and the delivery of
what lies in the outbox.
"""

import json
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, Self

from labagent.client import Client, agent_version
from labagent.errors import AgentError, RefusedError, UnavailableError
from labagent.job import HEARTBEAT_TAIL, Cancelled, Ended, Job, JobLog, Lease, Leased, Say, Watch
from labagent.limits import WARNING
from labagent.model import RUN_NAMESPACE, clean
from labagent.readers.benchlab.kernel import parse_uname
from labagent.work.state import BootRecord, Outbox, Progress, Report, failure, kind_of

LEASE_LOST = "lease_lost"
OVER = frozenset({"done", "failed", "cancelled"})
SHORTEST_LEASE = 1.0


@dataclass(frozen=True)
class Poll:
    """An answer to a poll: a job or none, and how many seconds to stay away."""

    job: Leased | None
    pause: float = 0.0


@dataclass(frozen=True)
class Pulse:
    """An answer to a heartbeat."""

    cancel: bool
    reason: str


class JobsApi:
    """Talks about jobs as one worker, `worker` being its name."""

    def __init__(self, client: Client, worker: str) -> None:
        self.client = client
        self.worker = worker

    def poll(self, serves: Sequence[Mapping[str, Any]], wait: float, *, draining: bool) -> Poll:
        """Wait at most `wait` seconds for a job; the one that this worker holds comes again."""
        body = {
            "serves": list(serves),
            "wait": round(wait),
            "worker": self.worker,
            "version": agent_version(),
            "draining": draining,
        }
        answer = self.client.call("/api/v1/jobs/poll", body)
        pause = answer.get("poll_again_after")
        job = answer.get("job")
        return Poll(
            _leased(job) if job else None,
            float(pause) if isinstance(pause, int | float) else 0.0,
        )

    def heartbeat(self, job: int, lease: str, stage: str, progress: str, log: str) -> Pulse:
        """Renew the lease; whether to stop, and why."""
        body = {"lease": lease, "stage": stage, "progress": progress, "log": log}
        answer = self.client.call(f"/api/v1/jobs/{job}/heartbeat", body)
        return Pulse(bool(answer.get("cancel")), str(answer.get("reason") or ""))

    def send_result(self, job: int, lease: str, run: Mapping[str, Any]) -> None:
        """Send the run that a job asked for."""
        self.client.call(f"/api/v1/jobs/{job}/result", {"lease": lease, "run": run})

    def send_profile(self, run: str, profile: Mapping[str, Any]) -> None:
        """Send a profile of the run with this UUID."""
        self.client.call(f"/api/v1/runs/{run}/profiles", profile)

    def fail(self, job: int, lease: str, failure: Mapping[str, Any]) -> None:
        """`failure` holds stage, reason and log."""
        self.client.call(f"/api/v1/jobs/{job}/fail", {"lease": lease, **failure})

    def is_over(self, job: int) -> bool:
        """Whether the server has closed the job: nobody waits for its result."""
        answer = self.client.fetch(f"/api/v1/jobs/{job}")
        inner = answer.get("job")
        document = inner if isinstance(inner, dict) else answer
        return document.get("state") in OVER


def _leased(document: Any) -> Leased:
    """What the loop itself needs of a job; the rest is read, and refused, later."""
    try:
        number, token, seconds = document["id"], document["lease"], document["lease_seconds"]
        lease = Lease(str(token), max(SHORTEST_LEASE, float(seconds)))
        return Leased({**document, "id": int(number)}, lease)
    except (KeyError, TypeError, ValueError) as error:
        raise RefusedError(
            f"the server gave a job without {error}", "is it newer than this agent?"
        ) from error


BEATS_A_LEASE = 3
"""Two heartbeats may be lost before the lease is."""

LEAST_SECONDS_APART = 1.0


class Heartbeat:
    """A thread that beats three times a lease, and when the stage changes.

    A server that does not answer is no reason to stop: the job goes on, and a late result is taken.
    """

    def __init__(self, api: JobsApi, leased: Leased, log: JobLog, watch: Watch) -> None:
        self.api = api
        self.leased = leased
        self.log = log
        self.watch = watch
        self._stage, self._text = "build", ""
        self._changed = threading.Event()
        self._done = threading.Event()
        self._quiet = False
        self._thread = threading.Thread(target=self._beat_on, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        self._done.set()
        self._changed.set()
        # It may wait for an answer; a job's end does not wait with it.
        self._thread.join(LEAST_SECONDS_APART)

    def report(self, stage: str, text: str) -> None:
        """The stage and the progress that the next heartbeat sends; it goes out at once."""
        self._stage, self._text = stage, text
        self._changed.set()

    def _beat_on(self) -> None:
        while not self._done.is_set() and self._beat():
            self._done.wait(min(LEAST_SECONDS_APART, self._interval))
            self._changed.wait(self._interval)
            self._changed.clear()

    @property
    def _interval(self) -> float:
        return self.leased.lease.seconds / BEATS_A_LEASE

    def _beat(self) -> bool:
        """One heartbeat; whether there is to be another."""
        try:
            pulse = self.api.heartbeat(
                self.leased.id,
                self.leased.lease.token,
                self._stage,
                self._text,
                self.log.tail(HEARTBEAT_TAIL),
            )
        except RefusedError as error:
            return self._refused(error)
        except AgentError as error:
            self._complain(error)
            return True
        self._quiet = False
        if pulse.cancel:
            self.watch.stop(Cancelled(pulse.reason or "cancelled"))
        return not pulse.cancel

    def _refused(self, error: RefusedError) -> bool:
        if error.code != LEASE_LOST:
            self._complain(error)
            return True
        if self._done.is_set():
            return False
        try:
            over = self.api.is_over(self.leased.id)
        except AgentError as trouble:
            self._complain(trouble)
            return True
        if over:
            self.watch.stop(Ended(error.message))
        else:
            self.log.say(f"{error.message}; a late result is still taken, so this goes on")
        return False

    def _complain(self, error: AgentError) -> None:
        """Log once that heartbeats do not arrive, until one does."""
        if not self._quiet and not self._done.is_set():
            self.log.say(f"no heartbeat: {error.message}; the job goes on")
        self._quiet = True


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
        reason = str(error)
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
