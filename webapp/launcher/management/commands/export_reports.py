from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from webapp.pages.experiments.files import export


class Command(BaseCommand):
    help = (
        "Write every report below DIR, as one would commit them to a repository: "
        "README.md, ministat's blocks and pictures. Only files that changed are written."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("directory", metavar="DIR", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            done = export(options["directory"])
        except OSError as error:
            raise CommandError(f"cannot write {error.filename}: {error.strerror}") from error
        for line in done.gone:
            self.stderr.write(line)
        self.stdout.write(f"written {done.written}, unchanged {done.unchanged}")
