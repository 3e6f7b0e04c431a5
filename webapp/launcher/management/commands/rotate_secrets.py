from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from webapp.accounts.services import reencrypt_factors
from webapp.config import instance
from webapp.launcher import StackError
from webapp.launcher.restoring import paused
from webapp.outbox.services import reencrypt_secrets


@transaction.atomic
def encrypt_all() -> tuple[int, int]:
    """Encrypt every secret with the present key; of how many endpoints and second factors."""
    return reencrypt_secrets(), reencrypt_factors()


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
            self._reencrypt()
            return
        try:
            with paused(settings.STATE, ours=not settings.DATABASE_URL_GIVEN) as pause:
                pause()
                # Only so many former keys are kept: the oldest must not be needed any more.
                encrypt_all()
                new, former = instance.rotate_secret_key(settings.STATE)
                settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = new, former
                self._reencrypt()
        except StackError as error:
            raise CommandError(str(error)) from error

    def _reencrypt(self) -> None:
        endpoints, factors = encrypt_all()
        self.stdout.write(
            f"Encrypted with the present key: secrets of {endpoints} webhooks and channels, "
            f"{factors} second factors."
        )
        self.stdout.write("What former keys signed (sessions, links in mails) stays good.")
