import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from webapp.results.commit_documents import CommitDocument, read_file
from webapp.results.documents import Unprocessable
from webapp.results.git_history import GitHistory, Ids, read_git
from webapp.results.services import history
from webapp.results.services.reidentifying import reidentify

MOST_PROBLEMS = 20


class Command(BaseCommand):
    help = "Make the commits of a tree known, from a file or a git checkout. Idempotent."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--tree", required=True, help="for example freebsd-head")
        source = parser.add_mutually_exclusive_group(required=True)
        source.add_argument(
            "file",
            nargs="?",
            help="CSV with a header, or JSON lines; - for standard input. Columns: revision, "
            "position, author_name, author_email, committed_at, subject, message, aliases, "
            "paths",
        )
        source.add_argument("--git", metavar="DIR", type=Path, help="a git checkout (not shallow)")
        parser.add_argument(
            "--whole",
            action="store_true",
            help="with a file: it holds every commit from its first position to its last, as a "
            "checkout does, so a commit may be named as the cause of a change",
        )
        parser.add_argument("--branch", help="with --git: the branch; what is checked out if none")
        parser.add_argument(
            "--ids",
            choices=[one.value for one in Ids],
            help="with --git: call commits r368820 and n302145 (count), or by 12 digits of the "
            "hash (hash); without it, as the tree's revisions are called, or count for freebsd-*",
        )

        parser.add_argument(
            "--no-paths",
            action="store_true",
            help="with --git: do not read which files each commit touched (it takes longest)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        tree = options["tree"]
        try:
            commits = self._from_git(options) if options["git"] else self._from_file(options)
            done = history.import_revisions(tree_name=tree, commits=commits)
        except Unprocessable as error:
            raise CommandError(_listed(error)) from error
        self.stdout.write(
            f"{tree}: {done.new} new, {done.changed} changed, {done.moved} moved, "
            f"{done.same} as they were"
        )
        filed = reidentify(tree_name=tree)
        if filed.days:
            self.stdout.write(f"{filed.days} days have their place along the dated history now")
        if filed.moved or filed.settled or filed.waiting:
            self.stdout.write(
                f"by the hashes of their kernels, {filed.moved} runs moved to another commit, "
                f"{filed.settled} wait no longer, {filed.waiting} wait now (see /runs/waiting/)"
            )

    def _from_file(self, options: dict[str, Any]) -> list[CommitDocument]:
        commits = self._read(options)
        return _without_gaps(commits) if options["whole"] else commits

    def _read(self, options: dict[str, Any]) -> list[CommitDocument]:
        if options["branch"] or options["ids"] or options["no_paths"]:
            raise CommandError(
                "--branch, --ids and --no-paths go with --git; leave them out for a file"
            )
        try:
            if options["file"] == "-":
                return read_file(sys.stdin)
            with Path(options["file"]).open(encoding="utf-8", newline="") as file:
                return read_file(file, options["file"])
        except OSError as error:
            raise CommandError(f"{options['file']}: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise CommandError(f"{options['file']} is not UTF-8 ({error}); convert it") from error

    def _from_git(self, options: dict[str, Any]) -> list[CommitDocument]:
        if options["whole"]:
            raise CommandError("--whole goes with a file; a checkout is always read whole")
        tree, ids = options["tree"], options["ids"]
        read = read_git(
            options["git"],
            branch=options["branch"] or "HEAD",
            ids=Ids(ids) if ids else history.native_ids(tree=tree),
            with_paths=not options["no_paths"],
        )
        for warning in [*read.warnings, *_missing_svn(tree, read)]:
            self.stderr.write(self.style.WARNING(f"warning: {warning}"))
        return read.commits


def _without_gaps(commits: Sequence[CommitDocument]) -> list[CommitDocument]:
    """``commits`` in their order along the tree, each the child of the one before it."""
    problems = [
        one.problem("position", "is empty; with --whole every commit needs its place")
        for one in commits
        if one.position is None
    ]
    if problems:
        raise Unprocessable(problems)
    ordered = sorted(commits, key=lambda one: one.position or 0)
    return [*ordered[:1], *(replace(one, parent_known=True) for one in ordered[1:])]


def _missing_svn(tree: str, read: GitHistory) -> list[str]:
    if any(commit.is_svn for commit in read.commits) or not history.has_svn_numbers(tree=tree):
        return []
    message = (
        f"{tree} holds Subversion revisions, and no commit here names its number; fetch the notes "
        "(git fetch origin 'refs/notes/*:refs/notes/*') and import again"
    )
    return [message]


def _listed(error: Unprocessable) -> str:
    lines = [f"{problem.path}: {problem.message}" for problem in error.problems[:MOST_PROBLEMS]]
    more = len(error.problems) - len(lines)
    return "\n".join(["nothing was imported:", *lines, *([f"and {more} more"] if more else [])])
