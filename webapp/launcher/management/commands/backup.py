from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection

from webapp.launcher import StackError, stop_as_if_interrupted
from webapp.launcher.tasks import save


class Command(BaseCommand):
    help = (
        "Write everything of the instance to FILE, as of one moment, while it runs on. Whoever can "
        "read the file can sign in as anybody."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", metavar="FILE", type=Path, help="a new file")

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["file"].absolute()
        stop_as_if_interrupted()
        try:
            save(connection.settings_dict, settings.SECRET_KEY, path)
        except StackError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{path}: {path.stat().st_size / 1e6:,.1f} MB")
