"""`manage.py set_role NAME ROLE`: what a person may do."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from webapp.accounts.models import User
from webapp.accounts.services.people import RoleError, set_role


class Command(BaseCommand):
    help = "Give a person a role: viewer, triager or operator."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="as the person signs in")
        parser.add_argument("role", choices=User.Role.values)

    def handle(self, *args: Any, **options: Any) -> None:
        user = User.objects.filter(username=options["name"]).first()
        if user is None:
            raise CommandError(f"Nobody signs in as {options['name']!r}; add people in the admin.")
        try:
            set_role(user=user, role=options["role"])
        except RoleError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{user} is {user.role} now")
