from datetime import date
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from webapp.accounts.models import AuditEntry
from webapp.accounts.services import lines_of

CHUNK = 2000


class Command(BaseCommand):
    help = "Print the audit log: who changed what, when and from where, newest first."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--format", choices=["csv", "jsonl"], default="jsonl")
        parser.add_argument("--who", default="", help="a person (number or name), agent, command")
        parser.add_argument("--action", default="", help="part of a page's or command's name")
        parser.add_argument("--table", default="")
        parser.add_argument("--row", default="", help="the key of a row of --table")
        parser.add_argument("--since", default="", metavar="YYYY-MM-DD")
        parser.add_argument("--until", default="", metavar="YYYY-MM-DD", help="this day included")

    def handle(self, *args: Any, **options: Any) -> None:
        wanted = {
            name: options[name] for name in ("who", "action", "table", "row", "since", "until")
        }
        for name in ("since", "until"):
            try:
                _ = wanted[name] and date.fromisoformat(wanted[name])
            except ValueError as error:
                raise CommandError(
                    f"--{name} {wanted[name]}: a day such as 2026-11-26 is needed"
                ) from error
        found = AuditEntry.objects.matching(**wanted).with_people()
        for line in lines_of(found.iterator(CHUNK), options["format"]):
            self.stdout.write(line, ending="")
