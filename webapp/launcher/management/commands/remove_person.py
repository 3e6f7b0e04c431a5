from collections import Counter
from typing import Any

from django.apps import apps
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

from webapp.accounts.models import User
from webapp.accounts.services.people import RoleError, remove_author, remove_people
from webapp.results.models import Revision

STAY = (User, Revision)


class Command(BaseCommand):
    help = (
        "Erase who a person was: the account, or with --author the author of commits. What the "
        "person did stays, under a number. This cannot be undone."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", nargs="?", default="", help="as the person signs in")
        parser.add_argument(
            "--author",
            action="append",
            default=[],
            help="name or address of an author without an account; once for each",
        )
        parser.add_argument("--dry-run", action="store_true", help="only print what would change")

    def handle(self, *args: Any, **options: Any) -> None:
        if bool(options["name"]) == bool(options["author"]):
            raise CommandError("Give the name of an account, or --author.")
        with transaction.atomic():
            counts = self._remove(options["name"], options["author"])
            transaction.set_rollback(options["dry_run"])
        for label, number in sorted(counts.items()):
            if number:
                self.stdout.write(_sentence(apps.get_model(label), number))
        if options["dry_run"]:
            self.stdout.write("Nothing was changed: this was a dry run.")

    def _remove(self, name: str, authors: list[str]) -> Counter[str]:
        if authors:
            return remove_author(names=authors)
        people = User.objects.filter(username=name, removed_at__isnull=True)
        if not people.exists():
            raise CommandError(f"Nobody signs in as {name!r}.")
        try:
            return remove_people(people=people)
        except RoleError as error:
            raise CommandError(str(error)) from error


def _sentence(model: Any, number: int) -> str:
    what = model._meta.verbose_name if number == 1 else model._meta.verbose_name_plural  # noqa: SLF001
    return f"{'Stays, under a number' if model in STAY else 'Goes'}: {number:,} {what}"
