"""A mail server that is as slow as it likes holds a process up for half a minute, not for ever."""

import smtplib
import time
from types import SimpleNamespace
from typing import Any

import pytest

from tests.outbox.slow import Behaviour, dripping, serving
from tests.smtp import MailServer
from webapp.outbox import deadlines, smtp


class InAHurry(smtp.Hurried):
    """The same with less patience."""

    opening_seconds, mail_seconds, closing_seconds = 0.2, 0.2, 0.2


def conversing(until: bytes, then: bytes) -> Behaviour:
    """Accept until ``until`` is heard, then drip ``then``."""

    def behaviour(connection: Any) -> None:
        connection.sendall(b"220 here\r\n")
        while until not in (heard := connection.recv(65536)):
            connection.sendall(b"354 go on\r\n" if b"DATA" in heard.upper() else b"250 ok\r\n")
        dripping(then, request=False)(connection)

    return behaviour


@pytest.mark.parametrize(
    "behaviour",
    [
        dripping(b"220-still here\r\n", request=False),
        dripping(b"2", request=False),
        conversing(b"ehlo", b"250-SIZE\r\n"),
        conversing(b"mail FROM", b"2"),
        conversing(b"rcpt TO", b"250-yes\r\n"),
        conversing(b"data", b"3"),
    ],
    ids=["greeting", "bytes", "ehlo", "sender", "recipient", "data"],
)
def test_a_server_that_drips_is_left_at_the_deadline(behaviour: Behaviour) -> None:
    with serving(behaviour) as server:
        with pytest.raises((smtplib.SMTPException, TimeoutError)):
            InAHurry("127.0.0.1", server.port, "here", timeout=10).sendmail(
                "a@example.org", ["b@example.org"], b"text"
            )
        assert server.ended == 0


def test_each_mail_has_its_own_time(server: MailServer, monkeypatch: pytest.MonkeyPatch) -> None:
    passed = 0.0
    clock = SimpleNamespace(monotonic=lambda: time.monotonic() + passed)
    monkeypatch.setattr(deadlines, "time", clock)
    connection = smtp.Hurried("127.0.0.1", server.port, timeout=10)
    for _ in range(4):
        connection.sendmail("a@example.org", ["b@example.org"], b"Message-ID: <1@x>\r\n\r\ntext")
        passed += 0.6 * connection.mail_seconds
    connection.quit()
    assert server.number == 4
