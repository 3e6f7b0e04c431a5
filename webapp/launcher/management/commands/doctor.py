from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from webapp.notifications.services import checks
from webapp.readiness.services import heartbeats


class Command(BaseCommand):
    help = "Print what /status/ shows: a line for each check. Exit status 1 where one is wrong."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--forget",
            metavar="HOST",
            help="first: no longer expect the silent workers of a host that is gone for good",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if host := options["forget"]:
            if not (parts := heartbeats.forget_silent(host)):
                raise CommandError(f"Nothing is silent on {host}: give a name as /status/ has it.")
            self.stdout.write(f"{host} is not expected any more: {', '.join(parts)}")
        found = checks()
        for each in found:
            self.stdout.write(f"{each.state:9}  {each.name}: {each.text}")
            if each.remedy:
                self.stdout.write(f"{'':9}  {each.remedy}")
        if any(each.is_wrong for each in found):
            raise SystemExit(1)
