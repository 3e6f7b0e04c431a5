"""Why a password or code is not looked at now, with when to come again or what to do."""


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
    """Too many of ``what`` (wrong passwords came from your address, say)."""

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
