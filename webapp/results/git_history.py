"""Commits straight from a git checkout: the first-parent line of one branch."""

import io
import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from typing import IO, NamedTuple

from webapp.results import commit_documents
from webapp.results.bounds import EARLIEST, LATEST_COMMIT, sound
from webapp.results.documents import Problem, Unprocessable
from webapp.results.spellings import position_of

# NUL cannot occur in a commit's text or in a path, so it ends every field and, by -z, every path.
# No path begins with a slash: one alone means that a commit begins.
BEGINS = "/"
LOG_FORMAT = f"--format=tformat:{BEGINS}%x00%H%x00%an%x00%ae%x00%ct%x00%B%x00%N"
FIELDS = 6
# Both names of a file that was moved, whatever the operator's configuration is.
WITH_PATHS = ("--name-only", "-m", "--no-renames", "--no-relative", "--ignore-submodules=none")
READ_AT_ONCE = 2**20
# git svn writes the first into a message's last lines, FreeBSD the second into notes.
GIT_SVN_ID = re.compile(r"^git-svn-id: \S+@(\d{1,9})(?: \S+)?$", re.MULTILINE)
SVN_NOTE = re.compile(r"^svn path=\S+; revision=(\d{1,9})", re.MULTILINE)


class LoggedCommit(NamedTuple):
    """``number`` is the first-parent count, 1 for the first; ``svn`` the Subversion number.

    ``committed_at`` is None where no calendar holds it: git stores any 64 bits. ``paths`` are
    against the first parent; None when they were not asked for. ``parent_known``: its first parent
    is the commit before it here.
    """

    number: int
    hash: str
    author_name: str
    author_email: str
    committed_at: datetime | None
    message: str
    svn: int | None
    paths: commit_documents.Paths | None
    parent_known: bool


def read_log(directory: Path, commit: str, *, with_paths: bool) -> Iterator[LoggedCommit]:
    """The commits along the first parents up to ``commit``, oldest first. Raises Unprocessable: git
    is not installed, or finds that something is wrong.
    """
    arguments = (
        *("-c", "log.showRoot=true", "log", "-z", "--first-parent", "--reverse", "--no-color"),
        *("--no-show-signature", "--encoding=UTF-8", "--no-notes", "--notes=refs/notes/commits"),
        *(WITH_PATHS if with_paths else ("--no-patch",)),
        *(LOG_FORMAT, commit, "--"),
    )
    for number, tokens in enumerate(_commits(_tokens(directory, arguments)), start=1):
        paths = _paths(tokens[FIELDS:]) if with_paths else None
        yield logged(number, tokens[:FIELDS], paths)


def run_git(directory: Path, *arguments: str) -> str:
    """What git prints. Raises Unprocessable with its message when it fails."""
    return "".join(_output(directory, arguments))


def refused(message: str) -> Unprocessable:
    """A refusal of the option ``--git``, with the reason."""
    return Unprocessable([Problem("--git", message)])


def _commits(tokens: Iterator[str]) -> Iterator[list[str]]:
    """The fields and paths of each commit. A message may well be a slash and nothing else."""
    commit: list[str] = []
    for token in tokens:
        if token == BEGINS and (not commit or len(commit) >= FIELDS):
            if commit:
                yield commit
            commit = [next(tokens)]
        else:
            commit.append(token)
    if commit:
        yield commit


def logged(number: int, fields: list[str], paths: commit_documents.Paths | None) -> LoggedCommit:
    """A commit of the fields of ``LOG_FORMAT`` after the first."""
    digest, name, email, seconds, message, notes = fields
    return LoggedCommit(
        number=number,
        hash=digest,
        author_name=commit_documents.clipped(sound(name), commit_documents.AUTHOR_MAX),
        author_email=commit_documents.clipped(sound(email), commit_documents.EMAIL_MAX),
        committed_at=_moment(int(seconds)),
        message=sound(message).strip(),
        svn=_svn_number(message, notes),
        paths=paths,
        parent_known=number > 1,
    )


def _paths(tokens: list[str]) -> commit_documents.Paths:
    """git sets the first one off by a line's end."""
    if tokens:
        tokens[0] = tokens[0].removeprefix("\n")
    return commit_documents.Paths.of(token for token in tokens if token)


def _moment(seconds: int) -> datetime | None:
    if not EARLIEST.timestamp() <= seconds < LATEST_COMMIT.timestamp():
        return None
    return datetime.fromtimestamp(seconds, UTC)


def _svn_number(message: str, notes: str) -> int | None:
    found = SVN_NOTE.findall(notes) or GIT_SVN_ID.findall(message)
    return int(found[-1]) if found else None


def _tokens(directory: Path, arguments: tuple[str, ...]) -> Iterator[str]:
    """What git prints, between its NULs."""
    rest = ""
    for text in _output(directory, arguments):
        *whole, rest = (rest + text).split("\x00")
        yield from whole


def _output(directory: Path, arguments: tuple[str, ...]) -> Iterator[str]:
    # Into a file: a pipe that nobody reads would stop git when it has much to complain about.
    with tempfile.TemporaryFile() as complaints:
        try:
            git = subprocess.Popen(
                ["git", "-C", str(directory), *arguments], stdout=subprocess.PIPE, stderr=complaints
            )
        except FileNotFoundError as error:
            raise refused("git is not installed; install it, or import a CSV file") from error
        assert git.stdout is not None
        with git, io.TextIOWrapper(git.stdout, "utf-8", "replace", newline="") as printed:
            while text := printed.read(READ_AT_ONCE):
                yield text
        if git.returncode:
            raise refused(
                f"{_verb(arguments)} failed in {directory}: {_complaint_text(complaints)}"
            )


def _verb(arguments: tuple[str, ...]) -> str:
    """``git log`` without the configuration before it."""
    return f"git {arguments[2] if arguments[0] == '-c' else arguments[0]}"


def _complaint_text(complaints: IO[bytes]) -> str:
    complaints.seek(0)
    return complaints.read().decode(errors="replace").strip()


SHORT_HASH = 12
SHOWN = 5


class Ids(Enum):
    """How revisions of a git tree are called: r368820 and n302145, or by 12 digits of the hash."""

    COUNT = "count"
    HASH = "hash"


@dataclass(frozen=True)
class GitHistory:
    """What was read, and what an operator should know about it."""

    commits: list[commit_documents.CommitDocument]
    warnings: list[str]


def read_git(
    directory: Path, *, branch: str = "HEAD", ids: Ids = Ids.COUNT, with_paths: bool = True
) -> GitHistory:
    """The first-parent history of ``branch``, oldest first, with the paths that commits touched.

    A commit is placed by its Subversion number where it has one, else at 10⁹ + its first-parent
    count. Where the tree moved from the one to the other is found as the place that leaves the
    fewest commits out of order, for a late commit may quote an old one's number. Raises
    Unprocessable: no checkout, no such branch, a shallow clone (its counts would be wrong).
    """
    commit = _tip(directory, branch)
    if run_git(directory, "rev-parse", "--is-shallow-repository").strip() == "true":
        raise refused("the clone is shallow, so commits cannot be counted; git fetch --unshallow")
    log = list(read_log(directory, commit, with_paths=with_paths))
    moved = _move_to_git([one.svn for one in log])
    svn_era, placeless = _in_order(log[:moved])
    git_era = log[moved:]
    if git_era and placeless and placeless[-1] is log[moved - 1]:
        git_era[0] = _after_placeless(git_era[0])
    names = _short_hashes([one.hash for one in log])
    commits = [_document(one, f"r{one.svn}", names, ids) for one in svn_era]
    commits += [_document(one, f"n{one.number}", names, ids) for one in git_era]
    return GitHistory(commits, [_left_out(placeless)] if placeless else [])


def _tip(directory: Path, branch: str) -> str:
    run_git(directory, "rev-parse", "--git-dir")
    try:
        found = run_git(
            directory, "rev-parse", "--verify", "--end-of-options", f"{branch}^{{commit}}"
        )
    except Unprocessable as error:
        message = f"{directory} has no branch or commit {branch!r}; see `git branch`"
        raise refused(message) from error
    return found.strip()


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


def _in_order(log: Sequence[LoggedCommit]) -> tuple[list[LoggedCommit], list[LoggedCommit]]:
    """Those whose Subversion numbers grow, and the others: they have no place between two.

    See `_after_placeless` for the next one that has a place.
    """
    placed: list[LoggedCommit] = []
    placeless: list[LoggedCommit] = []
    follows_placeless = False
    for commit in log:
        if commit.svn is not None and (not placed or commit.svn > (placed[-1].svn or 0)):
            placed.append(_after_placeless(commit) if follows_placeless else commit)
            follows_placeless = False
        else:
            placeless.append(commit)
            follows_placeless = True
    return placed, placeless


def _after_placeless(commit: LoggedCommit) -> LoggedCommit:
    """What a commit without a place changed is measured at the next one that has a place."""
    return commit._replace(paths=None, parent_known=False)


def _left_out(commits: Sequence[LoggedCommit]) -> str:
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


def _document(
    commit: LoggedCommit, placed_by: str, names: dict[str, str], ids: Ids
) -> commit_documents.CommitDocument:
    """``placed_by`` is the id that places it, r368820 or n302145."""
    short = names[commit.hash]
    return commit_documents.CommitDocument(
        where=f"commit {short}",
        revision=placed_by if ids is Ids.COUNT else short,
        position=position_of(placed_by),
        author_name=commit.author_name,
        author_email=commit.author_email,
        committed_at=commit.committed_at,
        subject=commit_documents.clipped(
            commit.message.partition("\n")[0].strip(), commit_documents.SUBJECT_MAX
        ),
        message=commit.message,
        aliases=(placed_by, f"n{commit.number}", commit.hash),
        paths=commit.paths,
        parent_known=commit.parent_known,
    )
