from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from webapp.config.exporting import NOTES, GitError, notes_of, tree_with_hashes, write_notes


class Command(BaseCommand):
    help = (
        f"Write what was found about a tree's commits to {NOTES} of a repository, where "
        "`git log --notes=driftline` shows it. Notes of an earlier call are replaced."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--tree", required=True)
        parser.add_argument("--git", required=True, type=Path, metavar="DIR")

    def handle(self, *args: Any, **options: Any) -> None:
        tree = tree_with_hashes(options["tree"])
        lines, newest = notes_of(tree)
        if newest is None:
            self.stdout.write("nothing was found about its commits yet")
            return
        try:
            written, missing = write_notes(options["git"], lines, newest)
        except (GitError, OSError) as error:
            raise CommandError(f"git: {error}") from error
        left = f"; {missing} commits are not in {options['git']}" if missing else ""
        self.stdout.write(f"{written} commits have notes{left}")
