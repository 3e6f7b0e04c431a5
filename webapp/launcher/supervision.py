"""supervisord: its configuration file, its start, and talking to it."""

import contextlib
import http.client
import os
import shlex
import subprocess
import sys
import time
import xmlrpc.client
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from supervisor.states import RUNNING_STATES, ProcessStates
from supervisor.xmlrpc import SupervisorTransport

from webapp.launcher import StackError, SupervisorLost
from webapp.launcher.processes import STOP_SECONDS

# What the other programs need until they have ended, and what watches until the end
LAST = ("postgres", "redis", "lifeline")
# What only asks the web server: it may be refused (a revoked token) while the instance is well
CLIENTS = ("agents",)
# Until supervisord takes commands
ANSWER_SECONDS = 20


@dataclass(frozen=True)
class Program:
    """One supervised program. Lower priorities start first and stop last."""

    name: str
    command: Sequence[str]
    priority: int
    directory: Path
    user: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    stop_signal: str = "TERM"
    stop_seconds: int = 30
    start_retries: int = 8

    def section(self, logs: Path) -> str:
        """The program's section of supervisord.conf."""
        settings: dict[str, object] = {
            "command": _escaped(shlex.join(self.command)),
            "directory": _escaped(str(self.directory)),
            "priority": self.priority,
            "autostart": "false",
            "autorestart": "true",
            "startsecs": 1,
            "startretries": self.start_retries,
            "stopsignal": self.stop_signal,
            "stopwaitsecs": self.stop_seconds,
            # The master passes a stop on to its own processes; when it cannot, all are killed.
            "stopasgroup": "false",
            "killasgroup": "true",
            "redirect_stderr": "true",
            "stdout_logfile": _escaped(str(logs / f"{self.name}.log")),
            "stdout_logfile_maxbytes": "10MB",
            "stdout_logfile_backups": 3,
        }
        if self.user:
            settings["user"] = self.user
        if self.environment:
            settings["environment"] = ",".join(
                f'{name}="{_escaped(value)}"' for name, value in self.environment.items()
            )
        lines = [f"{name}={value}" for name, value in settings.items()]
        return "\n".join([f"[program:{self.name}]", *lines])


@dataclass(frozen=True)
class Supervisor:
    """supervisord of one STATE."""

    state: Path
    sockets: Path

    @property
    def configuration(self) -> Path:
        """Where its configuration is."""
        return self.state / "supervisord.conf"

    @property
    def logs(self) -> Path:
        """Where the logs of all programs are."""
        return self.state / "logs"

    def configure(self, programs: Iterable[Program]) -> None:
        """Write the configuration that runs `programs`."""
        socket = _escaped(str(self.sockets / "supervisor.sock"))
        head = [
            "[unix_http_server]",
            f"file={socket}",
            "chmod=0700",
            "[supervisord]",
            f"logfile={_escaped(str(self.logs / 'supervisord.log'))}",
            "logfile_maxbytes=10MB",
            "logfile_backups=3",
            f"pidfile={_escaped(str(self.state / 'pids' / 'supervisord.pid'))}",
            "nodaemon=true",
            "silent=true",
            *(["user=root"] if os.geteuid() == 0 else []),
            "[rpcinterface:supervisor]",
            "supervisor.rpcinterface_factory=supervisor.rpcinterface:make_main_rpcinterface",
            "[supervisorctl]",
            f"serverurl=unix://{socket}",
        ]
        sections = [program.section(self.logs) for program in programs]
        self.configuration.write_text("\n".join([*head, *sections, ""]))

    def start(self) -> subprocess.Popen[bytes]:
        """Start supervisord out of reach of the terminal's signals, and wait until it answers."""
        process = subprocess.Popen(
            [sys.executable, "-m", "supervisor.supervisord", "-n", "-c", str(self.configuration)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            self._wait_for(process)
        except BaseException:  # a signal that stops the launcher as well
            process.kill()
            process.wait()
            raise
        return process

    def _wait_for(self, process: subprocess.Popen[bytes]) -> None:
        """Return once supervisord answers; raise `StackError` when it ends or stays silent."""
        end = time.monotonic() + ANSWER_SECONDS
        while time.monotonic() < end and process.poll() is None:
            with contextlib.suppress(SupervisorLost, xmlrpc.client.Error):
                self._call("getState")
                return
            time.sleep(0.05)
        raise StackError(f"supervisord did not start:\n{self.tail('supervisord')}")

    def launch(self, name: str) -> None:
        """Start the program `name` without waiting for it."""
        try:
            self._call("startProcess", name, False)
        except xmlrpc.client.Fault as error:
            raise StackError(f"`{name}` cannot be started: {error.faultString}") from error

    def programs(self) -> list[dict[str, Any]]:
        """What supervisord reports of each program."""
        return list(self._call("getAllProcessInfo"))

    def all_running(self, names: Collection[str]) -> bool:
        """Whether each of these programs has run for as long as its start takes."""
        states = {program["name"]: program["state"] for program in self.programs()}
        return all(states[name] == ProcessStates.RUNNING for name in names)

    def pause(self) -> list[str]:
        """Stop our own programs, and give the names of those that ran; the servers go on."""
        names = [
            program["name"]
            for program in self.programs()
            if program["name"] not in LAST and program["state"] in RUNNING_STATES
        ]
        for name in names:
            self._call("stopProcess", name, True)
        return names

    def note_clients(self) -> None:
        """Keep the ids of programs that keep none themselves, so that the next start knows them."""
        for program in self.programs():
            if program["name"] in CLIENTS and program["pid"]:
                path = self.state / "pids" / f"{program['name']}.pid"
                path.write_text(f"{program['pid']}\n")

    def require_healthy(self) -> None:
        """Raise `StackError`, with the end of its log, when a program could not be kept running.

        Clients may end: their logs and the pages that wait for them show it.
        """
        for process in self.programs():
            if process["state"] == ProcessStates.FATAL and process["name"] not in CLIENTS:
                name = process["name"]
                raise StackError(
                    f"`{name}` cannot be kept running. The end of {self.logs / name}.log:\n"
                    f"{self.tail(name)}"
                )

    def stop(self, process: subprocess.Popen[bytes]) -> None:
        """Stop our own programs, all at once, then the servers and supervisord itself."""
        if process.poll() is None:
            self._ask_to_stop()
            process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _ask_to_stop(self) -> None:
        """Begin to stop what depends on a server; supervisord alone would go one by one."""
        with contextlib.suppress(SupervisorLost, xmlrpc.client.Error):
            for program in self.programs():
                if program["name"] not in LAST and program["state"] in RUNNING_STATES:
                    self._call("stopProcess", program["name"], False)

    def tail(self, name: str, lines: int = 20) -> str:
        """The last lines of the log of `name`."""
        try:
            text = (self.logs / f"{name}.log").read_text(errors="replace")
        except FileNotFoundError:
            return "(no log)"
        return "\n".join(text.splitlines()[-lines:])

    def _call(self, method: str, *arguments: object) -> Any:
        """What supervisord answers; raises `SupervisorLost` when nobody does."""
        transport = SupervisorTransport(None, None, f"unix://{self.sockets / 'supervisor.sock'}")
        try:
            with xmlrpc.client.ServerProxy("http://127.0.0.1", transport=transport) as server:
                return getattr(server.supervisor, method)(*arguments)
        except (OSError, http.client.HTTPException, xmlrpc.client.ProtocolError) as error:
            raise SupervisorLost(
                f"supervisord does not answer any more ({error}). The end of its log, "
                f"{self.logs}/supervisord.log:\n{self.tail('supervisord')}"
            ) from error


def _escaped(text: str) -> str:
    """`text` for supervisord, which expands %(names)s."""
    return text.replace("%", "%%")
