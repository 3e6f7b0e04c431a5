from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.utils import timezone

from webapp.config.tasks import kinds, remove_old


class Command(BaseCommand):
    help = (
        "Remove what nobody needs any more: sessions that ended, texts of old mails, deliveries, "
        "logs of jobs … How long each is kept: docs/operating.md. Beat does so once a day."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--dry-run", action="store_true", help="count, and remove nothing: a line for each kind"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        now = timezone.now()
        if options["dry_run"]:
            for kind in kinds():
                self.stdout.write(f"{kind.due(now).count()} {kind.name}")
        else:
            for name, number in remove_old(now):
                self.stdout.write(f"{number} {name}")
