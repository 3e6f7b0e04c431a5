"""A kind of mail for tests: what composes it does as its attributes ask."""

from webapp.outbox.messages import Message
from webapp.outbox.models import Mail

KIND = "test"


class Composer:
    """Composes mails of kind ``test``."""

    def __init__(self) -> None:
        self.calls = 0
        self.error: Exception | None = None
        self.errors_about: dict[str, Exception] = {}
        self.message = Message(
            "A subject", "The text.", "<p>The text.</p>", "https://x.example/u/1"
        )

    def __call__(self, mail: Mail) -> Message:
        self.calls += 1
        error = self.error or self.errors_about.get(mail.about)
        if error:
            raise error
        return self.message


composer = Composer()


def compose(mail: Mail) -> Message:
    return composer(mail)
