"""`git log` of a checkout, read commit by commit while git is still writing."""

import io
import re
import subprocess
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, NamedTuple

from webapp.results.bounds import EARLIEST, LATEST_COMMIT, sound
from webapp.results.commit_documents import AUTHOR_MAX, EMAIL_MAX, Paths, clipped
from webapp.results.errors import Problem, Unprocessable

# NUL cannot occur in a commit's text or in a path, so it ends every field and, by -z, every path.
# No path begins with a slash: one alone says that a commit begins.
BEGINS = "/"
LOG_FORMAT = f"--format=tformat:{BEGINS}%x00%H%x00%an%x00%ae%x00%ct%x00%B%x00%N"
FIELDS = 6
# Both names of a file that was moved, whatever the operator's configuration says.
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
    paths: Paths | None
    parent_known: bool


def read_log(directory: Path, commit: str, *, with_paths: bool) -> Iterator[LoggedCommit]:
    """The commits along the first parents up to ``commit``, oldest first.

    Raises:
        Unprocessable: git is not installed, or says that something is wrong.
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
    """What git prints. Raises Unprocessable with what it said when it fails."""
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


def logged(number: int, fields: list[str], paths: Paths | None) -> LoggedCommit:
    """A commit of the fields of ``LOG_FORMAT`` after the first."""
    digest, name, email, seconds, message, notes = fields
    return LoggedCommit(
        number=number,
        hash=digest,
        author_name=clipped(sound(name), AUTHOR_MAX),
        author_email=clipped(sound(email), EMAIL_MAX),
        committed_at=_moment(int(seconds)),
        message=sound(message).strip(),
        svn=_svn_number(message, notes),
        paths=paths,
        parent_known=number > 1,
    )


def _paths(tokens: list[str]) -> Paths:
    """git sets the first one off by a line's end."""
    if tokens:
        tokens[0] = tokens[0].removeprefix("\n")
    return Paths.of(token for token in tokens if token)


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
                ["git", "-C", str(directory), *arguments],
                stdout=subprocess.PIPE,
                stderr=complaints,
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
