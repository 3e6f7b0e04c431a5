"""What an image's name says: revision, branch, and what was changed in it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from labagent.readers.benchlab.tokens import drop_git_hash, numbered, split_tokens, tree_of_branch

_NUMBERED = re.compile(r"^(?:([A-Za-z]+[0-9]*)[_-])?([rnc])?([0-9]{6})(?![0-9])(.*)$")
_HASHED = re.compile(r"^(?=[0-9]*[a-f])([0-9a-f]{11,12})(?![0-9a-f])(.*)$")
_BRANCH = re.compile(
    r"^(HEAD|MAIN|CURRENT|STABLE|RELEASE|RELENG)([0-9]*)(?:\.[0-9]+)?(?=[^a-z]|$)(.*)$"
)
_STAGE = r"(?:-?(?:ALPHA|BETA|RC|RELEASE|PRERELEASE|STABLE|CURRENT)[0-9]*)?(?:-?p[0-9]+)?"
_VERSION = re.compile(rf"^[0-9]{{1,2}}\.[0-9]{{1,2}}{_STAGE}(.*)$")
_CONFIGURATION = re.compile(r"^(GENERIC)[0-9]*(.*)$")

_IN_PREFIX = re.compile(
    r"^(?:[A-Za-z]+[0-9]*_)?[rnc]?[0-9]{6}(?![0-9])[^.]*|^[0-9a-f]{11,12}(?![0-9a-f])[^.]*"
    rf"|^(?:HEAD|MAIN|STABLE|RELEASE|GENERIC)[0-9]+[^.]*|^1[0-9]\.[0-9]{_STAGE}(?=\.)"
)


@dataclass(frozen=True)
class Image:
    """`tokens` are what distinguishes this image from a plain build of `revision` on `tree`."""

    name: str
    revision: str | None = None
    tree: str | None = None
    tokens: tuple[str, ...] = ()


def parse_image(name: str) -> Image:
    """`317849VIMAGE`, `r368606D27401v4`, `MAIN_n268154`, a hash, or a name (`11.1BETA1`, `HEAD120`,
    `GENERIC111yandex`) that says the version, which the kernel knows better, and what was changed.
    """
    if match := _HASHED.match(name):  # it may begin with six digits
        return Image(name, match.group(1), None, split_tokens(match.group(2)))
    if match := _NUMBERED.match(name):
        return _numbered(name, *match.groups())
    if match := _BRANCH.match(name):
        branch, version, rest = match.groups()
        return Image(name, None, _branch_tree(branch, version), split_tokens(rest))
    if match := _VERSION.match(name):
        return Image(name, tokens=split_tokens(match.group(1)))
    if match := _CONFIGURATION.match(name):
        return Image(name, tokens=(match.group(1), *split_tokens(match.group(2))))
    return Image(name, tokens=split_tokens(name))


def _numbered(name: str, branch: str | None, style: str | None, number: str, rest: str) -> Image:
    known = _BRANCH.match(branch or "")
    tree = _branch_tree(known.group(1), known.group(2)) if known else None
    words = split_tokens(branch) if branch and not known else ()
    return Image(name, numbered(style, number), tree, words + split_tokens(drop_git_hash(rest)))


def _branch_tree(branch: str, version: str) -> str | None:
    """`STABLE13` and `STABLE131` are stable/13; the version in `HEAD120` says nothing more."""
    return tree_of_branch(branch, int(version[:2]) if version else None)


def leading_image(prefix: str) -> str:
    """The image at the start of a file's prefix, by its look alone; empty when there is none."""
    match = _IN_PREFIX.match(prefix)
    return match.group() if match else ""
