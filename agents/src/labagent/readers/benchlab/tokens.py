"""Names that labs give to images and labels, taken apart.

What remains of a name once version, branch and revision are read is what was changed: a patch
under review (`D12685`, `D27401v4`) or a word (`VIMAGE`, `mbuf`, `option-RSS.net.isr`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

PATCH = re.compile(r"D[0-9]{4,6}(?:v[0-9]+)?(?![0-9])")
SEPARATORS = "-._+ "

_BRANCH_TREES = {"head": "freebsd-head", "main": "freebsd-head", "current": "freebsd-head"}
_PROJECTS = frozenset({"routing"})
_STABLE = re.compile(r"^stable([0-9]*)$")

_GIT_HASH = re.compile(r"^[-_.]?g?[0-9a-f]{7,12}(?![0-9A-Za-z])")


def is_patch(token: str) -> bool:
    """Whether a part of a label is the identifier of a patch."""
    return PATCH.fullmatch(token) is not None


def split_tokens(text: str) -> tuple[str, ...]:
    """The patches and the words in `text`: `yandexD12685` → `yandex`, `D12685`."""
    words = [word.strip(SEPARATORS) for word in PATCH.split(text)]
    return (*(word for word in words if word), *PATCH.findall(text))


def drop_git_hash(text: str) -> str:
    """`text` without the hash that follows a commit count (`n268154-97be6fced7d`)."""
    return _GIT_HASH.sub("", text)


def numbered(style: str | None, number: str) -> str:
    """A revision as people write it; a bare number is of svn."""
    return f"{style or 'r'}{number}"


def tree_of_branch(branch: str, major: int | None) -> str | None:
    """The tree a branch's name stands for: `head`, `main`, `stable` (of `major`, or with its own
    number), or a project branch; None for a word that is no branch."""
    name = branch.lower()
    if name in _BRANCH_TREES:
        return _BRANCH_TREES[name]
    if name in _PROJECTS:
        return f"freebsd-projects-{name}"
    if match := _STABLE.match(name):
        number = match.group(1) or major
        return f"freebsd-stable-{number}" if number else None
    return None


def overlaps(token: str, others: Iterable[str]) -> bool:
    """Whether `token` and one of `others` name the same thing, one perhaps at greater length."""
    name = token.casefold()
    return any(_contains(name, other.casefold()) for other in others)


def _contains(one: str, other: str) -> bool:
    return one == other or (min(len(one), len(other)) >= 3 and (one in other or other in one))
