"""What colours frames, as names of CSS classes: their module, or how much dearer they became. Pure.

Orange-red and blue mean worse and better on every page, so modules have other hues; each is a wash
that text stands on. The text of a changed frame has the sign of its change: colour is never alone.
"""

import re
from collections.abc import Iterable
from zlib import crc32

from webapp.charts.flame.layout import Flame, Frame, Kind

KERNEL = frozenset({"kernel", "kernel.full", "kernel.debug", "vmlinux", "[kernel.kallsyms]"})
HUES = 5
"""Hues of modules other than the kernel."""

STEPS = (0.5, 2.0, 8.0)
"""Percent of A's packet (points) from which on a change has the next darker colour: the same on
every page, so that two differences can be compared by eye. Below half a point none is claimed."""

NO_SYMBOL = "no-symbol"
"""The class of what is hatched."""

UNNAMED = re.compile(r"(0x)?[0-9a-fA-F]{6,16}|\[?(unknown|unresolved)\]?|\?+")
"""What stands for a function without a symbol."""


def has_symbol(name: str) -> bool:
    """Whether the name is a function's, and not an address or a word for an unknown one."""
    return UNNAMED.fullmatch(name) is None


def module_name(module: str) -> str:
    """A module without its directory: ``/boot/kernel/pf.ko`` is ``pf.ko``."""
    return module.rsplit("/", 1)[-1]


def hues(modules: Iterable[str]) -> dict[str, str]:
    """The class of each module: by its name, so that it stays from graph to graph, and another one
    where an earlier name has the same and one is free.
    """
    found: dict[str, str] = {}
    taken: set[int] = set()
    for module in sorted(set(modules)):
        name = module_name(module)
        if not name or name in KERNEL:
            found[module] = "hue-kernel" if name else "hue-none"
            continue
        wanted = crc32(name.encode(errors="surrogatepass")) % HUES
        slots = [(wanted + step) % HUES for step in range(HUES)]
        slot = next((one for one in slots if one not in taken), wanted)
        taken.add(slot)
        found[module] = f"hue-{slot}"
    return found


def step_of(change: float) -> int:
    """The step of a change in points: 0 for none that counts, to 3; negative for cheaper."""
    size = sum(abs(change) >= step for step in STEPS)
    return size if change > 0 else -size


def step_class(step: int) -> str:
    """The class of a step of `step_of`."""
    if step == 0:
        return "same"
    return f"dearer-{step}" if step > 0 else f"cheaper-{-step}"


def classes_of(flame: Flame) -> list[str]:
    """The classes of each rectangle of ``flame``, in their order."""
    hue = hues(frame.module for frame in flame.frames)
    return [_classes(frame, hue) for frame in flame.frames]


def _classes(frame: Frame, hue: dict[str, str]) -> str:
    if frame.kind is Kind.REST:
        return "rest"
    if frame.change is not None:
        colour = step_class(step_of(frame.change))
    elif frame.key and not has_symbol(frame.name):
        colour = NO_SYMBOL
    else:
        colour = hue[frame.module] if frame.key else "hue-none"
    above = " above" if frame.kind is Kind.ABOVE else ""
    return f"frame {colour}{above}"
