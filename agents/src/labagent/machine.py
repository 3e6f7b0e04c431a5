"""The machine that this process runs on: its kernel, its name and what it consists of."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from labagent.readers.benchlab.kernel import bounded, parse_uname

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
