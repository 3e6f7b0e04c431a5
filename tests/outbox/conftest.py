"""Mails to send, and people to send them to."""

from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone

from tests import make
from tests.outbox import composing
from tests.outbox.composing import Composer
from webapp.accounts.models import User
from webapp.outbox import services
from webapp.outbox.messages import NewMail
from webapp.outbox.models import Mail


@pytest.fixture
def composer(settings: Any) -> Composer:
    composing.composer = Composer()
    path = f"{composing.__name__}.{composing.compose.__name__}"
    settings.MAIL_COMPOSERS = {**settings.MAIL_COMPOSERS, composing.KIND: path}
    return composing.composer


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
