"""Which files define a function, as far as names tell."""

from itertools import accumulate
from pathlib import PurePosixPath

from webapp.stats.profiles.calls import Function

SOURCES = frozenset({".c", ".h", ".S", ".s", ".m", ".cc", ".cpp", ".rs"})
KERNEL = ("", "kernel")
"""Modules of functions that are compiled into the kernel, or of which nothing is known."""

FEWEST_LETTERS = 3
"""Of a function's first word that alone names files: `ip` or `in` begin too many."""

DRIVER = "if_"
"""What the files and modules of network drivers begin with, and their functions do not."""


def defines(path: str, function: Function) -> bool:
    """Whether the file at ``path`` may define ``function``.

    Of a module's function: a source file whose directory or stem is the module's name (`pf`:
    `sys/netpfil/pf/pf.c`). Of the kernel's own: one whose stem is the beginning of the function's
    name, or begins with its first word, if that has three letters (underscores aside:
    `ip_fw_dynamic.c` and `ipfw_lookup_dyn_rule`).
    """
    file = PurePosixPath(path)
    if file.suffix not in SOURCES:
        return False
    stem = file.stem.removeprefix(DRIVER)
    if function.module not in KERNEL:
        return function.module.removeprefix(DRIVER) in {stem, *file.parts[:-1]}
    words = [word for word in function.name.split("_") if word]
    stem = stem.replace("_", "")
    first = words[0] if words else ""
    return stem in accumulate(words) or (len(first) >= FEWEST_LETTERS and stem.startswith(first))
