from collections.abc import Iterator
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

from webapp.merging.services import LabError, Removed, remove_lab
from webapp.results.models import Metric, Mode, Revision, Tree

STAY = (Tree, Revision, Mode, Metric)


class Command(BaseCommand):
    help = (
        "Remove a lab with its machines, agents and tokens, all that was measured there and "
        "concluded from it. Uploads wait meanwhile. This cannot be undone: look with --dry-run "
        "first, and make a backup."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="the lab, as /labs/ lists it")
        parser.add_argument("--dry-run", action="store_true", help="only print what would go")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with transaction.atomic():
                removed = remove_lab(name=options["name"])
                stays = ", ".join(f"{one.objects.count():,} {_plural(one)}" for one in STAY)
                transaction.set_rollback(options["dry_run"])
        except LabError as error:
            raise CommandError(str(error)) from error
        for line in _lines(removed):
            self.stdout.write(line)
        self.stdout.write(f"Stays, with what other labs measured: {stays}.")
        if options["dry_run"]:
            self.stdout.write("Nothing was changed: this was a dry run.")


def _lines(removed: Removed) -> Iterator[str]:
    for model, (gone, of) in removed.gone.items():
        yield f"Goes: {gone:,} of {of:,} {_plural(model)}"
    for (model, column), number in removed.changed.items():
        what = model._meta.get_field(column).verbose_name  # type: ignore[union-attr]  # noqa: SLF001
        yield f'Stays, without "{what}": {number:,} {_plural(model)}'
    if removed.regrouped:
        yield f"Stays, with fewer findings: {removed.regrouped:,} alerts"


def _plural(model: Any) -> str:
    return str(model._meta.verbose_name_plural)  # noqa: SLF001 (documented)
