from typing import Any

from django.core.management.base import BaseCommand

from webapp.notifications.services import checks


class Command(BaseCommand):
    help = "Print what /status/ shows: a line for each check. Exit status 1 where one is wrong."
    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:
        found = checks()
        for each in found:
            self.stdout.write(f"{each.state:9}  {each.name}: {each.text}")
            if each.remedy:
                self.stdout.write(f"{'':9}  {each.remedy}")
        if any(each.is_wrong for each in found):
            raise SystemExit(1)
