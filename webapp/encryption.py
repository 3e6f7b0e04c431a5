"""Secrets in the database are encrypted (Fernet: AES-128-CBC with HMAC-SHA256): a dump alone opens
nothing. The key follows from SECRET_KEY; former keys, SECRET_KEY_FALLBACKS, still decrypt.
"""

import base64
import hashlib
from typing import TYPE_CHECKING, Any

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.db import models

PURPOSE = b"driftline: secrets in the database"
LOST = "was encrypted with another SECRET_KEY: add that key to SECRET_KEY_FALLBACKS and start anew"


class Unreadable(str):
    """In place of a value that none of the keys decrypts; empty."""

    __slots__ = ()


def encrypt(text: str) -> str:
    """``text`` under the present key."""
    return _keys().encrypt(text.encode()).decode()


def decrypt(token: str) -> str:
    """What ``encrypt`` was given; Unreadable where no key fits."""
    try:
        return _keys().decrypt(token.encode()).decode()
    except InvalidToken:
        return Unreadable()


if TYPE_CHECKING:
    # The type takes parameters, the class does not.
    TextField = models.TextField[str, str]
else:
    TextField = models.TextField


class EncryptedTextField(TextField):
    """A text that is encrypted in the database, so it is not looked for there."""

    def from_db_value(self, value: str | None, *_: Any) -> str | None:
        """The text in clear."""
        return None if value is None else decrypt(value)

    def get_prep_value(self, value: Any) -> Any:
        """The text under the present key. Raises ValueError rather than overwrite what could not be
        read."""
        if isinstance(value, Unreadable):
            raise ValueError(f"{self.name} {LOST}")  # noqa: TRY004 (the type is a mark)
        return None if value is None else encrypt(str(value))


def _keys() -> MultiFernet:
    keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    return MultiFernet([Fernet(_derived(key)) for key in keys])


def _derived(key: str) -> bytes:
    """A key of Fernet: 32 bytes. SECRET_KEY has more entropy than these, so no slow hash is due."""
    return base64.urlsafe_b64encode(
        hashlib.blake2b(key.encode(), key=PURPOSE, digest_size=32).digest()
    )
