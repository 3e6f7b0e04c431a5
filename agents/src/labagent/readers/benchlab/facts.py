"""What is worth knowing about a run besides its samples: plain JSON values under fixed names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from labagent.readers.benchlab.groups import Group
from labagent.readers.benchlab.kernel import Kernel
from labagent.readers.benchlab.names import Names
from labagent.reading import read_head

_COMMAND_BYTES = 2048
_USED_LINES = 2
_MAX_TEXT = 500


def run_facts(
    *,
    group: Group,
    names: Names,
    kernel: Kernel | None,
    label: str,
    topic: str | None,
    iterations: Sequence[str],
    typed: Mapping[str, Any],
) -> dict[str, Any]:
    """The facts of one run, those that a person `typed` apart; those unknown are left out."""
    facts: dict[str, Any] = {
        "format": "bench-lab",
        "label": label,
        "topic": topic,
        "image": names.image,
        "cfg": names.cfg,
        "pktgen": names.pktgen,
        "iterations": list(iterations),
        "senders": count_senders(group.logs),
        "receiver_command": _first_command(group.logs.get("receiver", {})),
        "sender_command": _first_command(group.logs.get("sender", {})),
        **_kernel_facts(kernel),
        "typed": dict(typed),
    }
    return {name: fact for name, fact in facts.items() if fact not in (None, "", [], {}, 0)}


def _kernel_facts(kernel: Kernel | None) -> dict[str, Any]:
    if kernel is None:
        return {}
    return {
        "uname": kernel.ident[:_MAX_TEXT],
        "host": kernel.host,
        "release": kernel.release,
        "kernel_revision": kernel.revision,
        "commit": kernel.commit,
    }


def count_senders(logs: Mapping[str, Mapping[str, Path]]) -> int:
    """Load generators that sent something: one whose log is only its command line did not."""
    kinds = [kind for kind in logs if kind.startswith("sender")]
    return sum(any(_was_used(path) for path in logs[kind].values()) for kind in kinds)


def _was_used(path: Path) -> bool:
    return read_head(path, _COMMAND_BYTES).count(b"\n") > _USED_LINES


def _first_command(logs: Mapping[str, Path]) -> str | None:
    """The command line of the first iteration's log: `pkt-gen -f rx -i igb3 -w 4`."""
    if not logs:
        return None
    head = read_head(logs[min(logs)], _COMMAND_BYTES).decode("utf-8", "replace")
    command = next((line for line in head.splitlines() if line.startswith("CMD")), "")
    return command.partition(": ")[2][:_MAX_TEXT]
