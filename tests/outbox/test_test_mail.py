"""`manage.py test_mail` holds a real conversation, and prints what to do when it fails."""

from typing import Any

import pytest
from django.core.management import CommandError, call_command

from tests.smtp import MailServer, Mode, mail_server
from webapp.outbox.smtp import SMTP


@pytest.fixture
def smtp(settings: Any) -> Any:
    with mail_server() as running:
        settings.EMAIL_BACKEND = SMTP
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", running.port
        yield running


def test_a_test_mail_arrives(smtp: MailServer, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("test_mail", "ada@example.org")
    assert "The mail to ada@example.org was taken by the server." in capsys.readouterr().out
    assert smtp.mails[0]["Subject"] == "[driftline] Test mail"


def test_nobody_listening_is_reported_with_a_remedy(smtp: MailServer) -> None:
    smtp.stop()
    with pytest.raises(CommandError, match=r"^Connection refused\. Nothing listens there"):
        call_command("test_mail", "ada@example.org")


@pytest.mark.parametrize(
    ("change", "remedy"),
    [
        ({"EMAIL_USE_TLS": True}, r"without STARTTLS use smtp\+ssl"),
        ({"EMAIL_USE_SSL": True}, r"It does not speak TLS from the start on this port"),
        (
            {"EMAIL_HOST_USER": "ada", "EMAIL_HOST_PASSWORD": "x"},
            r"without sign-in leave user and password out",
        ),
        ({"EMAIL_HOST": "no.such.invalid"}, r"The host's name is not known here"),
    ],
)
def test_a_setting_that_does_not_fit_the_server_is_reported_with_a_remedy(
    smtp: MailServer, settings: Any, change: dict[str, object], remedy: str
) -> None:
    for name, value in change.items():
        setattr(settings, name, value)
    with pytest.raises(CommandError, match=remedy):
        call_command("test_mail", "ada@example.org")


@pytest.mark.parametrize(
    ("mode", "remedy"),
    [
        (Mode.REFUSE, "550 5.1.1 nobody of that name. It refuses the recipient"),
        (Mode.REFUSE_SENDER, "553 5.1.8 this sender may not. It refuses the sender"),
        (Mode.DIE_BEFORE_REPLY, "It hung up"),
    ],
)
def test_a_refusal_is_reported_in_the_servers_words_with_a_remedy(
    smtp: MailServer, mode: Mode, remedy: str
) -> None:
    smtp.mode = mode
    with pytest.raises(CommandError) as refused:
        call_command("test_mail", "ada@example.org")
    assert remedy in str(refused.value)


def test_what_is_no_address_is_not_tried(smtp: MailServer) -> None:
    with pytest.raises(CommandError, match="“ada” is not an e-mail address"):
        call_command("test_mail", "ada")
    assert not smtp.connections
