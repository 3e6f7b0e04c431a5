"""A database host and machines that each run `make up` with a role on it, behind one proxy."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.faults.machines.network import OUTSIDE, Network, network
from tests.faults.rounds.rig import Rig
from tests.launcher.running import PROJECT, START_SECONDS, Launch, discard, variables
from tests.smtp import mail_server
from tests.system.running import System, wait_for
from webapp.config import instance
from webapp.launcher.postgres import Cluster
from webapp.launcher.servers import Redis, find_caddy

DATABASE = "database"
PORT = 8000
KEY = "the key of all machines of a test, as long as a key has to be"
PROXY = """\
{{
	admin off
	persist_config off
	skip_install_trust
}}

http://127.0.0.1:{port} {{
	reverse_proxy {webs} {{
		lb_policy round_robin
		lb_try_duration 10s
		health_uri /healthz
		health_headers {{
			Host localhost
		}}
		health_interval 2s
		health_timeout 2s
		transport http {{
			dial_timeout 2s
		}}
	}}
}}
"""
SENDING_BEAT = """
SELECT host(client_addr) FROM pg_locks JOIN pg_stat_activity USING (pid)
 WHERE locktype = 'advisory' AND granted
   AND (classid::bigint << 32) | objid::bigint = hashtextextended('driftline-beat', 0)
"""
"""The address of the machine whose beat sends."""


@dataclass
class Machines(Rig):
    """Several machines as one instance, which answers at the proxy."""

    network: Network = field(kw_only=True)
    started: dict[str, "subprocess.Popen[str]"] = field(default_factory=dict)

    def make_sound(self) -> str:
        """All are joined after a round; whatever ended on the way is named."""
        self.network.join()
        ended = [name for name, process in self.started.items() if process.poll() is not None]
        return ", ".join(ended)

    def machine_of_beat(self) -> str:
        """The machine whose beat sends; empty while none does."""
        named = {address: name for name, address in self.network.addresses.items()}
        return next((named[row[0]] for row in self.system.rows(SENDING_BEAT)), "")

    def start(self, name: str, state: Path, given: Mapping[str, str]) -> None:
        """Begin `make up` on a machine."""
        command = [
            *self.network.enter(name),
            *(sys.executable, "-m", "webapp.launcher", "up", "--state", str(state)),
            *("--port", str(PORT), "--bind", self.network.addresses[name]),
        ]
        state.mkdir()
        own = variables(state)
        shutil.copytree(own["DRIFTLINE_STATIC_ROOT"], state / "static")
        with (state / "launcher-printed").open("w") as printed:
            self.started[name] = subprocess.Popen(
                command,
                cwd=PROJECT,
                env=own | {"DRIFTLINE_STATIC_ROOT": str(state / "static")} | dict(given),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=printed,
                text=True,
                start_new_session=True,
            )

    def wait_until_started(self) -> None:
        """Until each has printed its line, and pages answer at the proxy."""
        for name, process in self.started.items():
            assert process.stdout
            line = process.stdout.readline()
            printed = self.launch.state.with_name(name) / "launcher-printed"
            assert line.startswith("ready "), f"{name}: {line}{printed.read_text()}"
        wait_for(lambda: self.launch.status() == 200, START_SECONDS)

    def stop(self) -> None:
        """End all at once: their data go."""
        for name, process in self.started.items():
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            discard(self.launch.state.with_name(name))
            process.communicate(timeout=START_SECONDS)


@contextmanager
def machines(roles: Mapping[str, str], *, seed: int = 1, **given: str) -> Iterator[Machines]:
    """A machine for each name with its roles (`web,worker`), on one database host."""
    with ExitStack() as stack:
        joined, launch = stack.enter_context(database_host(list(roles), seed=seed))
        place = launch.state.parent
        mails = stack.enter_context(mail_server(joined.addresses[OUTSIDE]))
        token = launch.manage("create_agent", "bench", "--lab", "netlab").split()[-1]
        rig = Machines(System(launch, token), mails, has_small_disk=False, given={}, network=joined)
        for_all = shared(joined, launch) | {"DRIFTLINE_EMAIL_URL": mails.url} | given
        stack.callback(rig.stop)
        for name, parts in roles.items():
            rig.start(name, place / name, for_all | {"DRIFTLINE_ROLES": parts})
        webs = [name for name, parts in roles.items() if "web" in parts.split(",")]
        _run(stack, place, "proxy", _proxy(place, joined, webs, launch.port))
        rig.wait_until_started()
        yield rig


@contextmanager
def database_host(others: Sequence[str], *, seed: int = 1) -> Iterator[tuple[Network, Launch]]:
    """A machine with PostgreSQL and Redis, in the same network as machines of these names."""
    place = Path(tempfile.mkdtemp(prefix="dl-", dir="/tmp"))
    place.chmod(0o711)
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, place)
        joined = stack.enter_context(network([DATABASE, *others], seed=seed))
        launch = Launch(place / DATABASE).with_data()
        instance.write_secret_key(launch.state, KEY)
        _serve(stack, joined, launch.state)
        yield joined, launch


def shared(joined: Network, launch: Launch) -> dict[str, str]:
    """What all machines are given, as docs/running.md asks."""
    host = joined.addresses[DATABASE]
    return {
        "DATABASE_URL": f"postgresql://driftline@{host}/driftline",
        "DATABASE_WEB_URL": f"postgresql://{instance.WEB_ROLE}@{host}/driftline",
        "REDIS_URL": f"redis://{host}:6379/0",
        "SECRET_KEY": KEY,
        "DRIFTLINE_PUBLIC_URL": launch.url,
        "DRIFTLINE_SWEEP_SECONDS": "2",
        "DRIFTLINE_MAIL_SWEEP_SECONDS": "2",
        "DRIFTLINE_MAIL_SETTLE_SECONDS": "1",
    }


def _serve(stack: ExitStack, joined: Network, state: Path) -> None:
    """PostgreSQL and Redis on their machine, and by their sockets for the test itself."""
    sockets, address = state / "sockets", joined.addresses[DATABASE]
    sockets.mkdir(mode=0o700)
    instance.write(state, instance.Instance.at(sockets))
    cluster = Cluster.choose(state, sockets)
    cluster.identity.own(sockets)
    with (state / "postgres" / "pg_hba.conf").open("a") as file:
        file.write(f"host all all {joined.subnet} trust\n")
    user = cluster.identity.user
    switch_user = ["setpriv", f"--reuid={user}", "--clear-groups", "--"]
    postgres = cluster.command(f"listen_addresses={address}")
    prefix = [] if cluster.identity.prefix else switch_user
    enter = joined.enter(DATABASE)
    _run(stack, state, "postgres", [*enter, *prefix, *postgres], signal.SIGINT)
    redis = Redis.choose(state, sockets)
    redis.create(pidfile=state / "redis.pid")
    options = ("--bind", address, "--port", "6379", "--protected-mode", "no")
    _run(stack, state, "redis", [*enter, *redis.command(), *options])
    wait_for(cluster.answers, START_SECONDS)
    wait_for(redis.answers, START_SECONDS)


def _proxy(place: Path, joined: Network, webs: Sequence[str], port: int) -> list[str]:
    caddy = find_caddy()
    assert caddy
    addresses = " ".join(f"{joined.addresses[name]}:{PORT}" for name in webs)
    (place / "Caddyfile").write_text(PROXY.format(port=port, webs=addresses))
    return [str(caddy.program), "run", "--config", str(place / "Caddyfile")]


def _run(
    stack: ExitStack,
    place: Path,
    name: str,
    command: Sequence[str],
    end: signal.Signals = signal.SIGTERM,
) -> None:
    """Run a program until the block ends; what it prints is in a file of its name."""
    with (place / f"{name}.log").open("w") as log:
        process = subprocess.Popen(
            command,
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )

    def stop() -> None:
        process.send_signal(end)
        process.wait(START_SECONDS)

    stack.callback(stop)
