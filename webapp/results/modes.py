"""How a mode is written: ``workload[@traffic][+option…]``, options sorted. An option is a word, or
a knob and its value (``hw.cxgbe.nXxq=5``)."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from webapp.results.bounds import HALVES, INVISIBLE

PART_PATTERN = rf"[^\s@+/?#&{INVISIBLE}]+"
MODE_PATTERN = rf"{PART_PATTERN}(@{PART_PATTERN})?(\+{PART_PATTERN})*"
PART = re.compile(rf"[^\s@+/?#&{INVISIBLE}{HALVES}]+")
PART_MAX = 100
NAME_MAX = 400


@dataclass(frozen=True)
class ModeName:
    """The parts of a mode's name, in their canonical form (options unique and sorted)."""

    workload: str
    traffic: str | None = None
    options: tuple[str, ...] = ()

    @classmethod
    def of(cls, workload: str, traffic: str | None, options: Iterable[str]) -> "ModeName":
        """The name with its options sorted, each once."""
        return cls(workload, traffic or None, tuple(sorted(set(options))))

    @classmethod
    def parse(cls, text: str) -> "ModeName":
        """The parts of ``text``. Raises ValueError that says what is wrong."""
        head, *options = text.split("+")
        workload, _, traffic = head.partition("@")
        for part in [workload, *options, *([traffic] if "@" in head else [])]:
            if len(part) > PART_MAX or not PART.fullmatch(part):
                raise ValueError(
                    f"{text[:NAME_MAX]!r} is not a mode: write workload[@traffic][+option…], "
                    f"each part 1 to {PART_MAX} characters without spaces, @, +, /, ?, #, &"
                )
        return cls.of(workload, traffic, options)

    def at_knob(self, knob: str) -> "tuple[ModeName, str] | None":
        """The mode without this knob, and the value that it has here; None: it is not set."""
        for option in self.options:
            name, _, value = option.partition("=")
            if name == knob and value:
                rest = tuple(one for one in self.options if one != option)
                return ModeName(self.workload, self.traffic, rest), value
        return None

    def without(self, option: str) -> "ModeName":
        """The mode without this option."""
        rest = tuple(one for one in self.options if one != option)
        return ModeName(self.workload, self.traffic, rest)

    def __str__(self) -> str:
        traffic = f"@{self.traffic}" if self.traffic else ""
        return self.workload + traffic + "".join(f"+{option}" for option in self.options)
