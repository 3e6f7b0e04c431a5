from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection

from webapp.config import instance
from webapp.launcher import StackError, stop_as_if_interrupted
from webapp.launcher.archive import Backup
from webapp.launcher.restoring import forget_in_redis, paused, rehearse, restore

OTHER_KEY = (
    "The backup has another SECRET_KEY than the environment of this instance. Until it is there, "
    "webhooks, sessions and links in mails that were sent do not work: add what `tar -xOf {file} "
    "secret_key` prints to SECRET_KEY_FALLBACKS, start the instance anew, and run `manage.py "
    "rotate_secrets`."
)


class Command(BaseCommand):
    help = (
        "Restore a backup of `manage.py backup` into this instance, which has to be empty. Restore "
        "only a file that you trust."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", metavar="FILE", type=Path)
        parser.add_argument(
            "--rehearse",
            action="store_true",
            help="only see that it can be restored: load it beside the instance, which goes on",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["file"]
        stop_as_if_interrupted()
        try:
            if options["rehearse"]:
                runs = rehearse(connection.settings_dict, path)
                self.stdout.write(f"{path}: can be restored, and holds {runs:,} runs")
                return
            with paused(settings.STATE, ours=not settings.DATABASE_URL_GIVEN) as pause:

                def take_over(backup: Backup) -> None:
                    pause()
                    self._keep_key(backup, path)

                manifest = restore(connection.settings_dict, path, take_over)
                for warning in forget_in_redis():
                    self.stderr.write(warning)
        except StackError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(
            f"restored what Driftline {manifest.driftline} saved at {manifest.made_at}"
        )

    def _keep_key(self, backup: Backup, path: Path) -> None:
        if not settings.SECRET_KEY_GIVEN:
            instance.write_secret_key(settings.STATE, backup.secret_key)
        elif backup.secret_key != settings.SECRET_KEY:
            self.stderr.write(OTHER_KEY.format(file=path))
