"""Bringing one instance up, keeping it up, and taking it down without a trace."""

import contextlib
import os
import socket
import sys
import time
import urllib.error
import urllib.request
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType

from webapp.config import instance
from webapp.launcher import (
    StackError,
    SupervisorLost,
    UsageError,
    postgres,
    programs,
    servers,
    state,
)
from webapp.launcher.processes import end_left_behind
from webapp.launcher.programs import (
    agents_program,
    front_program,
    lifeline_program,
    mail_program,
    our_programs,
    postgres_program,
    redis_program,
)
from webapp.launcher.supervision import Supervisor

# Generous: a machine may be busy, and a program that fails ends the wait at once.
START_SECONDS = 180
LOOPBACK = "127.0.0.1"
WEB = "web"
# Losses of supervisord that are made good in one hour
RESTARTS, RESTART_SECONDS = 5, 3600


@dataclass(frozen=True)
class Options:
    """What the command line asks for."""

    state: Path
    port: int
    address: str
    demo: bool

    @property
    def url(self) -> str:
        """Where this machine finds the pages."""
        host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(self.address, self.address)  # noqa: S104
        return f"http://{host}:{self.port}/"


def say(text: str) -> None:
    """Report progress. Standard output is kept for the line that scripts wait for."""
    print(f"driftline: {text}", file=sys.stderr, flush=True)  # noqa: T201


def up(options: Options) -> None:
    """Run the instance until somebody stops it, which raises `Stopped`.

    A supervisord that is lost takes nothing with it for good: everything is started again.
    """
    caddy = servers.find_caddy()
    if not caddy:
        say(f"{servers.INSTALL_CADDY}\nUntil then the pages are for this machine alone.")
        options = replace(options, address=LOOPBACK)
    state.prepare(options.state)
    with state.locked(options.state, options.url):
        announce, losses = _Announcement(), Losses()
        while True:
            try:
                _run(options, caddy, announce)
            except SupervisorLost as lost:
                if losses.are_too_many(time.monotonic()):
                    raise
                say(f"{lost}\ndriftline: starting everything again")


@dataclass
class Losses:
    """How often supervisord was lost: something that kills it each time must not go on for ever."""

    times: deque[float] = field(default_factory=lambda: deque(maxlen=RESTARTS + 1))

    def are_too_many(self, now: float) -> bool:
        """Note one loss, and return whether it is one too many for the last hour."""
        self.times.append(now)
        return len(self.times) > RESTARTS and now - self.times[0] < RESTART_SECONDS


@dataclass
class _Announcement:
    """The line that scripts wait for: printed once, however often everything is started."""

    was_made: bool = False

    def __call__(self, what: str) -> None:
        if not self.was_made:
            print(f"ready {what}", flush=True)  # noqa: T201
        self.was_made = True


def _run(options: Options, caddy: servers.Caddy | None, announce: Callable[[str], None]) -> None:
    end_left_behind(options.state, say)
    plan = _prepare(options, caddy)
    with _supervised(plan.supervisor, options.state):
        plan.start()
        _load(plan, options)
        announce(options.url if plan.has_pages else ",".join(plan.programs))
        while True:
            time.sleep(1)
            plan.supervisor.note_clients()
            plan.supervisor.require_healthy()


@dataclass(frozen=True)
class Plan:
    """What runs. A server that is somebody else's is None."""

    supervisor: Supervisor
    cluster: postgres.Cluster | None
    redis: servers.Redis | None
    programs: tuple[str, ...]
    agents: tuple[str, ...]
    settings: ModuleType
    url: str

    @property
    def has_pages(self) -> bool:
        """Whether the web server is one of the parts that run on this machine."""
        return WEB in self.programs

    def start(self) -> None:
        """Start the servers, prepare the database, then start our own programs."""
        self.supervisor.launch("lifeline")
        self._start_postgres()
        self._start_redis()
        say("preparing the database and the static files")
        programs.run_together(
            self.supervisor.logs,
            ["migrate", "--noinput", "--verbosity=0"],
            ["collectstatic", "--noinput", "--verbosity=0"],
        )
        say(f"starting {', '.join(self.programs)}")
        for name in self.programs:
            self.supervisor.launch(name)
        if not self.has_pages:
            self._wait(lambda: self.supervisor.all_running(self.programs), "all programs to run")
            return
        # What runs on other machines may be started later.
        address = self.url + ("readyz" if self.settings.HAS_ALL_ROLES else "healthz")
        self._wait(lambda: _answers(address), f"{address} to answer 200")

    def _start_postgres(self) -> None:
        if not self.cluster:
            postgres.wait_for(self.settings.DATABASES["default"], seconds=START_SECONDS)
            return
        say(f"starting PostgreSQL {self.cluster.postgres.major}")
        self.cluster.create()
        self.supervisor.launch("postgres")
        self._wait(self.cluster.answers, "PostgreSQL to take connections")
        self.cluster.prepare()

    def _start_redis(self) -> None:
        if not self.redis:
            servers.require_redis(self.settings.REDIS_URL)
            return
        say("starting Redis")
        self.supervisor.launch("redis")
        self._wait(self.redis.answers, "Redis to take commands")

    def _wait(self, answers: Callable[[], bool], what: str) -> None:
        end = time.monotonic() + START_SECONDS
        while not answers():
            self.supervisor.require_healthy()
            if time.monotonic() > end:
                raise StackError(
                    f"Waited {START_SECONDS} s for {what}, in vain. Logs: {self.supervisor.logs}"
                )
            time.sleep(0.1)


def _prepare(options: Options, caddy: servers.Caddy | None) -> Plan:
    """Choose the servers and write everything that they and our programs read."""
    recorded = state.recorded_instance(options.state)
    sockets = state.sockets_directory(options.state, Path(recorded.sockets))
    before = programs.Front(caddy, options.state, sockets) if caddy else None
    settings = _settings(options, before)
    if WEB in settings.ROLES:
        _require_free(options.address, options.port, f"Choose another: PORT={options.port + 1}")
    else:
        before = None
    cluster, database = _embedded_servers(options, settings, sockets)
    ours = our_programs(options.state, roles=settings.ROLES, web_threads=settings.WEB_THREADS)
    if before:
        _require_ports(settings.HOST)
        before.create(settings, address=options.address, port=options.port)
        ours = [*ours, front_program(before)]
    mails = None
    if options.demo and not settings.EMAIL_URL_GIVEN:
        mails = servers.MailServer.choose(options.state, recorded.mail_url)
    if mails:
        ours = [mail_program(mails, options.state), *ours]
    agents = []
    if options.demo:
        speed = settings.DEMO_SPEED
        agents = [agents_program(options.state, url=options.url, speed=speed)]
    supervisor = Supervisor(options.state, sockets)
    supervisor.configure(
        [
            lifeline_program(options.state),
            *([postgres_program(cluster)] if cluster else []),
            *([redis_program(database)] if database else []),
            *ours,
            *agents,
        ]
    )
    _record(options, settings, sockets, cluster, mails)
    return Plan(
        supervisor=supervisor,
        cluster=cluster,
        redis=database,
        programs=tuple(program.name for program in ours),
        agents=tuple(program.name for program in agents),
        settings=settings,
        url=options.url,
    )


def _embedded_servers(
    options: Options, settings: ModuleType, sockets: Path
) -> tuple[postgres.Cluster | None, servers.Redis | None]:
    """Ours, each unless the settings name another."""
    cluster = database = None
    if not settings.DATABASE_URL_GIVEN:
        cluster = postgres.Cluster.choose(options.state, sockets)
        cluster.identity.own(sockets)
    if not settings.REDIS_URL_GIVEN:
        database = servers.Redis.choose(options.state, sockets)
        database.create(pidfile=options.state / "pids" / "redis.pid")
    return cluster, database


def _record(
    options: Options,
    settings: ModuleType,
    sockets: Path,
    cluster: postgres.Cluster | None,
    mails: servers.MailServer | None,
) -> None:
    url = f"https://{settings.HOST}/" if settings.HOST else options.url
    record = instance.Instance.at(sockets).with_url(url)
    major = cluster.postgres.major if cluster else None
    mail_url = mails.url if mails else ""
    instance.write(options.state, replace(record, postgres_major=major, mail_url=mail_url))


def _settings(options: Options, before: programs.Front | None) -> ModuleType:
    """Our settings, read with the variables that all programs will get from us."""
    os.environ["STATE"] = str(options.state)
    where = f"unix:{before.socket}" if before else f"{options.address}:{options.port}"
    os.environ["DRIFTLINE_BIND"] = where
    os.environ["DRIFTLINE_FRONT"] = "true" if before else "false"
    os.environ["DJANGO_SETTINGS_MODULE"] = "webapp.config.settings"
    if options.demo:
        # Whoever tries the demonstration does not wait a minute for its mails.
        os.environ.setdefault("DRIFTLINE_MAIL_SETTLE_SECONDS", "5")
    try:
        instance.ensure_secret_key(options.state)
    except instance.BadState as error:
        raise StackError(str(error)) from error
    from django.core.exceptions import ImproperlyConfigured  # noqa: PLC0415 - not needed for --help

    try:
        from webapp.config import settings  # noqa: PLC0415 - reads the variables set above
    except ImproperlyConfigured as error:
        raise UsageError(str(error)) from error
    _require_shared_servers(settings)
    if settings.HOST and not before:
        raise StackError(f"DRIFTLINE_HOST={settings.HOST}: {servers.INSTALL_CADDY}")
    return settings


def _require_shared_servers(settings: ModuleType) -> None:
    """Raise `UsageError` where other machines do some parts, and could not do them."""
    given = {
        "DATABASE_URL": settings.DATABASE_URL_GIVEN,
        "REDIS_URL": settings.REDIS_URL_GIVEN,
        "SECRET_KEY": settings.SECRET_KEY_GIVEN,
    }
    missing = [name for name, is_given in given.items() if not is_given]
    if missing and not settings.HAS_ALL_ROLES:
        raise UsageError(
            f"DRIFTLINE_ROLES={','.join(settings.ROLES)} needs {' and '.join(missing)}, the same "
            "on all machines: else nobody does the other parts for this one."
        )


@contextlib.contextmanager
def _supervised(supervisor: Supervisor, directory: Path) -> Iterator[None]:
    """supervisord runs inside; afterwards nothing of it does, whatever happened."""
    process = supervisor.start()
    try:
        yield
    finally:
        say("stopping")
        supervisor.stop(process)
        end_left_behind(directory, say)
        say("stopped")


def _require_ports(host: str) -> None:
    """Raise `StackError` unless the ports of DRIFTLINE_HOST can be listened on."""
    for port in programs.ports_of(host):
        _require_free(
            "0.0.0.0",  # noqa: S104 (as Caddy will)
            port,
            f"DRIFTLINE_HOST={host} needs it. Ports below 1024 are for root, or need a capability "
            "(docs/running.md, HTTPS).",
        )


def _require_free(address: str, port: int, remedy: str) -> None:
    """Raise `StackError` when something listens there already, or we may not."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError as error:
            raise StackError(
                f"Port {port} of {address} cannot be used ({error.strerror}). {remedy}"
            ) from error


def _answers(url: str) -> bool:
    """True when `url` answers 200."""
    with contextlib.suppress(urllib.error.URLError, OSError):
        # No proxy stands between us and this machine.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        # The address need not be a name under which pages are served: DRIFTLINE_PUBLIC_URL is.
        asking = urllib.request.Request(url, headers={"Host": "localhost"})  # noqa: S310 (ours)
        with opener.open(asking, timeout=10) as response:
            return bool(response.status == 200)
    return False


def _load(plan: Plan, options: Options) -> None:
    """Load the demonstration and start its agents, if asked for."""
    if options.demo:
        say("loading the demonstration data")
        for line in programs.follow(["load_demo"], plan.supervisor.logs):
            say(line)
    for name in plan.agents:
        plan.supervisor.launch(name)
    plan.supervisor.require_healthy()
