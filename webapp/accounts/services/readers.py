"""Who may read an instance for which DRIFTLINE_PUBLIC is not set.

Private is the rule. ``migrate`` recorded that an instance which was in use before the rule stays
public, and a demonstration makes itself public.
"""

from django.db import InterfaceError, OperationalError

from webapp.accounts.models import Readers

_is_public = False


def everybody_may_read() -> bool:
    """Whether the instance is public; once it is, a process does not ask again. While the database
    is away nobody is let in who was not before.
    """
    global _is_public  # noqa: PLW0603 (one fact about the process)
    if not _is_public:
        try:
            _is_public = Readers.objects.filter(everybody=True).exists()
        except (OperationalError, InterfaceError):
            return False
    return _is_public


def open_to_everybody() -> None:
    """Make the instance public. Idempotent."""
    Readers.objects.update_or_create(pk=Readers.ONLY, defaults={"everybody": True})
