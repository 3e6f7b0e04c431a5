from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from webapp.results.models import Hardware
from webapp.results.services import rebuild_facts


class Command(BaseCommand):
    help = (
        "Find the facts of machines anew from their stored runs, as after an upgrade from a "
        "version that kept none. Idempotent."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--hardware", help="one machine, by its name; all without it")

    def handle(self, *args: Any, **options: Any) -> None:
        machines = Hardware.objects.order_by("name")
        if options["hardware"]:
            machines = machines.filter(name=options["hardware"])
            if not machines:
                raise CommandError(f"there is no hardware {options['hardware']!r}")
        for machine in machines:
            self.stdout.write(f"{machine.name}: {rebuild_facts(machine.pk)} values of facts")
