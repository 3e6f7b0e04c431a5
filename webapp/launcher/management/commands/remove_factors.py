"""`manage.py remove_factors NAME`: lets in who lost app, keys and recovery codes."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from webapp.accounts.factors import remove_factors
from webapp.accounts.models import User


class Command(BaseCommand):
    help = "Remove the second factors of a person, who then signs in with the password alone."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="as the person signs in")

    def handle(self, *args: Any, **options: Any) -> None:
        user = User.objects.filter(username=options["name"]).first()
        if user is None:
            raise CommandError(f"Nobody signs in as {options['name']!r}.")
        self.stdout.write(f"{remove_factors(user=user)} removed; {user} needs the password alone")
