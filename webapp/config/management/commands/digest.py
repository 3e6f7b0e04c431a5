from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from webapp.config.digest import PARTS, digest, rows_of
from webapp.results.models import Series


class Command(BaseCommand):
    help = (
        "Print a digest of everything stored and concluded, one line a part: name, SHA-256, number "
        "of rows. Two instances that took the same runs, in any order, print the same."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--rows",
            choices=[part.name for part in PARTS],
            metavar="PART",
            help="print the rows of one part instead, sorted: for diff, where two digests differ",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        waiting = Series.objects.dirty().count()
        if waiting:
            self.stderr.write(f"{waiting} series wait for their analysis: what follows will change")
        if options["rows"]:
            part = next(part for part in PARTS if part.name == options["rows"])
            lines = sorted(rows_of(part))
        else:
            lines = [str(line) for line in digest()]
        for line in lines:
            self.stdout.write(line)
