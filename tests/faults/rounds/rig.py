"""The instance that is broken, and what can be asked of it."""

import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.launcher.running import Launch
from tests.smtp import MailServer, mail_server
from tests.system.running import System, truncate, wait_for
from webapp.config import instance
from webapp.launcher import StackError, processes, supervision

DISK = "1500m"
# Of the whole work on a machine that is busy with something else as well
PATIENCE_SECONDS = float(os.environ.get("FAULTS_PATIENCE_SECONDS", "240"))
# Longer than PostgreSQL may take to stop, which lifeline waits for
STRAYS_SECONDS = 60
RECORDS = "results_tree, results_hardware, results_mode, results_metric, outbox_mail"


@dataclass
class Rig:
    """A running instance, its mail server, and whether its disk can be filled."""

    system: System
    mails: MailServer
    has_small_disk: bool
    given: Mapping[str, str]
    restarts: int = field(default=0)

    @property
    def launch(self) -> Launch:
        return self.system.launch

    def programs(self) -> dict[str, int]:
        """The ids of everything that supervisord runs at present, by the names it knows."""
        sockets = Path(instance.read(self.launch.state).sockets)
        found = supervision.Supervisor(self.launch.state, sockets).programs()
        return {one["name"]: one["pid"] for one in found if one["pid"]}

    def restart(self, **variables: str) -> None:
        """Start the launcher again, as systemd does when it ended; with other variables, if any."""
        self.system.launch = replace(
            self.launch, variables={**self.launch.variables, **variables}, process=None
        )
        self.launch.start()
        self.restarts += 1

    def revive(self) -> None:
        """What a service manager does: start it again if it ended. Then wait for the pages."""
        process = self.launch.process
        if process is not None and process.poll() is not None:
            process.communicate()
            self.restart()
        self.launch.wait_until_ready()

    def make_sound(self) -> str:
        """After a round, whatever became of it: the instance as it was begun, nothing beside it.

        Returns which processes nobody had ended.
        """
        if not self._is_sound():
            self.end()
            self.restart(**dict.fromkeys(self.launch.variables.keys() - self.given.keys(), ""))
        with suppress(AssertionError):
            wait_for(lambda: not self._strays(), STRAYS_SECONDS)
        return self._killed(self._strays())

    def end(self) -> str:
        """End the instance; which of its processes that left running."""
        process = self.launch.process
        if process and process.poll() is None:
            self.launch.interrupt()
        with suppress(AssertionError):  # lifeline, after a killed launcher
            wait_for(lambda: not self.launch.running(), STRAYS_SECONDS)
        return self._killed(self.launch.running())

    def _is_sound(self) -> bool:
        process = self.launch.process
        plain = {name: value for name, value in self.launch.variables.items() if value}
        runs = process is not None and process.poll() is None
        try:
            return runs and plain == dict(self.given) and all(self.programs().values())
        except StackError:
            return False

    def _strays(self) -> list[processes.Process]:
        """Those of this STATE that neither the launcher nor supervisord knows."""
        process = self.launch.process
        groups = {
            process and process.pid,
            self.launch.pid("supervisord"),
            *self.programs().values(),
        }
        return [one for one in self.launch.running() if one.group not in groups]

    def _killed(self, left: Sequence[processes.Process]) -> str:
        for one in left:
            with suppress(ProcessLookupError):
                os.kill(one.pid, signal.SIGKILL)
        return "; ".join(f"{one.pid} {one.command}" for one in left)

    def empty(self) -> None:
        """Forget all records and mails; accounts and tokens stay."""
        truncate(self.system.connected, RECORDS)

    def digest(self) -> dict[str, str]:
        """Part → its line."""
        printed = self.launch.manage("digest").splitlines()
        return {line.split()[0]: line for line in printed}

    def wait_until(self, query: str, what: str) -> None:
        """Wait until a query counts nothing any more."""
        try:
            wait_for(lambda: not self.count(query), PATIENCE_SECONDS)
        except AssertionError as error:
            raise Stuck(what) from error

    def count(self, query: str) -> int:
        return int(self.system.rows(query)[0][0])


class Stuck(Exception):
    """Something that should have ended has not."""


@contextmanager
def rig() -> Iterator[Rig]:
    """An instance of its own; as root on a disk of its own, which is small."""
    place = Path(tempfile.mkdtemp(prefix="dl-", dir="/tmp"))
    place.chmod(0o711 if os.geteuid() == 0 else 0o700)
    state = place / "state"
    state.mkdir()
    mounted = _mount(state)
    try:
        with mail_server() as mails, _started(state, mails) as system:
            running = Rig(system, mails, mounted, system.launch.variables)
            try:
                yield running
            finally:
                left = running.end()
            assert not left, f"left running: {left}"
    finally:
        if mounted:
            subprocess.run(["umount", "-l", str(state)], check=True)
        subprocess.run(["rm", "-rf", str(place)], check=True)


def _mount(state: Path) -> bool:
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", str(state)]
    if os.geteuid() != 0:
        return False
    return subprocess.run(command, check=False, capture_output=True).returncode == 0


@contextmanager
def _started(state: Path, mails: MailServer) -> Iterator[System]:
    variables: Mapping[str, str] = {
        "DRIFTLINE_SWEEP_SECONDS": "2",
        "DRIFTLINE_MAIL_SWEEP_SECONDS": "2",
        "DRIFTLINE_MAIL_SETTLE_SECONDS": "1",
        "DRIFTLINE_EMAIL_URL": mails.url,
        "DRIFTLINE_WEBHOOKS_ALLOW": "127.0.0.0/8",
        "DRIFTLINE_WEBHOOKS_PORTS": "1-65535",
    }
    system = System(Launch(state, variables=variables).with_data().start(), "")
    try:
        system.token = system.launch.manage("create_agent", "bench", "--lab", "netlab").split()[-1]
        yield system
    finally:
        process = system.launch.process
        if process and process.poll() is None:
            system.launch.interrupt()
