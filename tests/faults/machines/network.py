"""Network namespaces of Linux as machines: each has an address on one wire, and can be cut off."""

import fcntl
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.faults.machines import wire
from tests.places import PROJECT

DELAY_SECONDS, LOSS = 0.005, 0.01
"""Of each frame, either way."""

OUTSIDE = "outside"
"""What all else of this machine is on the wire: the proxy, the mail server."""


@dataclass
class Network:
    """Machines by name, ``outside`` among them, and the switch between them."""

    addresses: dict[str, str]
    subnet: str
    _interfaces: dict[str, str]
    _switch: "subprocess.Popen[str]"

    def enter(self, name: str) -> list[str]:
        """What to write before a command that is to run on the machine ``name``, which is its
        host name as well.
        """
        inside = ("ip", "netns", "exec", self._interfaces[name], "unshare", "--uts", "--")
        return [*inside, "sh", "-c", 'hostname "$0" && exec "$@"', name]

    def cut_off(self, *names: str) -> None:
        """Nothing reaches these machines from now on, and nothing comes from them."""
        self._send(" ".join(self._interfaces[name] for name in names))

    def join(self) -> None:
        """All reach one another again."""
        self._send("")

    def _send(self, line: str) -> None:
        assert self._switch.stdin
        assert self._switch.stdout
        self._switch.stdin.write(f"{line}\n")
        self._switch.stdin.flush()
        assert self._switch.stdout.readline() == "done\n", "the switch has ended"


def why_not() -> str:
    """What this machine lacks for it; empty: nothing."""
    if os.geteuid() != 0 or not shutil.which("ip"):
        return "needs root and `ip`, for network namespaces"
    name = f"dl{os.getpid()}try"
    if _ip("netns", "add", name, check=False).returncode:
        return "this kernel or container gives no network namespaces"
    _ip("netns", "delete", name)
    try:
        os.close(wire.opened(name))
    except OSError as error:
        return f"needs /dev/net/tun, for the wire between the machines ({error.strerror})"
    return ""


@contextmanager
def network(names: Sequence[str], *, seed: int) -> Iterator[Network]:
    """Machines of these ``names``, and ``outside``, joined until the block ends."""
    everybody = [*names, OUTSIDE]
    interfaces = {
        name: f"dl{os.getpid()}{letter}"
        for name, letter in zip(everybody, "abcdefgh", strict=False)
    }
    with ExitStack() as stack:
        # Of those kept for measuring networks: no other network of this machine has them.
        subnet = stack.enter_context(_subnet())
        switch = stack.enter_context(_switch(list(interfaces.values()), seed=seed))
        made = Network(
            {name: f"{subnet}.{number}" for number, name in enumerate(everybody, start=1)},
            f"{subnet}.0/24",
            interfaces,
            switch,
        )
        for name, interface in interfaces.items():
            inside: list[str] = []
            if name != OUTSIDE:
                _ip("netns", "add", interface)
                stack.callback(_ip, "netns", "delete", interface)
                _ip("link", "set", interface, "netns", interface)
                inside = ["-n", interface]
                _ip(*inside, "link", "set", "lo", "up")
            _ip(*inside, "address", "add", f"{made.addresses[name]}/24", "dev", interface)
            _ip(*inside, "link", "set", interface, "up")
        stack.callback(switch.kill)  # first: its interfaces go with their namespaces
        yield made


@contextmanager
def _subnet() -> Iterator[str]:
    """The beginning of its addresses: one that no other run on this machine has."""
    while True:
        subnet = f"198.18.{random.randrange(256)}"
        with Path(f"/tmp/driftline-{subnet}.lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            yield subnet
            Path(lock.name).unlink()
            return


@contextmanager
def _switch(interfaces: Sequence[str], *, seed: int) -> Iterator["subprocess.Popen[str]"]:
    measures = ("--delay", str(DELAY_SECONDS), "--loss", str(LOSS), "--seed", str(seed))
    with subprocess.Popen(
        [sys.executable, wire.__file__, *measures, *interfaces],
        cwd=PROJECT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == "done\n", "the switch did not start"
        try:
            yield process
        finally:
            process.kill()


def _ip(*arguments: str, check: bool = True) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(["ip", *arguments], check=check, capture_output=True)
