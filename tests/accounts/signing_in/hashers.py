"""Hashers that tests choose by `PASSWORD_HASHERS`."""

from typing import ClassVar

from webapp.accounts.limits import BoundedHasher


class QuickHasher(BoundedHasher):
    """The site's own with one round, for all tests."""

    iterations = 1


class NotingHasher(BoundedHasher):
    """Notes what was hashed."""

    iterations = 1
    noted: ClassVar[list[str]] = []

    def encode(self, password: str, salt: str, iterations: int | None = None) -> str:
        encoded = super().encode(password, salt, iterations)
        self.noted.append(password)
        return encoded
