"""Second factors of people: codes, each of which is taken once, and what operators remove."""

from allauth.core.internal.cryptokit import compare_user_code
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal import auth as totp
from allauth.mfa.utils import decrypt
from django.db import transaction

from webapp.accounts.models import User

STEP = "last_step"
"""In the data of an authenticator app: the time step of the last code that was taken."""


@transaction.atomic
def take_code(*, user: User, code: str) -> Authenticator | None:
    """The factor whose code ``code`` is now; None for a wrong code, and for one taken before.

    The rows are locked: of two that send the same code at once, one gets in. What is taken lies in
    the database, because a cache may be emptied (RFC 6238, 5.2).
    """
    rows = Authenticator.objects.select_for_update().filter(user=user).order_by("pk")
    for row in rows:
        if row.type == Authenticator.Type.TOTP and _takes_step(row, code):
            return row
        if row.type == Authenticator.Type.RECOVERY_CODES and row.wrap().validate_code(code):
            return row
    return None


def _takes_step(row: Authenticator, code: str) -> bool:
    secret = decrypt(row.data["secret"])
    for step in totp.yield_hotp_counters_from_time():
        expected = totp.format_hotp_value(totp.hotp_value(secret, step))
        if step > row.data.get(STEP, 0) and compare_user_code(actual=code, expected=expected):
            row.data[STEP] = step
            row.save(update_fields=["data"])
            return True
    return False


def remove_factors(*, user: User) -> int:
    """Remove all second factors of who lost them; how many there were, recovery codes apart."""
    rows = Authenticator.objects.filter(user=user)
    count: int = rows.exclude(type=Authenticator.Type.RECOVERY_CODES).count()
    rows.delete()
    return count
