"""The lab's commands: templates whose placeholders are filled in argument by argument.

A value never makes two arguments of one and never meets a shell, unless the file says
`shell = true`; then it is quoted.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ALWAYS = frozenset(
    [
        *("revision", "number", "tree", "hardware"),
        *("mode", "workload", "traffic", "options", "metric"),
        *("job", "build", "boots", "iterations", "directory"),
    ]
)
"""Placeholders that any command may use; `boot`, `iteration` and `output` only those within one."""

_PLACEHOLDER = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
_BRACES = {"{{": "{", "}}": "}"}


@dataclass(frozen=True)
class Command:
    """One command of the configuration. `arguments`: the program first, or one line for the shell;
    `timeout` is in seconds, `key` its place in the file."""

    arguments: tuple[str, ...]
    timeout: float
    shell: bool = False
    key: str = ""

    def problem(self, known: frozenset[str]) -> str | None:
        """What is wrong with the placeholders, in words."""
        for word in self.arguments:
            for match in _PLACEHOLDER.finditer(word):
                if match[0] not in _BRACES and (match[1] or "") not in known:
                    return f"does not know {match[0]!r} in {word!r}"
        return None

    def uses(self, name: str) -> bool:
        """Whether the placeholder of this name stands in it."""
        found = (match for word in self.arguments for match in _PLACEHOLDER.finditer(word))
        return any(match[1] == name for match in found)

    def filled(self, values: Mapping[str, str]) -> list[str]:
        """The arguments to execute."""
        if self.shell:
            quoted = {name: shlex.quote(value) for name, value in values.items()}
            return ["/bin/sh", "-c", _fill(self.arguments[0], quoted)]
        return [_fill(word, values) for word in self.arguments]


def _fill(template: str, values: Mapping[str, str]) -> str:
    """`template` with the placeholders replaced in one pass: what a value holds is not looked at
    again."""
    return _PLACEHOLDER.sub(lambda match: _BRACES.get(match[0]) or values[match[1]], template)


def shown(argv: list[str]) -> str:
    """A command as one would type it."""
    return shlex.join(argv)


def program_problem(program: str, path: str | None) -> str:
    """Why `program` cannot be started by whoever has this `PATH`, and the remedy; empty: it can."""
    if shutil.which(program, path=path):
        return ""
    where = [""] if os.sep in program else (path or os.defpath).split(os.pathsep)
    found = next((file for one in where if (file := Path(one) / program).exists()), None)
    if found is None and os.sep in program:
        return f"{program} does not exist on this machine"
    if found is None:
        return f"no program {program!r} on the PATH of the lab's commands, {path or os.defpath}"
    if found.is_dir():
        return f"{found} is a directory"
    return f"{found} is not executable: chmod +x {found}"
