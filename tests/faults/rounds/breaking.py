"""What is broken. Each function breaks one thing while the work is under way, and mends it."""

import os
import random
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import redis

from tests.faults.rounds.clocks import clock
from tests.faults.rounds.fault import Broken, Fault, Skipped
from tests.faults.rounds.rig import Rig
from tests.faults.rounds.workload import Work
from tests.launcher.running import Launch, free_port
from tests.system.running import wait_for
from webapp.config import instance
from webapp.launcher import processes

OURS = ("launcher", "supervisord", "agent", "import")
KILLS = 2
# What PostgreSQL may give back while the disk is being filled: a segment of its log
MOST_ROOM = 16 * 2**20
# Those of all versions: nobody reads a list that is not his.
QUEUES = ("celery", "analysis", "deliveries")
DAYS = 3
ENDPOINTS = """
import sys
from webapp.accounts.models import User
from webapp.outbox.models import Endpoint
ports = {ports}
Endpoint.objects.all().delete()
for port in ports:
    Endpoint.objects.create(name=f"slow {{port}}", url=f"http://127.0.0.1:{{port}}/",
                            allow_private=True)
"""
POISON = """
from webapp.config.celery import app
app.send_task("webapp.nothing.of_that_name", args=[1])
for name in sorted(app.tasks):
    if name.startswith("webapp."):
        app.send_task(name, args=["poison", {"not": "an id"}, None], kwargs={"nonsense": 1})
"""


def targets(rig: Rig) -> list[str]:
    """Everything that can be killed: what the supervisor runs, and what it does not."""
    return [*sorted(rig.programs()), *OURS]


def kill(target: str) -> Fault:
    """kill -9 of one program, again and again, alone or with all its processes."""

    def fault(rig: Rig, work: Work, draw: random.Random) -> Broken:
        for _ in range(KILLS):
            time.sleep(draw.uniform(0.2, 2.0))
            _kill_once(target, rig, work, whole=draw.random() < 0.5)
            rig.revive()
        return Broken(kills=KILLS)

    return fault


def _kill_once(target: str, rig: Rig, work: Work, *, whole: bool) -> None:
    if target == "launcher":
        rig.launch.kill()
        if whole:  # a service manager that waits; else the next start meets what is left
            wait_for(lambda: not rig.launch.running(), 120)
    elif target in ("agent", "import"):
        _kill_client(target, work)
    elif target == "supervisord":
        lost = rig.launch.pid(target)
        _kill_program(lost, whole=whole)
        wait_for(lambda: rig.launch.pid(target) != lost, 120)  # the launcher starts another
    else:
        wait_for(lambda: target in rig.programs(), 60)
        _kill_program(rig.programs()[target], whole=whole)


def _kill_client(target: str, work: Work) -> None:
    """The agent, or the import: that one is begun again when it had come to its end already."""
    restart = work.restart_agent if target == "agent" else work.restart_upload
    process = work.client(target)
    if process is None or process.poll() is not None:
        restart()
        process = work.client(target)
    assert process
    process.kill()
    process.communicate()
    restart()


def _kill_program(pid: int, *, whole: bool) -> None:
    group = [each.pid for each in processes.running() if each.group == pid]
    for one in group if whole else [pid]:
        with suppress(ProcessLookupError):
            os.kill(one, signal.SIGKILL)


def redis_flushed(rig: Rig, _work: Work, draw: random.Random) -> Broken:
    """Redis forgets everything, three times."""
    client = redis.Redis(unix_socket_path=str(_sockets(rig) / "redis.sock"))
    for _ in range(3):
        time.sleep(draw.uniform(0.2, 1.0))
        client.flushall()
    return Broken()


def redis_gone(rig: Rig, _work: Work, _draw: random.Random) -> Broken:
    """Redis is away for five seconds."""
    rig.system.control("stop", "redis")
    time.sleep(5)
    rig.system.control("start", "redis")
    return Broken()


def poison_task(rig: Rig, _work: Work, _draw: random.Random) -> Broken:
    """Messages that nobody understands: an unknown task, nonsense for every known one, garbage."""
    rig.launch.manage("shell", "--no-imports", "-c", POISON)
    client = redis.Redis(unix_socket_path=str(_sockets(rig) / "redis.sock"))
    for queue in QUEUES:
        client.lpush(queue, b"{}", b"\xff garbage")
    return Broken()


def slow_clients(rig: Rig, _work: Work, _draw: random.Random) -> Broken:
    """Twelve uploads of a byte every two seconds; pages are asked for meanwhile."""
    head = (
        "POST /api/v1/runs HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        f"Authorization: Bearer {rig.system.token}\r\nContent-Type: application/json\r\n"
        "Content-Length: 1000\r\n\r\n"
    ).encode()
    with ExitStack() as stack:
        address = ("127.0.0.1", rig.launch.port)
        slow = [stack.enter_context(socket.create_connection(address, 10)) for _ in range(12)]
        for one in slow:
            one.sendall(head)
        unanswered = 0
        for _ in range(7):
            for one in slow:
                with suppress(OSError):
                    one.sendall(b" ")
            unanswered += rig.launch.status("healthz") != 200
            time.sleep(2)
    return Broken(wrong=f"{unanswered} of 7 pages not answered in 10 s" if unanswered else "")


def slow_endpoints(rig: Rig, work: Work, _draw: random.Random) -> Broken:
    """Two webhooks that answer a byte every five seconds, until the work is done."""
    with dripping() as first, dripping() as second:
        rig.launch.manage("shell", "--no-imports", "-c", ENDPOINTS.format(ports=[first, second]))
        try:
            work.finish()
        finally:
            rig.launch.manage("shell", "--no-imports", "-c", ENDPOINTS.format(ports=[]))
    return Broken()


@contextmanager
def dripping() -> Iterator[int]:
    """The port of a server that never comes to the end of its answer."""
    over = threading.Event()

    def answer(one: socket.socket) -> None:
        with one, suppress(OSError):
            for letter in b"HTTP/1.1 200 OK\r\nX-Slow: " + b"x" * 10_000:
                one.sendall(bytes([letter]))
                if over.wait(5):
                    return

    def serve(listening: socket.socket) -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=answer, args=[listening.accept()[0]], daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=serve, args=[listening], daemon=True).start()
        yield int(listening.getsockname()[1])
        over.set()
        with suppress(OSError):
            listening.shutdown(socket.SHUT_RDWR)


def two_instances(rig: Rig, _work: Work, _draw: random.Random) -> Broken:
    """A second launcher on the same STATE is refused, and the first one works on."""
    status, _, printed = Launch(rig.launch.state, port=free_port()).begin().end()
    refused = status == 1 and "is in use: process" in printed and "Traceback" not in printed
    return Broken(wrong="" if refused else f"exit {status}: {printed}")


def stale_pid_files(rig: Rig, _work: Work, _draw: random.Random) -> Broken:
    """The ids of all programs belong to somebody else after a restart."""
    rig.launch.interrupt()
    user = "nobody" if os.geteuid() == 0 else None
    with subprocess.Popen(["sleep", "600"], user=user) as other:
        try:
            for name in ("web", "worker", "beat", "redis", "supervisord", "lifeline"):
                (rig.launch.state / "pids" / f"{name}.pid").write_text(f"{other.pid}\n")
            lines = f"{other.pid}\n{rig.launch.state}/postgres\n"
            (rig.launch.state / "postgres" / "postmaster.pid").write_text(lines)
            rig.restart()
            alive = other.poll() is None
        finally:
            other.kill()
    return Broken(wrong="" if alive else "a stranger's process was ended")


def interrupted_migration(rig: Rig, _work: Work, _draw: random.Random) -> Broken:
    """`manage.py migrate` is killed, with the launcher, while it runs."""
    rig.launch.interrupt()
    rig.launch.begin()
    wait_for(lambda: bool(_migrations(rig)), 120)
    for process in _migrations(rig):
        os.kill(process.pid, signal.SIGKILL)
    rig.launch.kill()
    rig.restart()
    return Broken(kills=2)


def _migrations(rig: Rig) -> list[processes.Process]:
    launcher = rig.launch.process
    group = launcher.pid if launcher else 0
    found = processes.running()
    return [one for one in found if one.group == group and "manage.py migrate" in one.command]


def disk_full(rig: Rig, _work: Work, draw: random.Random) -> Broken:
    """No room on the disk of STATE for eight seconds."""
    if not rig.has_small_disk:
        raise Skipped("needs root, who may mount a small disk")
    time.sleep(draw.uniform(0.2, 1.0))
    filler = rig.launch.state / "filler"
    with suppress(OSError), filler.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(2**20))
    room = shutil.disk_usage(rig.launch.state).free
    time.sleep(8)
    filler.unlink()
    rig.revive()
    return Broken(wrong=f"{room} bytes were free" if room > MOST_ROOM else "")


def _sockets(rig: Rig) -> Path:
    return Path(instance.read(rig.launch.state).sockets)


STARVED: Mapping[str, Fault] = {
    "Redis flushed": redis_flushed,
    "Redis gone": redis_gone,
    "disk full": disk_full,
    f"clock {DAYS} days ahead": clock(DAYS),
    f"clock {DAYS} days behind": clock(-DAYS),
    "slow clients": slow_clients,
    "slow endpoints": slow_endpoints,
    "poison task": poison_task,
    "interrupted migration": interrupted_migration,
    "stale pid files": stale_pid_files,
    "two instances on one STATE": two_instances,
}
