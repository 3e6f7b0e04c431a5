import sys
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from webapp.demo.loading import DemonstrationError, Loading


class Command(BaseCommand):
    help = (
        "Load the demonstration into a running instance, as an agent would, and wait until it is "
        "analysed. What is there already is not loaded again."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--server",
            default=settings.PUBLIC_URL,
            help="the address at which the web server answers (default: %(default)s)",
        )
        parser.add_argument(
            "--timeout",
            type=float,
            default=120.0,
            metavar="SECONDS",
            help="how long an upload, and the analysis, may take (default: %(default)g)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        loading = Loading(
            server=options["server"],
            public_url=settings.PUBLIC_URL,
            directory=settings.STATE / "demo",
            command=Path(sys.executable).with_name("labagent"),
            patience=options["timeout"],
            say=self.stdout.write,
        )
        try:
            loading.load()
        except DemonstrationError as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(f"the demonstration's files: {error}") from error
