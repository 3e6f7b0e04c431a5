from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from webapp.config import instance
from webapp.launcher.backups.serving import paused
from webapp.launcher.errors import StackError
from webapp.outbox.services import reencrypt_secrets


class Command(BaseCommand):
    help = (
        "Make a new SECRET_KEY for the instance, and encrypt what is stored with it; the programs "
        "of the instance stop meanwhile. Sessions and links in mails stay good. Where SECRET_KEY "
        "comes from the environment: set a new one, list the former one in SECRET_KEY_FALLBACKS, "
        "start everything anew, then run this."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        if settings.SECRET_KEY_GIVEN:
            if not settings.SECRET_KEY_FALLBACKS:
                raise CommandError(
                    "SECRET_KEY comes from the environment: set a new one there, and the present "
                    "one as SECRET_KEY_FALLBACKS, start everything anew and run this again."
                )
            self._report(reencrypt_secrets())
            return
        try:
            with paused(settings.STATE, ours=not settings.DATABASE_URL_GIVEN) as pause:
                pause()
                new, former = instance.rotate_secret_key(settings.STATE)
                settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = new, former
                self._report(reencrypt_secrets())
        except StackError as error:
            raise CommandError(str(error)) from error

    def _report(self, number: int) -> None:
        self.stdout.write(f"Encrypted with the present key: {number} endpoints.")
        self.stdout.write("What former keys signed (sessions, links in mails) stays good.")
