"""A mail server, letters to send, and people to send them to."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.utils import timezone

from tests import make
from tests.smtp import MailServer, mail_server
from webapp.accounts.models import User
from webapp.outbox import letters, mail_settings, services
from webapp.outbox.letters import Letter, NewMail
from webapp.outbox.models import Mail


@pytest.fixture
def server(settings: Any) -> Iterator[MailServer]:
    """The mail server that Driftline is set to use."""
    with mail_server() as running:
        settings.EMAIL_BACKEND = mail_settings.SMTP
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", running.port
        yield running


class Composer:
    """Composes mails of kind ``test``; its attributes say how."""

    def __init__(self) -> None:
        self.calls = 0
        self.error: Exception | None = None
        self.errors_about: dict[str, Exception] = {}
        self.letter = Letter("A subject", "The text.", "<p>The text.</p>", "https://x.example/u/1")

    def __call__(self, mail: Mail) -> Letter:
        self.calls += 1
        error = self.error or self.errors_about.get(mail.about)
        if error:
            raise error
        return self.letter


@pytest.fixture
def composer(monkeypatch: pytest.MonkeyPatch) -> Composer:
    made = Composer()
    monkeypatch.setitem(letters._composers, "test", made)
    return made


@pytest.fixture
def ada(db: None) -> User:
    return make.user("ada", email="ada@example.org")


@pytest.fixture
def post(composer: Composer, ada: User) -> Callable[..., Mail]:
    """Posts one mail, due now, and gives it back."""

    def posted(about: str = "thing:1", *, to: User | None = None, thread: str = "") -> Mail:
        recipient = (to or ada).pk
        new = NewMail(recipient, "test", about, timezone.now(), thread)
        services.post_mails([new])
        return Mail.objects.get(recipient=recipient, about=about)

    return posted
