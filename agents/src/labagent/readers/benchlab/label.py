"""What a result directory's name says: `fbsd12-head.r317849.VIMAGE`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from labagent.readers.benchlab.kernel import tree_of
from labagent.readers.benchlab.releases import DAY, release_id
from labagent.readers.benchlab.tokens import SEPARATORS, numbered, split_tokens, tree_of_branch

_STAGE = r"(?:-?(?:ALPHA|BETA|RC|RELEASE|PRERELEASE)[0-9]*)?(?:-?p[0-9]+)?"
_SYSTEM = re.compile(r"^f(?:ree)?bsd", re.IGNORECASE)
_VERSION = re.compile(rf"^([0-9]{{1,6}})(?:\.([0-9]+))?({_STAGE})(?=[^A-Za-z0-9]|vs|$)")
_VERSUS = re.compile(rf"^(?:-?vs-?[0-9]+(?:\.[0-9]+)?{_STAGE})+(?=[^A-Za-z0-9]|$)")
_BRANCH = re.compile(r"^[-.]([A-Za-z]+[0-9]*)(?=[-._]|$)")
_HASHED = r"(?=[0-9a-f]*[a-f])[0-9a-f]{11,12}(?![A-Za-z0-9])"
_HASH = re.compile(rf"(?<![A-Za-z0-9])({_HASHED})")
_REVISION = re.compile(rf"(?<![A-Za-z0-9])(?!{_HASHED})([rnc])?([0-9]{{6}})(?![0-9])")
_COUNTED_HASH = re.compile(r"(?<=[nc][0-9]{6}-)[0-9a-f]{7,12}(?![A-Za-z0-9])")
"""Behind a count even digits alone are the hash of its commit, however short."""

_YEAR = re.compile(r"(?<![A-Za-z0-9])20[0-9][0-9](?![A-Za-z0-9])")


@dataclass(frozen=True)
class Label:
    """`segments` is what version, branch, revision and year leave over, as names of what was
    changed. `tree` is the branch the label names, `release_tree` what its version alone suggests,
    `release` the release that this version is.
    """

    name: str
    revision: str | None = None
    tree: str | None = None
    release_tree: str | None = None
    release: str | None = None
    segments: tuple[str, ...] = ()


def parse_label(name: str, *, is_dated: bool = False) -> Label:
    """The parts of a label; one of another making is all segments. `is_dated`: a day in it is what
    tells the revision, and nothing that was changed."""
    rest = _SYSTEM.sub("", name)
    version = _VERSION.match(rest) if rest != name else None
    rest = rest[version.end() :] if version else rest
    versus = _VERSUS.match(rest)
    rest = rest[versus.end() :] if versus else rest
    tree, rest = _branch(rest, int(version.group(1)) if version else None)
    return Label(
        name,
        _revision(name),
        tree,
        _release_tree(version) if not versus else None,
        _release(version) if version and not versus and tree is None else None,
        tuple(token for text in _leftovers(rest, is_dated) for token in split_tokens(text)),
    )


def _revision(name: str) -> str | None:
    if match := _REVISION.search(name):
        return numbered(*match.groups())
    match = _HASH.search(name)
    return match.group(1) if match else None


def _branch(rest: str, major: int | None) -> tuple[str | None, str]:
    """The tree of the branch at the start of `rest`, and what follows it.

    `-main-vs-stable13` names what was compared, so it names no branch.
    """
    match = _BRANCH.match(rest)
    tree = tree_of_branch(match.group(1), major) if match else None
    if match is None or tree is None or rest[match.end() :].startswith("-vs-"):
        return None, rest
    return tree, rest[match.end() :]


def _release_tree(version: re.Match[str] | None) -> str | None:
    """`10.1` alone is a release; a bare major says which head it was when measured."""
    if version is None:
        return None
    major, minor, stage = version.groups()
    if minor is None:
        return "freebsd-head"
    return tree_of(int(major), int(minor), stage.lstrip("-") or "RELEASE")


def _release(version: re.Match[str]) -> str | None:
    """A version with a minor number is a release."""
    major, minor, stage = version.groups()
    return release_id(major, minor, stage) if minor is not None else None


def _leftovers(rest: str, is_dated: bool) -> list[str]:
    days = (DAY,) if is_dated else ()
    for known in (*days, _COUNTED_HASH, _REVISION, _HASH, _YEAR):
        rest = known.sub("\0", rest)
    return [part.strip(SEPARATORS) for part in rest.split("\0")]
