"""Speed of uploads: ``python -m benchmarks.ingest`` prints one JSON object a line.

It starts an instance of its own (embedded PostgreSQL with its default durability, the web server
as the product configures it) and uploads from processes that keep their connections. A request
carries one machine's revision: 20 runs, one a mode, of 5 samples each.
"""

import argparse
import contextlib
import gzip
import hashlib
import json
import multiprocessing
import random
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from http.client import HTTPConnection
from itertools import chain
from statistics import median
from typing import Any
from uuid import UUID, uuid5

from benchmarks._bare import TRANSACTIONS, measure_limit
from benchmarks._instance import Instance, running
from webapp.launcher.postgres import OWNER

MODES, SAMPLES = 20, 5
REQUESTS, BATCHES, RUNS_A_BATCH = 2_000, 40, 500
WARM_UP = 40
PROGRAMS = ("front", "web", "postgres", "worker", "redis")
REPEATS = 5
LOGGED = re.compile(rb"LOG:  (?:statement|execute [^:]*): ")
FIRST_REVISION = 300_000
SEED = 20160801
NAMESPACE = UUID("6e0c1c3c-5d58-4d8c-9d2b-0c3f4b8f1f0a")
Body = bytes


@dataclass(frozen=True)
class Answered:
    """One request: when it was sent and answered, in seconds of a clock all processes share."""

    sent: float
    answered: float

    @property
    def milliseconds(self) -> float:
        return (self.answered - self.sent) * 1000


@dataclass(frozen=True)
class Part:
    """Some requests, and the processor time in seconds that each program spent on them."""

    answers: list[Answered]
    cpu: dict[str, float]

    @property
    def seconds(self) -> float:
        return self.answers[-1].answered - min(each.sent for each in self.answers)

    @property
    def rate(self) -> float:
        """Answers a second."""
        return len(self.answers) / self.seconds

    def cpu_ms(self) -> dict[str, float]:
        """Milliseconds of each program for each request."""
        return {
            name: round(1000 * value / len(self.answers), 2) for name, value in self.cpu.items()
        }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ingest")
    parser.add_argument("--requests", type=int, default=REQUESTS)
    requests = parser.parse_args().requests
    with running() as instance:
        token = instance.manage("create_agent", "bench", "--lab", "benchmarks")
        bench = Bench(instance, token, requests)
        instance.control("stop", "worker", "beat")
        bench.requests("ingest, 4 clients", clients=4)
        bench.requests("ingest, 1 client", clients=1)
        bench.requests("ingest, 4 clients, one machine", clients=4, machines=1)
        bench.batches("ingest, batches of 500 runs, 1 client")
        instance.control("start", "worker", "beat")
        bench.requests("ingest, 4 clients, worker analysing", clients=4)
        bench.check()
        bench.statements()
        for clients in (1, 4):
            for runs in (1, MODES):
                limit = measure_limit(instance, clients=clients, runs=runs)
                name = f"bare psycopg, {runs} run rows a transaction, clients: {clients}"
                report(name, limit, "transactions/s", n=clients * TRANSACTIONS)


class Bench:
    """Uploads to one instance, each measurement to machines of its own."""

    def __init__(self, instance: Instance, token: str, requests: int) -> None:
        self.instance = instance
        self.token = token
        self.count = requests
        self.runs = 0

    def requests(
        self,
        name: str,
        *,
        clients: int,
        machines: int | None = None,
        oldest: int = FIRST_REVISION,
    ) -> None:
        """Requests of one revision each, from ``oldest`` on, from `clients` processes, spread over
        `machines`.
        """
        machines = machines or clients
        total = self.count + WARM_UP
        bodies = [body(f"{name}-{i % machines}", [oldest + i // machines]) for i in range(total)]
        warm, measured = bodies[:WARM_UP], bodies[WARM_UP:]
        self._send(warm, clients)
        tenth = max(1, len(measured) // 10)
        parts = measured[:tenth], measured[tenth:-tenth], measured[-tenth:]
        first, middle, last = [self._timed(part, clients) for part in parts]
        self.runs += total * MODES
        seconds = sum(part.seconds for part in (first, middle, last))
        answers = [*first.answers, *middle.answers, *last.answers]
        figures = latencies(answers) | {
            "last_tenth_per_first": round(last.rate / first.rate, 3),
            **{f"{name}_cpu_ms": value for name, value in middle.cpu_ms().items()},
        }
        if middle.cpu:
            ratio = sum(last.cpu_ms().values()) / sum(first.cpu_ms().values())
            figures["last_tenth_cpu_per_first"] = round(ratio, 3)
        report(name, len(answers) / seconds, "requests/s", n=len(answers), **figures)

    def fill(self, requests: int, *, machines: int, clients: int = 4) -> None:
        """So many requests, spread over ``machines``; then wait for the analysis."""
        bodies = [
            body(f"machine-{i % machines}", [FIRST_REVISION + i // machines])
            for i in range(requests)
        ]
        self._send(bodies, clients)
        self.runs += requests * MODES
        self.check()

    def _timed(self, bodies: Sequence[Body], clients: int) -> "Part":
        before = self.instance.cpu_seconds()
        answers = self._send(bodies, clients)
        after = self.instance.cpu_seconds()
        spent = {name: after[name] - before[name] for name in PROGRAMS if name in before}
        return Part(answers, spent)

    def batches(self, name: str) -> None:
        """Requests of the largest batch, from one client, as an agent with a long history."""
        revisions = RUNS_A_BATCH // MODES
        bodies = [
            body(name, range(first, first + revisions))
            for first in range(FIRST_REVISION, FIRST_REVISION + BATCHES * revisions, revisions)
        ]
        answers = self._send(bodies, 1)
        self.runs += BATCHES * RUNS_A_BATCH
        rate = Part(answers, {}).rate * RUNS_A_BATCH
        report(name, rate, "runs/s", n=BATCHES, **latencies(answers))

    def await_analysis(self) -> None:
        with self.instance.connect() as connection:
            while count(connection, "results_series WHERE dirty_from IS NOT NULL"):
                time.sleep(0.2)

    def check(self) -> None:
        """Every run is there with its samples and its point, and everything was analysed."""
        self.await_analysis()
        with self.instance.connect() as connection:
            for table in ("run", "measurement", "point"):
                found = count(connection, f"results_{table}")
                if found != self.runs:
                    raise SystemExit(f"{found} rows of {table}, not {self.runs}")
            series = count(connection, "results_series")
            first = count(connection, "analysis_notedpoint WHERE NOT is_compared")
            if first != series:
                raise SystemExit(f"{first} points without one before them, not {series}")

    def statements(self) -> None:
        """What PostgreSQL logs for one request of a new revision, BEGIN and COMMIT included."""
        self.instance.administrate(f"ALTER ROLE {OWNER} SET log_statement = 'all'")
        self.instance.control("stop", "worker", "beat")
        self.instance.control("restart", "web")
        unknown = iter(range(FIRST_REVISION))
        many = [body("statements", [next(unknown)]) for _ in range(WARM_UP + REPEATS)]
        few = [body("statements", [next(unknown)], modes=2) for _ in range(REPEATS)]
        self._wait_for_web()
        self._send(many[:WARM_UP], 4)
        for runs, measured in ((MODES, many[WARM_UP:]), (2, few)):
            counts = [self._statements_of(each) for each in measured]
            report(f"SQL statements, {runs} runs", median(counts), "statements", n=REPEATS)

    def _wait_for_web(self) -> None:
        """Until Gunicorn answers: Caddy before it listens all the time."""
        while True:
            connection = HTTPConnection("127.0.0.1", self.instance.port, timeout=60)
            with contextlib.suppress(OSError):
                connection.request("GET", "/healthz")
                if connection.getresponse().status == HTTPStatus.OK:
                    return
            time.sleep(0.1)

    def _statements_of(self, request: Body) -> int:
        log = self.instance.state / "logs" / "postgres.log"
        before = log.stat().st_size
        self._send([request], 1)
        new = log.read_bytes()[before:]
        return len(LOGGED.findall(new))

    def _send(self, bodies: Sequence[Body], clients: int) -> list[Answered]:
        context = multiprocessing.get_context("spawn")
        barrier, queue = context.Barrier(clients), context.Queue()
        processes = [
            context.Process(
                target=client,
                args=(self.instance.port, self.token, bodies[i::clients], barrier, queue),
            )
            for i in range(clients)
        ]
        for process in processes:
            process.start()
        answers = list(chain.from_iterable(queue.get() for _ in processes))
        for process in processes:
            process.join()
        return sorted(answers, key=lambda each: each.answered)


def client(port: int, token: str, bodies: Sequence[Body], barrier: Any, queue: Any) -> None:
    """One client process with one connection."""
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    headers = {
        "Authorization": f"Bearer {token}",
        "Content-Type": "application/json",
        "Content-Encoding": "gzip",
    }
    connection.connect()
    barrier.wait()
    answers = []
    for each in bodies:
        sent = time.monotonic()
        connection.request("POST", "/api/v1/runs?register=true", each, headers)
        response = connection.getresponse()
        text = response.read()
        if response.status != 201:
            raise SystemExit(f"{response.status}: {text.decode()}")
        answers.append(Answered(sent, time.monotonic()))
    queue.put(answers)


def body(machine: str, revisions: Sequence[int], *, modes: int = MODES) -> Body:
    """A request as the agent sends it: the runs of `revisions`, each in every mode."""
    hardware = f"{machine.replace(',', '').replace(' ', '-')}/nic"
    rows = [document(hardware, revision, mode) for revision in revisions for mode in range(modes)]
    return gzip.compress(json.dumps({"runs": rows}).encode(), compresslevel=6, mtime=0)


def document(hardware: str, revision: int, mode: int) -> dict[str, Any]:
    """A run as `labagent parse` prints it, with samples that depend on nothing but the run."""
    uuid = uuid5(NAMESPACE, f"{hardware} {revision} {mode}")
    generator = random.Random(f"{SEED} {uuid}")
    level = 500_000 * (1 + mode / 10)
    workload = f"workload-{mode}"
    kernel = f"FreeBSD 12.0-CURRENT #0 r{revision}M: Tue Aug  2 10:00:00 UTC 2016 amd64"
    return {
        "uuid": str(uuid),
        "tree": "freebsd-head",
        "revision": f"r{revision}",
        "hardware": hardware,
        "mode": {"workload": workload, "traffic": None, "options": []},
        "metrics": {
            "pps": {
                "unit": "packets/s",
                "better": "more",
                "samples": [round(generator.gauss(level, level / 100), 1) for _ in range(SAMPLES)],
                "boots": list(range(SAMPLES)),
            }
        },
        "build_id": kernel,
        "kernel_ident": kernel,
        "measured_at": None,
        "facts": {"label": "fbsd.2016", "topic": "firewalls", "image": str(revision)},
        "sources": [
            {
                "path": f"fbsd.2016/bench.{revision}.{workload}.{i}.receiver",
                "sha256": hashlib.sha256(f"{uuid} {i}".encode()).hexdigest(),
            }
            for i in range(1, SAMPLES + 1)
        ],
        "warnings": [],
    }


def latencies(answers: Sequence[Answered]) -> dict[str, float]:
    """Of each request, as its client saw it."""
    ordered = sorted(each.milliseconds for each in answers)
    return {
        "p50_ms": round(ordered[len(ordered) // 2], 2),
        "p95_ms": round(ordered[len(ordered) * 95 // 100], 2),
    }


def count(connection: Any, rows: str) -> int:
    return int(connection.execute(f"SELECT count(*) FROM {rows}").fetchone()[0])  # noqa: S608


def report(name: str, value: float, unit: str, *, n: int, **figures: object) -> None:
    line = {"name": name, "value": round(value, 1), "unit": unit, "n": n}
    print(json.dumps({**line, **figures}), flush=True)


if __name__ == "__main__":
    main()
