"""The programs of an instance and how each is run; and the configuration of Caddy, which stands
before the web server. Caddy is what clients connect to: it waits for slow ones, speaks TLS and
HTTP/2, compresses, and serves the static files.
"""

import ipaddress
import json
import subprocess
import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType

from webapp.launcher import StackError, processes
from webapp.launcher.postgres import Cluster
from webapp.launcher.servers import Caddy, MailServer, Redis
from webapp.launcher.supervision import Program

SHARED = Path(__file__).with_name("driftline.caddy")
SOCKET = "web.sock"
HTTP_PORT, HTTPS_PORT = 80, 443
# Names below these lead nowhere outside (RFC 2606, RFC 6762, RFC 8375, and what networks use)
OWN_NAMES = ("localhost", "local", "internal", "home.arpa", "lan", "test", "invalid")
CONFIGURATION = """\
# Written by the launcher at each start.
import {shared}

{{
	admin off
	persist_config off
	skip_install_trust
	storage file_system {storage}{redirects}
	log default {{
		level WARN
		sampling {{
			interval 60s
			first 20
			thereafter 1000
		}}
	}}
	servers {{
		import limits {body_seconds}s {deadlines}
	}}
}}

(webs) {{
	to unix/{socket}
}}

http://:{port} {{
	bind {address}
	import site webs {static}{log}
}}
"""
HTTPS = """
https://{host} {{{tls}
	import site webs {static}{log}
}}
"""
LOG = """
	log {{
		output file {file} {{
			roll_size 10MiB
			roll_keep 4
		}}
	}}"""


@dataclass(frozen=True)
class Front:
    """One Caddy: its program, and where its configuration and its sockets are."""

    caddy: Caddy
    state: Path
    sockets: Path

    @property
    def socket(self) -> Path:
        """Where the web server listens."""
        return self.sockets / SOCKET

    @property
    def configuration(self) -> Path:
        """Where its configuration is."""
        return self.state / "Caddyfile"

    def create(self, settings: ModuleType, *, address: str, port: int) -> None:
        """Write the configuration: the pages at ``address``, and over TLS where a host is set."""
        common = {
            "socket": self.socket,
            "static": _quoted(settings.STATIC_ROOT),
            "log": LOG.format(file=_quoted(self.state / "logs" / "access.log"))
            if settings.ACCESS_LOG
            else "",
        }
        text = CONFIGURATION.format(
            shared=_quoted(SHARED),
            storage=_quoted(self.state / "caddy"),
            redirects="\n\tauto_https disable_redirects" if ":" in settings.HOST else "",
            body_seconds=settings.BODY_SECONDS,
            deadlines="idle" if self.caddy.has_idle_limits else "hard",
            address=address,
            port=port,
            **common,
        )
        if settings.HOST:
            tls = "" if is_public(settings.HOST) else "\n\ttls internal"
            text += HTTPS.format(host=settings.HOST, tls=tls, **common)
        self.configuration.write_text(text)

    def command(self, pidfile: Path) -> list[str]:
        """The command that runs it in the foreground."""
        configuration = ("--config", str(self.configuration), "--adapter", "caddyfile")
        return [str(self.caddy.program), "run", *configuration, "--pidfile", str(pidfile)]


def is_public(host: str) -> bool:
    """Whether an authority that everybody trusts may certify ``host``: it looks for it by a name
    that is known everywhere, at port 80 or 443.
    """
    name, _, port = host.partition(":")
    if port not in ("", str(HTTPS_PORT)) or "." not in name:
        return False
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return not any(name.endswith(f".{own}") for own in OWN_NAMES)
    return False


def ports_of(host: str) -> tuple[int, ...]:
    """Where ``host`` is listened to: HTTPS, and HTTP that leads there; none without a host."""
    if not host:
        return ()
    port = host.partition(":")[2]
    return (int(port),) if port else (HTTPS_PORT, HTTP_PORT)


def _quoted(path: Path) -> str:
    return json.dumps(str(path), ensure_ascii=False)


PROJECT = Path(__file__).resolve().parents[2]
CELERY = (sys.executable, "-m", "celery", "-A", "webapp.config.celery")
QUIET = ("--without-mingle", "--without-gossip", "--without-heartbeat")
"""Events among workers, which nobody reads. A worker that cannot send one while Redis is away tries
for ever and takes no signal meanwhile. Our heartbeats are others (`webapp.readiness.tasks`)."""

WITHOUT_CHECKS = {"CELERY_SKIP_CHECKS": "true"}
"""`migrate` made the checks with the same settings. The check of addresses imports pages and API, a
third of what such a process loads. Mails name addresses: `deliveries` loads them, once for all of
its processes."""


def lifeline_program(state: Path) -> Program:
    """What ends the others when the launcher was killed."""
    return Program(
        name="lifeline",
        command=[
            *(sys.executable, "-m", processes.__name__, "--state", str(state)),
            *("--pidfile", str(state / "pids" / "lifeline.pid")),
        ],
        priority=1,
        directory=PROJECT,
    )


def postgres_program(cluster: Cluster) -> Program:
    """PostgreSQL. Its stop is a fast one: it rolls open transactions back and ends cleanly."""
    return Program(
        name="postgres",
        command=cluster.command(),
        priority=10,
        # Its user may be unable to enter any directory of ours.
        directory=Path("/"),
        user=cluster.identity.user if not cluster.identity.prefix else None,
        stop_signal="INT",
        stop_seconds=60,
    )


def redis_program(redis: Redis) -> Program:
    """Redis."""
    return Program(name="redis", command=redis.command(), priority=10, directory=Path("/"))


def front_program(front: Front) -> Program:
    """Caddy, before the web server."""
    return Program(
        name="front",
        command=front.command(front.state / "pids" / "front.pid"),
        priority=25,
        directory=Path("/"),
    )


def mail_program(mail: MailServer, state: Path) -> Program:
    """The mail server of a demonstration."""
    return Program(
        name="mail",
        command=[
            *(sys.executable, "-m", "webapp.demo.mail_server"),
            *("--directory", str(mail.directory), "--port", str(mail.port)),
            *("--pidfile", str(state / "pids" / "mail.pid")),
        ],
        priority=15,
        directory=PROJECT,
    )


def agents_program(state: Path, *, url: str, speed: int) -> Program:
    """The simulated agents of a demonstration: they answer its bisects."""
    directory = state / "demo" / "agents"
    return Program(
        name="agents",
        command=[
            *(sys.executable, "-m", "labagent", "simulate", "--name", "simulated"),
            *("--workers", "2", "--speed", str(speed), "--truth", str(directory / "truth.toml")),
            *("--server", url, "--token-file", str(directory / "token")),
            *("--state", str(directory / "state")),
        ],
        priority=50,
        directory=PROJECT,
    )


def our_programs(state: Path, *, roles: Collection[str], web_threads: int) -> list[Program]:
    """Those of the web server, the workers and their scheduler that have a role here."""
    pids = state / "pids"
    python = [sys.executable, "-m"]
    gunicorn = [*python, "gunicorn", "-c", "python:webapp.config.gunicorn"]
    programs = [
        Program(
            name="web",
            command=[*gunicorn, "--pid", str(pids / "web.pid"), "webapp.config.wsgi"],
            priority=20,
            directory=PROJECT,
            environment={"DRIFTLINE_DATABASE_POOL": str(web_threads)},
        ),
        replace(_worker("worker", "--queues=analysis", pids=pids), environment=WITHOUT_CHECKS),
        # One process for mails and one for webhooks (webapp.outbox.tasks)
        _worker("deliveries", "--queues=deliveries", "--concurrency=2", pids=pids),
        Program(
            name="beat",
            command=[*CELERY, "beat", "--loglevel", "info", "--pidfile", str(pids / "beat.pid")],
            priority=40,
            directory=PROJECT,
            environment=WITHOUT_CHECKS,
        ),
    ]
    return [program for program in programs if program.name in roles]


def _worker(name: str, *options: str, pids: Path) -> Program:
    """A Celery worker."""
    return Program(
        name=name,
        command=[
            *(*CELERY, "worker", *options, "--loglevel", "info", *QUIET),
            *("--hostname", f"{name}@%h", "--pidfile", str(pids / f"{name}.pid")),
        ],
        priority=30,
        directory=PROJECT,
    )


def follow(arguments: list[str], logs: Path) -> Iterator[str]:
    """Run one command and give each line that it prints as it comes.

    Raises `StackError` when it fails.
    """
    process = _start(arguments, logs)
    try:
        yield from map(str.rstrip, process.stdout or ())
        process.wait()
    finally:
        _end([process])
    _require_success(arguments, process, logs)


def run_together(logs: Path, *commands: list[str]) -> None:
    """Run `commands` side by side; raise `StackError` for the first that failed.

    What they print on standard error is kept in `logs`.
    """
    started = [_start(arguments, logs) for arguments in commands]
    try:
        for process in started:
            process.communicate()
    finally:
        _end(started)
    for arguments, process in zip(commands, started, strict=True):
        _require_success(arguments, process, logs)


def _end(started: Sequence["subprocess.Popen[str]"]) -> None:
    for process in started:
        if process.poll() is None:
            process.kill()
            process.wait()


def _require_success(arguments: list[str], process: "subprocess.Popen[str]", logs: Path) -> None:
    if process.returncode:
        errors = _log(arguments, logs).read_text(errors="replace").splitlines()[-20:]
        raise StackError(
            f"`manage.py {arguments[0]}` failed (status {process.returncode}):\n"
            + "\n".join(errors)
        )


def _start(arguments: list[str], logs: Path) -> "subprocess.Popen[str]":
    with _log(arguments, logs).open("w") as errors:
        return subprocess.Popen(
            [sys.executable, str(PROJECT / "manage.py"), *arguments],
            cwd=PROJECT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )


def _log(arguments: list[str], logs: Path) -> Path:
    return logs / f"{arguments[0]}.log"
