"""Why a password or code is not looked at now. Each says when to come again."""


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
