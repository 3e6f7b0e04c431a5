"""Everything at once: ``python -m benchmarks.load`` prints one JSON object a line.

An instance of its own meets, for three minutes, what a busy day brings together: 3,000 uploads at
even distances (each one revision of a machine in four modes, packed as the agent does), readers
that walk the pages, agents that wait for jobs, slow clients, and webhooks whose endpoints drip. On
most machines one commit costs a tenth of the rate, so that alerts arise. An upload's time counts
from the moment at which it was due. At the end the database is asked for every run that was
answered 201, with its samples.
"""

import argparse
import asyncio
import contextlib
import gzip
import itertools
import json
import os
import random
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx2

from benchmarks._instance import Instance, running
from benchmarks._slow import HALF_A_HEAD, attacking, dripping_upload, slow_reader
from benchmarks.ingest import document
from tests.outbox.slow import SlowServer, dripping, serving
from webapp.results.packed import SamplesField

UPLOADS, SECONDS = 3000, 180.0
READERS, THINKING_SECONDS = 10, 2.0
POLLS, HOLD = 50, 20.0
SLOW_CLIENTS, SLOW_EVERY = 20, 3.0
ENDPOINTS, DRIP_EVERY = 4, 5.0
MACHINES, MODES, STEADY_MACHINES = 12, 4, 4
FIRST, STEP, FIRST_STEP, BETWEEN_STEPS = 300_000, 0.9, 40, 17
LOOK_SECONDS, QUIET_SECONDS = 0.1, 60.0
UPLOAD_GOAL_MS, ALERT_GOAL_SECONDS = 250.0, 5.0
SEED = 20260401
HOOKS = """
import json, sys
from webapp.accounts.models import User
from webapp.outbox.services.endpoints import add_endpoint
operator = User.objects.create_user("load", "load@example.org", "a long password", is_staff=True)
for number, url in enumerate(json.loads(%r)):
    add_endpoint(name=f"slow {number}", url=url, allow_private=True, by=operator)
"""
STORED = """
SELECT run.uuid::text, measurement.samples
  FROM results_run AS run JOIN results_measurement AS measurement ON measurement.run_id = run.id"""
CONFIRMED = """
SELECT member.alert_id, hardware.name, confirmed_by.name
  FROM alerts_alertfinding AS member
  JOIN analysis_finding AS finding ON finding.id = member.finding_id
  JOIN results_series AS series ON series.id = finding.series_id
  JOIN results_hardware AS hardware ON hardware.id = series.hardware_id
  JOIN results_revision AS confirmed_by ON confirmed_by.id = finding.confirmed_by_id"""


@dataclass(frozen=True)
class Upload:
    """One request: a machine's revision in every mode."""

    machine: str
    revision: str
    runs: list[dict[str, Any]]

    def body(self) -> bytes:
        return gzip.compress(json.dumps({"runs": self.runs}).encode(), compresslevel=6, mtime=0)

    def samples(self) -> dict[str, list[float]]:
        """Of each run, by its UUID."""
        return {run["uuid"]: run["metrics"]["pps"]["samples"] for run in self.runs}


@dataclass
class Seen:
    """What the clients saw."""

    statuses: dict[str, Counter[str]] = field(default_factory=dict)
    seconds: dict[str, list[float]] = field(default_factory=dict)
    stored: list[Upload] = field(default_factory=list)
    answered: dict[tuple[str, str], float] = field(default_factory=dict)
    """Machine and revision → when its upload was answered, by the clock that all share."""
    alerts: dict[int, float] = field(default_factory=dict)
    """Alert → when the database first showed it."""
    broken: Counter[str] = field(default_factory=Counter)
    """Paths whose answer was a 5xx."""

    def count(self, who: str, status: object, took: float) -> None:
        self.statuses.setdefault(who, Counter())[str(status)] += 1
        self.seconds.setdefault(who, []).append(took)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load")
    parser.add_argument("--uploads", type=int, default=UPLOADS)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    options = parser.parse_args()
    with (
        contextlib.ExitStack() as stack,
        running(
            DRIFTLINE_WEBHOOKS_ALLOW="127.0.0.0/8", DRIFTLINE_WEBHOOKS_PORTS="1-65535"
        ) as instance,
    ):
        token = instance.manage("create_agent", "bench", "--lab", "benchmarks").split()[-1]
        drip = dripping(b"HTTP/1.1 200 OK\r\n", every=DRIP_EVERY)
        endpoints = [stack.enter_context(serving(drip)) for _ in range(ENDPOINTS)]
        urls = json.dumps([each.url for each in endpoints])
        instance.manage("shell", "--no-imports", "-c", HOOKS % urls)
        Load(instance, token, endpoints, options).measure()


def planned(count: int) -> list[Upload]:
    """The uploads in their order: all machines measure a revision, then all the next one."""
    return [_upload(number % MACHINES, number // MACHINES) for number in range(count)]


def _upload(machine: int, index: int) -> Upload:
    name, revision = f"machine-{machine:02}/nic", FIRST + index
    runs = [document(name, revision, mode) for mode in range(MODES)]
    step_at = FIRST_STEP + BETWEEN_STEPS * (machine - STEADY_MACHINES)
    if machine >= STEADY_MACHINES and index >= step_at:
        for run in runs:
            metric = run["metrics"]["pps"]
            metric["samples"] = [round(value * STEP, 1) for value in metric["samples"]]
    return Upload(name, f"r{revision}", runs)


class Load:
    """All clients of one instance, and what became of what they sent."""

    def __init__(
        self,
        instance: Instance,
        token: str,
        endpoints: Sequence[SlowServer],
        options: argparse.Namespace,
    ) -> None:
        self.instance, self.token, self.endpoints = instance, token, endpoints
        self.uploads = planned(options.uploads)
        self.seconds = options.seconds
        self.seen = Seen()

    def measure(self) -> None:
        kinds = [dripping_upload(self.token), HALF_A_HEAD, slow_reader(), slow_reader()]
        slow = list(itertools.islice(itertools.cycle(kinds), SLOW_CLIENTS))
        _report("load: machine's load average before", os.getloadavg()[0], "processes", 1)
        memory, cpu = self.instance.memory_mb(), self.instance.cpu_seconds()
        began = time.monotonic()
        with attacking(self.instance.port, slow, every=SLOW_EVERY) as cut_off:
            asyncio.run(self._run())
        spent, took = self.instance.cpu_seconds(), time.monotonic() - began
        self._report_clients(cut_off)
        self._report_stored()
        self._report_alerts()
        self._report_endpoints()
        _report_programs("load: memory at begin", memory, "MB (PSS)")
        _report_programs("load: memory at end", self.instance.memory_mb(), "MB (PSS)")
        shares = {name: 100 * (spent[name] - cpu[name]) / took for name in spent if name in cpu}
        _report_programs("load: CPU meanwhile", shares, "% of a core")

    async def _run(self) -> None:
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=None)
        async with httpx2.AsyncClient(
            base_url=f"http://127.0.0.1:{self.instance.port}/", timeout=60, limits=limits
        ) as client:
            others = [
                *(asyncio.create_task(self._read(client, number)) for number in range(READERS)),
                *(asyncio.create_task(self._poll(client, number)) for number in range(POLLS)),
            ]
            look = asyncio.create_task(asyncio.to_thread(self._look, over := asyncio.Event()))
            await self._send_all(client)
            for each in others:
                each.cancel()
            await asyncio.gather(*others, return_exceptions=True)
            await asyncio.to_thread(self._wait_until_quiet)
            over.set()
            await look

    async def _send_all(self, client: httpx2.AsyncClient) -> None:
        """Each at its moment, whether or not those before were answered."""
        began = time.monotonic()
        bodies = [upload.body() for upload in self.uploads[:MACHINES]]
        sending = []
        for number, upload in enumerate(self.uploads):
            due = began + number * self.seconds / len(self.uploads)
            body = bodies[number] if number < len(bodies) else upload.body()
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            sending.append(asyncio.create_task(self._send(client, upload, body, due)))
        await asyncio.gather(*sending)

    async def _send(
        self, client: httpx2.AsyncClient, upload: Upload, body: bytes, due: float
    ) -> None:
        headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
        headers |= {"Authorization": f"Bearer {self.token}"}

        query = "api/v1/runs?register=true"
        answer = await self._ask(client, "uploads", due, query, content=body, headers=headers)
        if answer is not None and answer.status_code == 201:
            self.seen.stored.append(upload)
            self.seen.answered[upload.machine, upload.revision] = time.time()

    async def _read(self, client: httpx2.AsyncClient, number: int) -> None:
        """A person: a page, a pause, the next page."""
        chooser = random.Random(SEED + number)
        while True:
            await asyncio.sleep(chooser.expovariate(1 / THINKING_SECONDS))
            await self._ask(client, "pages", time.monotonic(), self._page(chooser))

    def _page(self, chooser: random.Random) -> str:
        stored = self.seen.stored
        if not stored:
            return "/"
        one, other = chooser.choice(stored), stored[0]
        series = f"tree=freebsd-head&hardware={one.machine}&mode=workload-0&metric=pps"
        sides = f"a=freebsd-head:{other.revision}&b=freebsd-head:{one.revision}"
        alert = f"/alerts/{max(self.seen.alerts)}/" if self.seen.alerts else "/alerts/"
        pages = ["/", "/hardware/", f"/hardware/{one.machine}/", "/alerts/", alert]
        pages += [f"/trends/?{series}", f"/trends/figure.json?{series}", "/trends/"]
        pages += ["/commits/freebsd-head/", f"/commits/freebsd-head/{one.revision}/"]
        pages += [f"/compare/?{sides}", f"/search/?q={one.revision}", "/agents/", "/quality/"]
        return chooser.choice(pages)

    async def _poll(self, client: httpx2.AsyncClient, number: int) -> None:
        body = {
            "worker": f"load-{number}",
            "serves": [{"hardware": f"machine-{number % MACHINES:02}/nic"}],
            "wait": HOLD,
        }
        headers = {"Authorization": f"Bearer {self.token}"}
        while True:
            now = time.monotonic()
            answer = await self._ask(
                client, "polls", now, "api/v1/jobs/poll", json=body, headers=headers
            )
            waited = answer is not None and answer.status_code == 200
            # Unknown hardware, until its first upload; or no place to wait.
            again = answer.json()["poll_again_after"] if answer and waited else 1
            await asyncio.sleep(again or 0)

    async def _ask(
        self, client: httpx2.AsyncClient, who: str, due: float, path: str, **sent: Any
    ) -> httpx2.Response | None:
        """The answer, counted; None where there was none."""
        try:
            answer = await client.request("POST" if sent else "GET", path, **sent)
        except httpx2.TransportError as error:
            self.seen.count(who, type(error).__name__, time.monotonic() - due)
            return None
        self.seen.count(who, answer.status_code, time.monotonic() - due)
        if answer.is_server_error:
            self.seen.broken[path] += 1
        return answer

    def _look(self, over: asyncio.Event) -> None:
        """Note when each alert can first be seen."""
        with self.instance.connect() as connection:
            while not over.is_set():
                for (alert,) in connection.execute("SELECT id FROM alerts_alert"):
                    self.seen.alerts.setdefault(alert, time.time())
                time.sleep(LOOK_SECONDS)

    def _wait_until_quiet(self) -> None:
        dirty = b"SELECT count(*) FROM results_series WHERE dirty_from IS NOT NULL"
        end = time.monotonic() + QUIET_SECONDS
        with self.instance.connect() as connection:
            while connection.execute(dirty).fetchall() != [(0,)]:
                if time.monotonic() > end:
                    raise SystemExit(f"not analysed {QUIET_SECONDS} s after the last upload")
                time.sleep(LOOK_SECONDS)

    def _report_clients(self, cut_off: Counter[str]) -> None:
        for who, counts in self.seen.statuses.items():
            total = counts.total()
            goal = {"goal": UPLOAD_GOAL_MS} if who == "uploads" else {}
            _report_times(f"load: {who}", self.seen.seconds[who], **goal)
            _report(f"load: {who}, answers", total, "answers", total, statuses=dict(counts))
        broken = sum(_broken(each) for each in (*self.seen.statuses.values(), cut_off))
        asked = sum(map(Counter.total, self.seen.statuses.values()))
        _report("load: 5xx or no answer", broken, "answers", asked, goal=0, by=self.seen.broken)
        _report("load: slow clients cut off", cut_off.total(), "times", SLOW_CLIENTS, by=cut_off)

    def _report_stored(self) -> None:
        """Each run answered 201 is there, with the samples that were sent."""
        with self.instance.connect() as connection:
            rows = connection.execute(STORED).fetchall()
        stored = {uuid: SamplesField.unpack(samples) for uuid, samples in rows}
        sent = dict(itertools.chain.from_iterable(u.samples().items() for u in self.seen.stored))
        lost = sum(stored.get(uuid) != samples for uuid, samples in sent.items())
        _report("load: runs lost or changed", lost, "runs", len(sent), goal=0)
        _report(
            "load: runs nobody was notified of", len(stored.keys() - sent.keys()), "runs", len(sent)
        )

    def _report_alerts(self) -> None:
        """From the answer to the first upload that completed the evidence."""
        detectable: dict[int, tuple[float, str, str]] = {}
        with self.instance.connect() as connection:
            for alert, machine, revision in connection.execute(CONFIRMED.encode()):
                its = (self.seen.answered[machine, revision], machine, revision)
                detectable[alert] = min(its, detectable.get(alert, its))
        waits = sorted(
            (max(0.0, self.seen.alerts[alert] - at), f"{machine} {revision}")
            for alert, (at, machine, revision) in detectable.items()
        )
        _report("load: alerts", len(waits), "alerts", MACHINES - STEADY_MACHINES)
        worst = waits[-1][0] if waits else float("nan")
        by = {completed: round(wait, 2) for wait, completed in waits}
        _report(
            "load: alert after its upload, slowest",
            worst,
            "s",
            len(waits),
            goal=ALERT_GOAL_SECONDS,
            by=by,
        )
        if waits:
            middle = waits[len(waits) // 2][0]
            _report("load: alert after its upload, median", middle, "s", len(waits))

    def _report_endpoints(self) -> None:
        reached = sum(each.connections > 0 for each in self.endpoints)
        tries = sum(each.connections for each in self.endpoints)
        _report("load: slow endpoints reached", reached, "endpoints", ENDPOINTS, tries=tries)


def _broken(counts: Counter[str]) -> int:
    """Answers of 5xx, and requests without any; clients that were slow are closed rightly."""
    return sum(
        count
        for status, count in counts.items()
        if status.startswith(("5", "HTTP/1.1 5")) or status.endswith(("Error", "Timeout"))
    )


def _report_times(name: str, seconds: Sequence[float], **goal: float) -> None:
    ordered = sorted(1000 * each for each in seconds)
    for share in (50, 95, 100):
        value = ordered[min(len(ordered) - 1, len(ordered) * share // 100)]
        label = "slowest" if share == 100 else f"p{share}"
        _report(f"{name}: {label}", value, "ms", len(ordered), **(goal if share == 95 else {}))


def _report_programs(name: str, figures: dict[str, float], unit: str) -> None:
    parts = {program: round(value, 1) for program, value in sorted(figures.items())}
    _report(name, sum(figures.values()), unit, len(figures), **parts)


def _report(name: str, value: float, unit: str, n: int, **more: Any) -> None:
    line = {"name": name, "value": round(value, 2), "unit": unit, "n": n}
    print(json.dumps(line | more), flush=True)


if __name__ == "__main__":
    main()
