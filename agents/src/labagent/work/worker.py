"""The loop: deliver what waits, ask for a job, do it, again, until a signal ends it."""

import json
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType

from labagent.errors import AgentError, UnavailableError
from labagent.job import (
    FAILURE_TAIL,
    Abandoned,
    Cancelled,
    Ended,
    Job,
    JobLog,
    Leased,
    Say,
    StageFailed,
    Watch,
)
from labagent.limits import faults
from labagent.upload import detail_text
from labagent.work.api import Delivery, Heartbeat, JobsApi, Poll, result_document
from labagent.work.commands import end_leftovers
from labagent.work.lab import Lab, Measuring, Task
from labagent.work.state import Progress, Report, StateDirectory, failure

FIRST_SECONDS = 1.0
LONGEST_SECONDS = 60.0


@dataclass
class Pauses:
    """Doubles from `first` to `longest` seconds. Half of each pause is drawn at random, so that the
    agents of a server that was restarted do not all come back at once."""

    first: float = FIRST_SECONDS
    longest: float = LONGEST_SECONDS
    _next: float = field(default=0.0, init=False)

    def next(self, at_least: float | None = None) -> float:
        """Seconds until the next try: each pause twice the last, less up to half at random."""
        now = self._next or self.first
        self._next = min(self.longest, 2 * now)
        return max(now * random.uniform(0.5, 1.0), at_least or 0.0)  # noqa: S311 (no secret)

    def reset(self) -> None:
        """Begin anew with the first pause."""
        self._next = 0.0


SHORTEST_ROUND = 1.0
"""Seconds between two polls, also where the server answers at once that there is nothing."""

MOST_RESTARTS = 10
"""A step during which the agent ends so often ends it, and would do so for ever."""


class Worker:
    """Works on one job at a time. `drain` and `abandon` may be called from any thread."""

    def __init__(
        self,
        api: JobsApi,
        lab: Lab,
        state: StateDirectory,
        *,
        say: Say,
        wait: float,
        pauses: Pauses | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.api = api
        self.lab = lab
        self.state = state
        self.say = say
        self.wait = wait
        self.pauses = pauses or Pauses()
        self.now = now
        self.delivery = Delivery(api, state.outbox, say)
        self._drained = threading.Event()
        self._watch: Watch | None = None

    def drain(self) -> None:
        """End after the job in hand."""
        self._drained.set()

    def abandon(self) -> bool:
        """End the job in hand at once, to be taken up again; whether there was one."""
        self._drained.set()
        watch = self._watch
        if watch is not None:
            watch.stop(Abandoned("abandoned"))
        return watch is not None

    def run(self) -> None:
        """Work until drained. `Abandoned` where the job in hand was left unfinished."""
        with self.state.locked():
            if end_leftovers(self.state.group_file):
                self.say("ended what the worker before this one had left running")
            self._resume()
            while not self._draining:
                self._turn()
            self._part()

    @property
    def _draining(self) -> bool:
        return self._drained.is_set() or self.state.asked_to_drain

    def _resume(self) -> None:
        """Take up the job that was in hand, if the server still wants it from this worker."""
        progress = self.state.progress.load()
        if progress is None:
            return
        if self.state.outbox.contains(progress.leased.id):
            self.state.progress.clear()
            return
        try:
            leased = self._poll(wait=0).job
        except UnavailableError as error:
            self.say(f"{error.message}; going on with job {progress.leased.id} meanwhile")
            leased = progress.leased
        if leased is None or leased.id != progress.leased.id:
            self.say(f"job {progress.leased.id} is no longer this worker's; what it had is dropped")
            self.state.progress.clear()
        if leased is not None:
            self.work(leased)

    def _turn(self) -> None:
        try:
            self.delivery.deliver_all()
            started = time.monotonic()
            found = self._poll(self.wait)
        except UnavailableError as error:
            self._stay_away(error)
            return
        if found.job is None:
            self.pauses.reset()
            left = SHORTEST_ROUND - (time.monotonic() - started)
            self._drained.wait(max(found.pause, left, 0.0))
        elif self.state.outbox.contains(found.job.id):
            # The server holds a job open whose report it could not take: asking again is all.
            self._drained.wait(self.pauses.next())
        else:
            self.pauses.reset()
            self.work(found.job)

    def _poll(self, wait: float) -> Poll:
        return self.api.poll(self.lab.serves(), wait, draining=self._draining)

    def _stay_away(self, error: UnavailableError) -> None:
        pause = self.pauses.next(error.retry_after)
        self.say(f"{error.message}; trying again in {pause:.0f} s")
        self._drained.wait(pause)

    def work(self, leased: Leased) -> None:
        """Do one job and put what came of it into the outbox."""
        self._watch = Watch()
        log = JobLog(self.state.job_directory(leased.id) / "log.txt", self.say, self.now)
        try:
            report = self._attempt(leased, log, self._watch)
        finally:
            self._watch = None
        if report is not None:
            self.state.outbox.put(report)
        self.state.progress.clear()
        self.state.prune_jobs()

    def _attempt(self, leased: Leased, log: JobLog, watch: Watch) -> Report | None:
        """What the server is to be sent; None where it wants to hear nothing."""
        token = leased.lease.token
        try:
            return self._measure(leased, log, watch)
        except StageFailed as error:
            stage, reason = error.stage, error.reason
        except Cancelled as error:
            log.say(f"job {leased.id}: cancelled by the server: {error}")
            stage, reason = "lab", "cancelled"
        except Ended as error:
            log.say(f"job {leased.id}: the server has closed it: {error}")
            return None
        log.say(f"job {leased.id}: failed at {stage}: {reason}")
        body = failure(stage, reason, log.tail(FAILURE_TAIL))
        return Report("fail", leased.id, token, dict(body))

    def _measure(self, leased: Leased, log: JobLog, watch: Watch) -> Report:
        try:
            job = Job.parse(leased.document)
        except AgentError as error:
            raise StageFailed("lab", f"this agent refuses the job: {error}") from error
        progress = self._progress(leased, log, job)
        task = Task(job, self.state.job_directory(job.id), self.state.group_file, log, watch)
        with Heartbeat(self.api, leased, log, watch) as heartbeat:
            self.lab.accept(job)
            try:
                Measuring(
                    task, self.lab, progress, self.state.progress, heartbeat.report
                ).measure_all()
            finally:
                self._clean(task)
        document = self._checked(leased, result_document(job, progress, self.api.worker))
        profiles = [json.loads(Path(one).read_text("utf-8")) for one in progress.profiles]
        return Report("result", leased.id, leased.lease.token, document, profiles)

    def _checked(self, leased: Leased, document: dict[str, object]) -> dict[str, object]:
        """The result, unless the server would not take it: then it is kept beside its reason."""
        found = faults(document)
        if found:
            reason = detail_text(found)
            refused = Report("result", leased.id, leased.lease.token, document)
            path = self.state.outbox.refuse(refused, reason)
            raise StageFailed("run", f"{reason}; the result is kept in {path}")
        return document

    def _progress(self, leased: Leased, log: JobLog, job: Job) -> Progress:
        """The progress on disk where it is this job's, else a new one."""
        progress = self.state.progress.load()
        if progress is not None and progress.leased.id == leased.id:
            progress.renew(leased)
            log.say(f"{job}: going on, {len(progress.boots)} of {job.boots} boots are measured")
        else:
            progress = Progress.begin(leased, self.now().isoformat())
            log.say(f"{job}" + (f" ({job.reason})" if job.reason else ""))
        self.state.progress.save(progress)
        if progress.restarts > MOST_RESTARTS:
            raise StageFailed("lab", f"the agent was started {MOST_RESTARTS} times in one step")
        return progress

    def _clean(self, task: Task) -> None:
        """Tidy up; that it fails is logged and changes nothing about the result."""
        if task.watch.stopped:
            return
        try:
            self.lab.clean(task)
        except StageFailed as error:
            task.log.say(f"job {task.job.id}: {error.reason}")

    def _part(self) -> None:
        """Take leave; a job that a poll has fetched meanwhile is still done."""
        try:
            self.delivery.deliver_all()
            found = self.api.poll(self.lab.serves(), 0, draining=True).job
            if found is not None and not self.state.outbox.contains(found.id):
                self.work(found)
                self.delivery.deliver_all()
        except UnavailableError as error:
            self.say(
                f"{error.message}; what was not delivered waits in {self.state.outbox.directory}"
            )
        self.state.forget_drain()
        self.say("drained")


LEAVING_SECONDS = 15.0
"""How long an abandoned job has to end its commands before the process goes."""

_LOOK_SECONDS = 0.2


def run_until_stopped(worker: Worker, say: Say, wanted: Callable[[], bool] = lambda: True) -> None:
    """Run the worker beside this thread, which hears the signals; `Abandoned` when it was left, by
    a second signal or because it is no longer `wanted`."""
    failed: list[BaseException] = []
    thread = threading.Thread(target=_keep_error, args=(worker.run, failed), daemon=True)
    received = 0

    def hear(_signal: int, _frame: FrameType | None) -> None:
        nonlocal received
        received += 1

    with _handled(hear):
        thread.start()
        heard = 0
        while thread.is_alive():
            thread.join(_LOOK_SECONDS)
            if not wanted():
                _obey(worker, thread, 2, say)
            while heard < received:
                heard += 1
                _obey(worker, thread, heard, say)
    if failed:
        raise failed[0]


def _obey(worker: Worker, thread: threading.Thread, heard: int, say: Say) -> None:
    if heard == 1:
        say("draining: ends after the job or poll in hand; once more abandons it")
        worker.drain()
        return
    if worker.abandon():
        thread.join(LEAVING_SECONDS)
    raise Abandoned("abandoned; the next start goes on")


def _keep_error(run: Callable[[], None], failed: list[BaseException]) -> None:
    try:
        run()
    except BaseException as error:  # noqa: BLE001 (raised again in the main thread)
        failed.append(error)


@contextmanager
def _handled(hear: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    signals = (signal.SIGTERM, signal.SIGINT)
    before = [signal.signal(one, hear) for one in signals]
    try:
        yield
    finally:
        for one, handler in zip(signals, before, strict=True):
            signal.signal(one, handler)
