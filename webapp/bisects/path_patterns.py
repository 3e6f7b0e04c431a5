"""Patterns of paths, one a line, in a small part of the language of gitignore(5).

``*``, ``?`` and ``[…]`` stay within one part of a path, ``**`` stands for any number of parts. A
pattern with a slash at its start or in its middle counts from the top of the tree, any other at
every depth. What names a directory means all beneath it; a slash at the end means that only
directories are meant. Empty lines and those that begin with # mean nothing.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import translate

MOST_PATTERNS = 500
LONGEST_PATTERN = 300
ANY_DEPTH = "**"

Part = re.Pattern[str] | None
"""How a part of a path is to be; None: any number of parts."""


@dataclass(frozen=True, slots=True)
class PathPattern:
    """One line, as it was written and as it is matched."""

    text: str
    parts: tuple[Part, ...]

    def matches(self, path: str) -> bool:
        """Whether it covers ``path``, which is relative to the root of the tree."""
        return _matches(self.parts, path.split("/"))


class PatternsError(ValueError):
    """Lines that are no patterns; ``problems`` names each by its number with the remedy."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


def read_patterns(text: str) -> list[PathPattern]:
    """The patterns of ``text``. Raises PatternsError with every bad line."""
    patterns, problems = [], []
    for number, line in enumerate(text.splitlines(), start=1):
        written = line.strip()
        if not written or written.startswith("#"):
            continue
        if wrong := _problem(written):
            problems.append(f"Line {number}: {wrong}.")
        else:
            patterns.append(PathPattern(written, _parts(written)))
    if len(patterns) > MOST_PATTERNS:
        problems.append(f"There are {len(patterns)} patterns; write at most {MOST_PATTERNS}.")
    if problems:
        raise PatternsError(problems)
    return patterns


def _problem(written: str) -> str:
    """What is wrong with a line, and what to write; empty: nothing."""
    parts = written.split("/")
    checks = {
        f"is longer than {LONGEST_PATTERN} characters; shorten it": len(written) > LONGEST_PATTERN,
        "exceptions (!) are not understood; list only what cannot matter": written[0] == "!",
        "holds a backslash; separate directories by /, and put a literal * into [*]": (
            "\\" in written
        ),
        f"“{written}” matches every path; name a directory or a suffix": not written.strip("*?/"),
        f"“{written}” is never the path of a file; write it as git does, from the top": (
            "//" in written or not {".", ".."}.isdisjoint(parts)
        ),
        "** stands alone between slashes; write * within a name": any(
            ANY_DEPTH in part and part != ANY_DEPTH for part in parts
        ),
    }
    return next((wrong for wrong, is_so in checks.items() if is_so), "")


def _parts(written: str) -> tuple[Part, ...]:
    only_directories = written.endswith("/")
    names = written.strip("/").split("/")
    if not written.startswith("/") and len(names) == 1:
        names = [ANY_DEPTH, *names]
    beneath = ["*", ANY_DEPTH] if only_directories else [ANY_DEPTH]
    return tuple(_part(name) for name in [*names, *beneath])


def _part(name: str) -> Part:
    return None if name == ANY_DEPTH else re.compile(translate(name))


def _matches(parts: Sequence[Part], names: Sequence[str]) -> bool:
    """By going back to the last ``**`` only: what one before it could take, that one can too."""
    part = name = 0
    back: tuple[int, int] | None = None
    while name < len(names):
        if part < len(parts) and parts[part] is None:
            part += 1
            back = (part, name)
        elif part < len(parts) and _fits(parts[part], names[name]):
            part, name = part + 1, name + 1
        elif back is not None:
            back = (back[0], back[1] + 1)
            part, name = back
        else:
            return False
    return all(rest is None for rest in parts[part:])


def _fits(part: Part, name: str) -> bool:
    return part is not None and part.match(name) is not None
