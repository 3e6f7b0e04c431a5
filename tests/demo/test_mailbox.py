"""The demonstration's mails: kept by a real server, shown on pages that exist nowhere else."""

import subprocess
import sys
from collections.abc import Iterator
from email.message import EmailMessage
from pathlib import Path
from smtplib import SMTP, SMTPResponseException
from typing import Any

import pytest
from django.test import Client

from tests import make
from tests.launcher.running import PROJECT, free_port
from tests.pages.conftest import words
from tests.system.running import wait_for
from webapp.config import instance
from webapp.demo.mail_server import Mailbox
from webapp.launcher.servers import MailServer

EVIL = '<p style="color: red">Hello</p><script src="https://evil.example/x.js"></script>'


def message(subject: str = "A subject", html: str = EVIL) -> EmailMessage:
    message = EmailMessage()
    message["From"], message["To"] = "driftline@example.org", "ada@example.org"
    message["Subject"] = subject
    message["Date"] = "Sat, 21 Nov 2026 15:00:00 +0000"
    message.set_content("See https://x.example/alerts/17/ <b>")
    message.add_alternative(html, subtype="html")
    return message


@pytest.fixture
def server(tmp_path: Path) -> Iterator[MailServer]:
    """The program that `make demo` runs."""
    mail = MailServer(tmp_path / "mail", free_port())
    command = [
        *(sys.executable, "-m", "webapp.demo.mail_server"),
        *("--directory", str(mail.directory), "--port", str(mail.port)),
        *("--pidfile", str(tmp_path / "mail.pid")),
    ]
    with subprocess.Popen(command, cwd=PROJECT) as process:
        wait_for(lambda: answers(mail.port), 60)
        yield mail
        process.terminate()
        assert process.wait(10) == 0


def answers(port: int) -> bool:
    try:
        with SMTP("127.0.0.1", port, timeout=5):
            return True
    except (OSError, SMTPResponseException):
        return False


@pytest.fixture
def mailbox(tmp_path: Path, settings: Any) -> Mailbox:
    settings.MAILBOX = tmp_path
    settings.PUBLIC_URL, settings.BIND = "http://127.0.0.1:8000/", "127.0.0.1:8000"
    return Mailbox(tmp_path)


def test_what_is_sent_is_in_a_file_when_the_server_accepts_it(server: MailServer) -> None:
    with SMTP("127.0.0.1", server.port) as smtp:
        smtp.send_message(message())
        kept = Mailbox(server.directory)
        assert len(kept.names()) == 1
        smtp.send_message(message("Another"))
    newest = kept.read(kept.names()[0])
    assert newest
    assert newest.message["Subject"] == "Another"
    assert newest.text.startswith("See https://x.example")


def test_only_the_newest_mails_stay(tmp_path: Path) -> None:
    mailbox = Mailbox(tmp_path, kept=3, clock=iter(range(10)).__next__)
    names = [mailbox.keep(b"x") for _ in range(5)]
    assert mailbox.names() == names[:1:-1]
    assert mailbox.read(names[0]) is None


@pytest.mark.parametrize("name", ["../secret_key", "", "x", "1-1"])
def test_nothing_but_mails_is_read(tmp_path: Path, name: str) -> None:
    (tmp_path / "secret_key.eml").touch()
    assert Mailbox(tmp_path / "mail").read(name) is None


def test_a_port_of_before_is_used_again_while_it_is_free(tmp_path: Path) -> None:
    port = free_port()
    chosen = MailServer.choose(tmp_path, f"smtp://127.0.0.1:{port}")
    assert chosen
    assert chosen.url == f"smtp://127.0.0.1:{port}"
    assert MailServer.choose(tmp_path, "")


def test_the_record_of_an_instance_without_mail_server_is_what_it_was(tmp_path: Path) -> None:
    record = instance.Instance.at(tmp_path)
    instance.write(tmp_path, record)
    assert "mail_url" not in (tmp_path / instance.FILE_NAME).read_text()
    assert instance.read(tmp_path) == record


@pytest.mark.django_db
class TestPages:
    def test_they_list_the_mails_and_show_one(self, client: Client, mailbox: Mailbox) -> None:
        name = mailbox.keep(message().as_bytes())
        assert "ada@example.org A subject" in words(client.get("/mail/").content.decode())
        page = client.get(f"/mail/{name}/").content.decode()
        assert '<a href="https://x.example/alerts/17/" rel="nofollow">' in page
        assert "&lt;b&gt;" in page
        assert "<script src=" not in page.partition("<main")[2]
        assert "style=" not in page.replace("&lt;p style=", "")

    def test_the_html_of_a_mail_can_load_and_run_nothing(
        self, client: Client, mailbox: Mailbox
    ) -> None:
        name = mailbox.keep(message().as_bytes())
        answer = client.get(f"/mail/{name}/html")
        assert EVIL in answer.content.decode()
        policy = dict(
            part.strip().partition(" ")[::2]
            for part in answer["Content-Security-Policy"].split(";")
        )
        assert policy == {
            "default-src": "'none'",
            "style-src": "'unsafe-inline'",
            "img-src": "data:",
            "base-uri": "'none'",
            "form-action": "'none'",
            "frame-ancestors": "'self'",
            "sandbox": "allow-popups allow-popups-to-escape-sandbox",
        }
        assert answer["X-Frame-Options"] == "SAMEORIGIN"

    @pytest.mark.parametrize("address", ["/mail/", "/mail/1/", "/mail/1/html"])
    def test_there_are_none_outside_a_demonstration(
        self, client: Client, settings: Any, address: str
    ) -> None:
        settings.MAILBOX = None
        assert client.get(address).status_code == 404

    def test_a_mail_that_is_gone_is_not_found(self, client: Client, mailbox: Mailbox) -> None:
        assert client.get("/mail/0000000000000000000-0000/").status_code == 404

    @pytest.mark.parametrize(
        ("url", "bind"),
        [
            ("https://demo.example.org/", "127.0.0.1:8000"),
            ("http://127.0.0.1:8000/", "0.0.0.0:8000"),
        ],
    )
    def test_where_others_reach_the_demonstration_mails_are_for_operators(
        self, client: Client, mailbox: Mailbox, settings: Any, url: str, bind: str
    ) -> None:
        settings.PUBLIC_URL, settings.BIND = url, bind
        name = mailbox.keep(message().as_bytes())
        for address in ("/mail/", f"/mail/{name}/", f"/mail/{name}/html"):
            assert client.get(address).status_code == 302
        client.force_login(make.user("op", is_staff=True))
        assert client.get(f"/mail/{name}/").status_code == 200

    def test_the_overview_of_a_demonstration_leads_there(
        self, client: Client, mailbox: Mailbox
    ) -> None:
        client.force_login(make.user("op", is_staff=True))
        assert 'href="/mail/"' in client.get("/outbox/").content.decode()
