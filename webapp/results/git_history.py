"""Commits straight from a git checkout: the first-parent line of one branch."""

import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from typing import NamedTuple

from webapp.results.commit_documents import (
    AUTHOR_MAX,
    EMAIL_MAX,
    SUBJECT_MAX,
    CommitDocument,
    clipped,
)
from webapp.results.errors import Problem, Unprocessable
from webapp.results.revision_ids import position_of

SHORT_HASH = 12
SHOWN = 5
# NUL cannot occur in a commit's text, so it ends every field and, by -z, every commit.
LOG_FORMAT = "--format=tformat:%H%x00%an%x00%ae%x00%ct%x00%B%x00%N"
FIELDS = 6
# git svn writes the first into a message's last lines, FreeBSD the second into notes.
GIT_SVN_ID = re.compile(r"^git-svn-id: \S+@(\d{1,9})(?: \S+)?$", re.MULTILINE)
SVN_NOTE = re.compile(r"^svn path=\S+; revision=(\d{1,9})", re.MULTILINE)


class Ids(Enum):
    """How revisions of a git tree are called: r368820 and n302145, or by 12 digits of the hash."""

    COUNT = "count"
    HASH = "hash"


@dataclass(frozen=True)
class GitHistory:
    """What was read, and what an operator should know about it."""

    commits: list[CommitDocument]
    warnings: list[str]


class _Commit(NamedTuple):
    """``number`` is the first-parent count, 1 for the first; ``svn`` the Subversion number."""

    number: int
    hash: str
    author_name: str
    author_email: str
    committed_at: datetime
    message: str
    svn: int | None


def read_git(directory: Path, *, branch: str = "HEAD", ids: Ids = Ids.COUNT) -> GitHistory:
    """The first-parent history of ``branch``, oldest first.

    A commit is placed by its Subversion number where it tells one, else at 10⁹ + its first-parent
    count. Where the tree moved from the one to the other is found as the place that leaves the
    fewest commits out of order, for a late commit may quote an old one's number.

    Raises:
        Unprocessable: no checkout, no such branch, a shallow clone (its counts would be wrong).
    """
    commit = _tip(directory, branch)
    if _run(directory, "rev-parse", "--is-shallow-repository").strip() == "true":
        raise _refused("the clone is shallow, so commits cannot be counted; git fetch --unshallow")
    log = list(_log(directory, commit))
    moved = _move_to_git([one.svn for one in log])
    svn_era, placeless = _in_order(log[:moved])
    names = _short_hashes([one.hash for one in log])
    commits = [_document(one, f"r{one.svn}", names, ids) for one in svn_era]
    commits += [_document(one, f"n{one.number}", names, ids) for one in log[moved:]]
    return GitHistory(commits, [_left_out(placeless)] if placeless else [])


def _tip(directory: Path, branch: str) -> str:
    _run(directory, "rev-parse", "--git-dir")
    try:
        found = _run(directory, "rev-parse", "--verify", "--end-of-options", f"{branch}^{{commit}}")
    except Unprocessable as error:
        message = f"{directory} has no branch or commit {branch!r}; see `git branch`"
        raise _refused(message) from error
    return found.strip()


def _log(directory: Path, commit: str) -> Iterator[_Commit]:
    output = _run(
        directory,
        "log",
        "-z",
        "--first-parent",
        "--reverse",
        "--no-color",
        "--no-show-signature",
        "--encoding=UTF-8",
        "--no-notes",
        "--notes=refs/notes/commits",
        LOG_FORMAT,
        commit,
        "--",
    )
    fields = output.split("\x00")
    for number, start in enumerate(range(0, len(fields) - 1, FIELDS), start=1):
        digest, name, email, seconds, message, notes = fields[start : start + FIELDS]
        yield _Commit(
            number=number,
            hash=digest,
            author_name=clipped(name, AUTHOR_MAX),
            author_email=clipped(email, EMAIL_MAX),
            committed_at=datetime.fromtimestamp(int(seconds), UTC),
            message=message.strip(),
            svn=_svn_number(message, notes),
        )


def _run(directory: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(
            ["git", "-C", str(directory), *arguments], capture_output=True, check=True
        )
    except FileNotFoundError as error:
        raise _refused("git is not installed; install it, or import a CSV file") from error
    except subprocess.CalledProcessError as error:
        raise _refused(
            f"git {arguments[0]} failed in {directory}: "
            f"{error.stderr.decode(errors='replace').strip()}"
        ) from error
    return done.stdout.decode(errors="replace")


def _refused(message: str) -> Unprocessable:
    return Unprocessable([Problem("--git", message)])


def _svn_number(message: str, notes: str) -> int | None:
    found = SVN_NOTE.findall(notes) or GIT_SVN_ID.findall(message)
    return int(found[-1]) if found else None


def _move_to_git(numbers: Sequence[int | None]) -> int:
    """The index of the first commit that was made in git.

    Commits without a number before it and with one after it are out of place; it is where there
    are the fewest of them.
    """
    misplaced = fewest = sum(number is not None for number in numbers)
    index = 0
    for i, number in enumerate(numbers, start=1):
        misplaced += 1 if number is None else -1
        if misplaced < fewest:
            fewest, index = misplaced, i
    return index


def _in_order(log: Sequence[_Commit]) -> tuple[list[_Commit], list[_Commit]]:
    """Those whose Subversion numbers grow, and the others: they have no place between two."""
    placed: list[_Commit] = []
    placeless = []
    for commit in log:
        if commit.svn is not None and (not placed or commit.svn > (placed[-1].svn or 0)):
            placed.append(commit)
        else:
            placeless.append(commit)
    return placed, placeless


def _left_out(commits: Sequence[_Commit]) -> str:
    some = ", ".join(commit.hash[:SHORT_HASH] for commit in commits[:SHOWN])
    more = ", …" if len(commits) > SHOWN else ""
    return (
        f"{len(commits)} commits of the time of Subversion are left out: no number, or one out of "
        f"order, so no place on the tree ({some}{more})"
    )


def _short_hashes(hashes: Sequence[str]) -> dict[str, str]:
    """Each hash in 12 digits, or as many more as tell it from the ones before it."""
    taken: dict[str, str] = {}
    for digest in hashes:
        length = SHORT_HASH
        while digest[:length] in taken and length < len(digest):
            length += 1
        taken[digest[:length]] = digest
    return {digest: short for short, digest in taken.items()}


def _document(commit: _Commit, placed_by: str, names: dict[str, str], ids: Ids) -> CommitDocument:
    """``placed_by`` is the id that places it, r368820 or n302145."""
    short = names[commit.hash]
    return CommitDocument(
        where=f"commit {short}",
        revision=placed_by if ids is Ids.COUNT else short,
        position=position_of(placed_by),
        author_name=commit.author_name,
        author_email=commit.author_email,
        committed_at=commit.committed_at,
        subject=clipped(commit.message.partition("\n")[0].strip(), SUBJECT_MAX),
        message=commit.message,
        aliases=(placed_by, f"n{commit.number}", commit.hash),
    )
