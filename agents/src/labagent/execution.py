"""A command that is run and timed, and the machine that it runs on."""

import os
import platform
import re
import resource
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from labagent.errors import AgentError, SettingsError
from labagent.files import MAX_LOG_BYTES, size_text
from labagent.job import printable
from labagent.model import Metric
from labagent.readers.benchlab.kernel import bounded, parse_uname
from labagent.readers.formats import Content, Result

LINUX = "linux"
"""The tree of Linux releases, in the order of their numbers."""

_RELEASE = re.compile(r"([0-9]{1,3})\.([0-9]{1,4})(?:\.([0-9]{1,5}))?(?:-rc([0-9]{1,3}))?")
_PATCHES, _MINORS, _CANDIDATES = 100_000, 10_000, 1000
_NOT_IN_A_REVISION = re.compile(r"[^A-Za-z0-9._-]")


@dataclass(frozen=True)
class Machine:
    """What a run records of it; `tree`, `revision` and `position` are those of the kernel, empty
    or None where it does not name them."""

    name: str
    tree: str
    revision: str
    position: int | None
    kernel_ident: str
    build_id: str
    facts: Mapping[str, str] = field(default_factory=dict)


def this_machine() -> Machine:
    """The machine at hand."""
    uname = os.uname()
    ident = " ".join(uname)
    hardware = linux_facts() if uname.sysname == "Linux" else bsd_facts()
    facts = {"uname": ident, "release": uname.release, "host": uname.nodename, **hardware}
    return machine_of(uname.sysname, uname.release, uname.version, ident, facts)


def machine_of(
    system: str, release: str, version: str, ident: str, facts: Mapping[str, str]
) -> Machine:
    """The same from what uname(1) prints."""
    name = platform.node().partition(".")[0] or "localhost"
    kernel = parse_uname(ident)
    if system == "Linux":
        revision = _NOT_IN_A_REVISION.sub("-", release)[:64]
        build = bounded(f"{release} {version}")
        return Machine(name, LINUX, revision, linux_position(release), ident, build, facts)
    build = kernel.build or bounded(f"{release} {version}")
    revision = kernel.revision or kernel.release
    return Machine(name, kernel.tree or "", revision, None, ident, build, facts)


def linux_position(release: str) -> int | None:
    """The place of `6.12.3` or `6.13.0-rc4` among Linux releases; candidates precede theirs."""
    match = _RELEASE.match(release)
    if not match:
        return None
    major, minor, patch, candidate = (int(part) if part else 0 for part in match.groups())
    place = (major * _MINORS + minor) * _PATCHES + patch
    return place * _CANDIDATES + (candidate if match[4] else _CANDIDATES - 1)


def linux_facts() -> dict[str, str]:
    """CPU, microcode, memory and firmware, as Linux shows them; without what it does not."""
    cpu = dict(re.findall(r"^([^\t:]+)\t*: *(.*)$", _text("/proc/cpuinfo"), re.MULTILINE))
    memory = re.search(r"^MemTotal: *([0-9]+) kB$", _text("/proc/meminfo"), re.MULTILINE)
    dmi = [_text(f"/sys/class/dmi/id/bios_{part}").strip() for part in ("vendor", "version")]
    found = {
        "cpu": cpu.get("model name", "").strip(),
        "cpus": str(os.cpu_count() or ""),
        "microcode": cpu.get("microcode", ""),
        "memory": f"{round(int(memory[1]) / 1024)} MiB" if memory else "",
        "bios": " ".join(filter(None, dmi)),
    }
    return {name: text for name, text in found.items() if text}


def bsd_facts() -> dict[str, str]:
    """The same by sysctl(8) and kenv(1)."""
    memory = _printed("sysctl", "-n", "hw.physmem")
    found = {
        "cpu": _printed("sysctl", "-n", "hw.model"),
        "cpus": str(os.cpu_count() or ""),
        "memory": f"{round(int(memory) / 1024**2)} MiB" if memory.isdecimal() else "",
        "bios": _printed("kenv", "-q", "smbios.bios.version"),
    }
    return {name: text for name, text in found.items() if text}


def _text(path: str) -> str:
    try:
        return Path(path).read_text("utf-8", "replace")
    except OSError:
        return ""


def _printed(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()


WALL = Metric("wall_time", "s", "less")
USER = Metric("user_time", "s", "less")
SYSTEM = Metric("system_time", "s", "less")
MEMORY = Metric("peak_memory", "MiB", "less")
_MAXRSS = 1 if sys.platform == "darwin" else 1024
"""Bytes in a unit of ru_maxrss."""


class CommandError(AgentError):
    """The command did not end with 0, or printed too much."""


@dataclass(frozen=True)
class Execution:
    """What a command printed, and what it took with all the processes that it waited for."""

    stdout: str
    stderr: str
    wall: float
    user: float
    system: float
    peak_bytes: int | None

    def content(self) -> Content:
        """Times and peak memory as results."""
        values = [(WALL, self.wall), (USER, self.user), (SYSTEM, self.system)]
        if self.peak_bytes is not None:
            values.append((MEMORY, self.peak_bytes / 1024**2))
        return Content([Result(metric, (value,)) for metric, value in values])


def execute(
    command: Sequence[str], directory: str | None = None, path: str | None = None
) -> Execution:
    """Run it to its end without standard input, in ``directory`` and with ``path`` as its PATH
    where they are given. Raises CommandError and SettingsError."""
    environ = {**os.environ, "PATH": path} if path else None
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.perf_counter()
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                cwd=directory,
                env=environ,
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise SettingsError(
                f"{command[0]} cannot be started: {reason}", "write it as a shell would start it"
            ) from error
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:
            process.terminate()
            raise
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        stdout, stderr = _read(out), _read(err)
    if process.returncode:
        raise CommandError(_failure(command, process.returncode, stderr or stdout))
    return Execution(stdout, stderr, wall, usage.ru_utime, usage.ru_stime, _peak(usage))


def _peak(usage: resource.struct_rusage) -> int | None:
    """Bytes; None where it is hidden: a process begins with the peak of the one that started it."""
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return usage.ru_maxrss * _MAXRSS if usage.ru_maxrss > own else None


def _read(file: IO[bytes]) -> str:
    size = file.seek(0, os.SEEK_END)
    if size > MAX_LOG_BYTES:
        raise CommandError(
            f"the command printed {size_text(size)}, more than the {size_text(MAX_LOG_BYTES)} read",
            "have it write a file of results, and pass --read FILE",
        )
    file.seek(0)
    return file.read().decode("utf-8", "replace")


def _failure(command: Sequence[str], status: int, text: str) -> str:
    how = f"was killed by signal {-status}" if status < 0 else f"ended with {status}"
    last = next(_last_lines(text), "")
    return f"{shlex.join(command)} {how}" + (f": {last}" if last else "")


def _last_lines(text: str) -> Iterator[str]:
    return (printable(line.strip())[:200] for line in reversed(text.splitlines()) if line.strip())


def this_boot() -> str:
    """A name of the boot that this process runs in. Raises AgentError where the system has none."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:
        asked = ["sysctl", "-n", "kern.boottime"]
    try:
        return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError) as error:
        raise AgentError("this system does not name its boots", "leave --reboot out") from error
