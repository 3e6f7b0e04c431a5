"""People."""

from django.contrib.auth.models import AbstractUser


class User(AbstractUser):
    """A person who signs in. Our own model from the first migration, so that it can grow."""
