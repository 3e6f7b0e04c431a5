"""200 agents that wait for jobs: ``python -m benchmarks.jobs`` prints one JSON object a line.

It starts an instance of its own and polls it as agents do, each over a connection of its own, from
one process that costs little itself (asyncio). Jobs come one by one and in bursts while they wait;
who gets one reports it done at once, with a run of five samples, and polls on. At the end the
database is asked: each job is done once, by one lease.
"""

import argparse
import asyncio
import json
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import httpx2

from benchmarks._instance import Instance, running
from benchmarks.ingest import count, document

AGENTS, MACHINES, JOBS, BURST, HOLD = 200, 50, 200, 20, 20.0
SECONDS_BETWEEN, SECONDS_AFTER_A_BURST = 0.4, 5.0
SEED = 20260301
FIRST_REVISION = 300_000
GOAL_MS = 100.0
TWICE = """
(SELECT job_id FROM jobs_jobevent WHERE kind IN ('result', 'late result')
  GROUP BY job_id HAVING count(*) > 1) AS twice
"""
# As `request_jobs` writes them: one statement a burst, and the word that wakes who waits.
QUEUE = """
from django.utils import timezone
from webapp.jobs import services
from webapp.jobs.models import Job
from webapp.results.models import Hardware, Mode, Revision
import json, sys, time
hardware = {row.name: row for row in Hardware.objects.all()}
mode = Mode.objects.get(name="workload-0")
revision = Revision.objects.get(name="r%d")
for line in sys.stdin:
    requests = [services.JobRequest(purpose=Job.Purpose.CONFIRM, revision=revision,
                                    hardware=hardware[name], mode=mode)
                for name in json.loads(line)]
    jobs = services.request_jobs(requests=requests, requested_by=None)
    print(json.dumps({"at": time.time(), "jobs": [job.pk for job in jobs]}), flush=True)
"""


@dataclass
class Seen:
    """What the agents saw."""

    above: list[float] = field(default_factory=list)
    """Seconds of each empty answer above the time that it was asked to wait."""
    calm: int = 0
    """How many of these came before the first job."""
    turned_away: int = 0
    got: dict[int, list[float]] = field(default_factory=dict)
    """Job → the moments at which it was handed out."""
    reported: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    queued: dict[int, float] = field(default_factory=dict)
    """Job → when it was committed."""
    seconds: float = 0.0
    """How long all of it took."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.jobs")
    parser.add_argument("--agents", type=int, default=AGENTS)
    parser.add_argument("--jobs", type=int, default=JOBS)
    parser.add_argument("--hold", type=float, default=HOLD, help="seconds that a poll waits")
    parser.add_argument("--held-polls", type=int, help="DRIFTLINE_HELD_POLLS of the instance")
    options = parser.parse_args()
    variables = {"DRIFTLINE_HELD_POLLS": str(options.held_polls)} if options.held_polls else {}
    with running(**variables) as instance:
        token = instance.manage("create_agent", "bench", "--lab", "benchmarks")
        before = instance.cpu_seconds()
        seen = asyncio.run(_run(instance, token, options))
        after = instance.cpu_seconds()
        _report_jobs(instance, seen)
        _report_times(seen, hold=options.hold)
        for name in ("web", "postgres"):
            cpu = 100 * (after.get(name, 0.0) - before.get(name, 0.0)) / seen.seconds
            _print(f"jobs: CPU of {name}", cpu, "% of a core", options.agents)


async def _run(instance: Instance, token: str, options: argparse.Namespace) -> Seen:
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=None)
    async with httpx2.AsyncClient(
        base_url=f"http://127.0.0.1:{instance.port}/api/v1/",
        headers={"Authorization": f"Bearer {token}"},
        timeout=options.hold + 30,
        limits=limits,
    ) as client:
        machines = [f"machine-{number}/nic" for number in range(MACHINES)]
        runs = [document(name, FIRST_REVISION, 0) for name in machines]
        (await client.post("runs?register=true", json={"runs": runs})).raise_for_status()
        seen = Seen()
        start = time.monotonic()
        agents = [
            asyncio.create_task(_agent(client, number, machines, seen, options.hold))
            for number in range(options.agents)
        ]
        # Everybody waits once to the end before the first job comes.
        await asyncio.sleep(3 * options.hold)
        seen.calm = len(seen.above)
        seen.queued = await _queue(instance, machines, options.jobs)
        await _until_all_are_out(seen, 3 * options.hold)
        await asyncio.sleep(options.hold)
        for agent in agents:
            agent.cancel()
        await asyncio.gather(*agents, return_exceptions=True)
        seen.seconds = time.monotonic() - start
        return seen


async def _agent(
    client: httpx2.AsyncClient, number: int, machines: Sequence[str], seen: Seen, hold: float
) -> None:
    """Polls, reports each job done, polls on. Starts at a moment of its own."""
    await asyncio.sleep(random.Random(SEED + number).uniform(0, hold))
    body = {
        "worker": f"bench-{number}",
        "serves": [{"hardware": machines[number % len(machines)]}],
        "wait": hold,
    }
    while True:
        sent = time.monotonic()
        try:
            answer = await client.post("jobs/poll", json=body)
            took, found = time.monotonic() - sent, answer.json()
            if answer.status_code != 200:
                seen.errors.append(f"{answer.status_code} {answer.text}")
                await asyncio.sleep(1)
            elif found["job"]:
                seen.got.setdefault(found["job"]["id"], []).append(time.time())
                await _report_done(client, found["job"], seen)
            elif found["poll_again_after"]:
                seen.turned_away += 1
                seen.above.append(took)
                await asyncio.sleep(found["poll_again_after"])
            else:
                seen.above.append(took - hold)
        except httpx2.TransportError as error:
            seen.errors.append(repr(error))


async def _report_done(client: httpx2.AsyncClient, job: dict[str, Any], seen: Seen) -> None:
    run = document(job["hardware"], FIRST_REVISION, 0) | {"uuid": str(uuid4())}
    sent = time.monotonic()
    body = {"lease": job["lease"], "run": run}
    answer = await client.post(f"jobs/{job['id']}/result", json=body)
    seen.reported.append(time.monotonic() - sent)
    if answer.status_code != 201:
        seen.errors.append(f"{answer.status_code} {answer.text}")


async def _queue(instance: Instance, machines: Sequence[str], count: int) -> dict[int, float]:
    """Half of the jobs one by one, half in bursts; job → when it was committed."""
    process = await asyncio.create_subprocess_exec(
        *instance.shell(QUEUE % FIRST_REVISION),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        **instance.surroundings(),
    )
    assert process.stdin is not None
    assert process.stdout is not None
    chooser = random.Random(SEED)
    sizes = [1] * (count // 2) + [BURST] * (count // 2 // BURST)
    queued: dict[int, float] = {}
    for size in sizes:
        names = [chooser.choice(machines) for _ in range(size)]
        process.stdin.write(json.dumps(names).encode() + b"\n")
        await process.stdin.drain()
        reply = json.loads(await process.stdout.readline())
        queued |= dict.fromkeys(reply["jobs"], reply["at"])
        await asyncio.sleep(SECONDS_BETWEEN if size == 1 else SECONDS_AFTER_A_BURST)
    process.stdin.close()
    await process.wait()
    return queued


async def _until_all_are_out(seen: Seen, seconds: float) -> None:
    end = time.monotonic() + seconds
    while seen.queued.keys() - seen.got.keys() and time.monotonic() < end:
        await asyncio.sleep(0.1)


def _report_jobs(instance: Instance, seen: Seen) -> None:
    """By the database's word, and by the agents'."""
    with instance.connect() as connection:
        done = count(connection, "jobs_job WHERE state = 'done'")
        twice = count(connection, TWICE)
    queued = len(seen.queued)
    again = sum(len(moments) > 1 for moments in seen.got.values())
    _print("jobs: lost", queued - done, "jobs", queued, goal=0)
    _print("jobs: done twice", twice, "jobs", queued, goal=0)
    _print("jobs: handed out twice", again, "jobs", queued, goal=0)
    _print("jobs: errors", len(seen.errors), "answers", len(seen.above) + len(seen.got), goal=0)
    for error in seen.errors[:5]:
        print(error[:300], file=sys.stderr)


def _report_times(seen: Seen, *, hold: float) -> None:
    delays = [moments[0] - seen.queued[job] for job, moments in seen.got.items()]
    title = "jobs: empty poll above its hold"
    _print_times(title, seen.above[: seen.calm], goal=GOAL_MS, hold=hold)
    _print_times(f"{title}, while others report", seen.above[seen.calm :], hold=hold)
    _print_times("jobs: from commit to the agent", delays)
    _print_times("jobs: result", seen.reported)
    _print("jobs: polls without a place", seen.turned_away, "polls", len(seen.above))


def _print_times(name: str, seconds: Sequence[float], **more: float) -> None:
    ordered = sorted(1000 * each for each in seconds)
    for share in (50, 95):
        value = ordered[len(ordered) * share // 100]
        goal = more if share == 95 else {key: more[key] for key in more if key != "goal"}
        _print(f"{name}: p{share}", value, "ms", len(ordered), **goal)


def _print(name: str, value: float, unit: str, n: int, **more: float) -> None:
    print(json.dumps({"name": name, "value": round(value, 1), "unit": unit, "n": n, **more}))


if __name__ == "__main__":
    main()
