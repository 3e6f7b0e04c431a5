"""Commits straight from a git checkout: the first-parent line of one branch."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from webapp.results.commit_documents import SUBJECT_MAX, CommitDocument, clipped
from webapp.results.errors import Unprocessable
from webapp.results.git_log import LoggedCommit, read_log, refused, run_git
from webapp.results.revision_ids import position_of

SHORT_HASH = 12
SHOWN = 5


class Ids(Enum):
    """How revisions of a git tree are called: r368820 and n302145, or by 12 digits of the hash."""

    COUNT = "count"
    HASH = "hash"


@dataclass(frozen=True)
class GitHistory:
    """What was read, and what an operator should know about it."""

    commits: list[CommitDocument]
    warnings: list[str]


def read_git(
    directory: Path, *, branch: str = "HEAD", ids: Ids = Ids.COUNT, with_paths: bool = True
) -> GitHistory:
    """The first-parent history of ``branch``, oldest first, with the paths that commits touched.

    A commit is placed by its Subversion number where it tells one, else at 10⁹ + its first-parent
    count. Where the tree moved from the one to the other is found as the place that leaves the
    fewest commits out of order, for a late commit may quote an old one's number.

    Raises:
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
    """What a commit without a place changed is first measured at the next one that has a place:
    that one stands for both.
    """
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
) -> CommitDocument:
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
        paths=commit.paths,
        parent_known=commit.parent_known,
    )
