"""Second factors of people: codes, each of which is taken once, and what operators remove; why a
password or code is not looked at now, with when to come again or what to do.
"""

from allauth.core.internal.cryptokit import compare_user_code
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal import auth as totp
from allauth.mfa.utils import decrypt
from django.db import transaction
from django.db.models import QuerySet

from webapp import encryption
from webapp.accounts.models import User

STEP = "last_step"
"""In the data of an authenticator app: the time step of the last code that was taken."""

SECRETS = {Authenticator.Type.TOTP: "secret", Authenticator.Type.RECOVERY_CODES: "seed"}
"""Where the data of a factor hold a secret. Of a key they hold what is public."""


@transaction.atomic
def take_code(*, user: User, code: str) -> Authenticator | None:
    """The factor whose code ``code`` is now; None for a wrong code, and for one taken before.
    Raises FactorUnreadable where ``code`` is of no factor that can be read.

    The rows are locked: of two that send the same code at once, one gets in. What is taken lies in
    the database, because a cache may be emptied (RFC 6238, 5.2).
    """
    unreadable: FactorUnreadable | None = None
    for row in _with_secrets().filter(user=user).select_for_update().order_by("pk"):
        try:
            if _takes(row, code):
                return row
        except FactorUnreadable as error:
            unreadable = error
    if unreadable is not None:
        raise unreadable
    return None


def _takes(row: Authenticator, code: str) -> bool:
    if row.type == Authenticator.Type.RECOVERY_CODES:
        return bool(row.wrap().validate_code(code))
    secret = decrypt(row.data["secret"])
    for step in totp.yield_hotp_counters_from_time():
        expected = totp.format_hotp_value(totp.hotp_value(secret, step))
        if step > row.data.get(STEP, 0) and compare_user_code(actual=code, expected=expected):
            row.data[STEP] = step
            row.save(update_fields=["data"])
            return True
    return False


def read_secret(stored: str) -> str:
    """A secret as it was before it was encrypted. Raises FactorUnreadable rather than return an
    empty one, whose codes anybody can compute."""
    secret = encryption.decrypt(stored)
    if not secret:
        raise FactorUnreadable
    return secret


def is_readable(factor: Authenticator) -> bool:
    """Whether its codes can be checked."""
    return bool(_secret_of(factor))


def unreadable_factors() -> list[Authenticator]:
    """The factors of all people whose codes cannot be checked, each with its person."""
    rows = _with_secrets().select_related("user").order_by("user__username", "pk")
    return [row for row in rows if not is_readable(row)]


@transaction.atomic
def reencrypt_factors() -> int:
    """Encrypt the secrets of all factors with the present key; of how many. Those that no key
    decrypts stay as they are."""
    rows = _with_secrets().select_for_update().order_by("pk")
    readable = [(row, secret) for row in rows if (secret := _secret_of(row))]
    for row, secret in readable:
        row.data[SECRETS[row.type]] = encryption.encrypt(secret)
    Authenticator.objects.bulk_update([row for row, _ in readable], ["data"], batch_size=500)
    return len(readable)


def remove_factors(*, user: User) -> int:
    """Remove all second factors of who lost them; how many there were, recovery codes apart."""
    rows = Authenticator.objects.filter(user=user)
    count: int = rows.exclude(type=Authenticator.Type.RECOVERY_CODES).count()
    rows.delete()
    return count


def _with_secrets() -> QuerySet[Authenticator]:
    found: QuerySet[Authenticator] = Authenticator.objects.filter(type__in=SECRETS)
    return found


def _secret_of(row: Authenticator) -> str:
    """Empty where it cannot be read."""
    return encryption.decrypt(row.data[SECRETS[row.type]])


class FactorUnreadable(Exception):
    """The secret of a second factor is empty, or none of the keys of this instance decrypts it."""

    def __init__(self) -> None:
        super().__init__(
            "No code can be checked: this instance cannot read the secret of your app or of your "
            "recovery codes, probably because its SECRET_KEY was changed. Ask an operator to add "
            "the former key to SECRET_KEY_FALLBACKS, or to remove your second factors. A key or "
            "passkey still signs in."
        )


class NotNow(Exception):
    """The request is to be repeated after ``retry_after`` seconds."""

    status = 503

    def __init__(self, message: str, *, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class TooManyFailures(NotNow):
    """Too many of ``what`` (wrong passwords came from your address, for one)."""

    status = 429

    def __init__(self, what: str, retry_after: int) -> None:
        super().__init__(
            f"Too many {what}. Try again in {retry_after} second{'s' if retry_after > 1 else ''}.",
            retry_after=retry_after,
        )


class HashingBusy(NotNow):
    """As many passwords are being checked as this process can at once."""

    RETRY_AFTER = 5

    def __init__(self) -> None:
        super().__init__(
            "More people are signing in than the server can check at once. "
            f"Try again in {self.RETRY_AFTER} seconds.",
            retry_after=self.RETRY_AFTER,
        )
