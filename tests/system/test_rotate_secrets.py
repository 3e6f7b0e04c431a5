"""The key of an instance that `make up` started is changed, and everybody still gets in."""

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
import requests

from tests.accounts.signing_in.steps import RIGHT, code_of_now
from tests.launcher.running import Launch
from tests.outbox.receivers import Receiver, receiving
from tests.system.running import SWEEP_SECONDS, wait_for
from webapp.config import instance
from webapp.outbox.services.delivering import SIGNATURE_HEADER, signature

pytestmark = [pytest.mark.long, pytest.mark.stack]
TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')


class Browser:
    """Somebody who fills in the forms of an instance."""

    def __init__(self, launch: Launch) -> None:
        self.url = launch.url.rstrip("/")
        self.session = requests.Session()
        self.session.trust_env = False

    def get(self, path: str) -> str:
        return self._text(self.session.get(self.url + path, timeout=60))

    def post(self, path: str, *, page: str = "", **fields: str) -> str:
        """Send a form of ``page``; without one, of the page at ``path``."""
        token = TOKEN.search(page or self.get(path))
        assert token
        form = fields | {"csrfmiddlewaretoken": token[1]}
        return self._text(self.session.post(self.url + path, form, timeout=60))

    def sign_in(self, code: str) -> bool:
        """With name and password, then a code."""
        self.post("/sign-in/", username="ada", password=RIGHT)
        self.post("/sign-in/code/", code=code)
        return "Sign out" in self.get("/account/")

    def _text(self, answer: requests.Response) -> str:
        answer.raise_for_status()
        return unescape(answer.text)


@pytest.fixture
def launch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Launch]:
    variables = {
        "DRIFTLINE_SWEEP_SECONDS": str(SWEEP_SECONDS),
        "DRIFTLINE_WEBHOOKS_ALLOW": "127.0.0.0/8",
        "DRIFTLINE_WEBHOOKS_PORTS": "1024-65535",
    }
    launch = Launch(tmp_path / "state", variables=variables).with_data()
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", RIGHT)
    try:
        launch.start().manage(
            "createsuperuser", "--noinput", "--username=ada", "--email=ada@example.org"
        )
        yield launch
    finally:
        launch.discard()


def add_app(browser: Browser) -> tuple[str, list[str]]:
    """The secret of a new authenticator app, and the recovery codes."""
    browser.post("/sign-in/", username="ada", password=RIGHT)
    browser.post("/sign-in/again/?next=/account/factors/", password=RIGHT)
    page = browser.get("/account/factors/app/")
    secret = re.search(r'class="secret">(\w+)<', page)
    assert secret
    code = code_of_now(secret=secret[1])
    added = browser.post("/account/factors/app/", page=page, code=code)
    assert "The app is added" in added
    return secret[1], re.findall(r"<code>(\d{8})</code>", browser.get("/account/factors/codes/"))


def add_webhook(browser: Browser, receiver: Receiver) -> str:
    """The secret that its deliveries are signed with."""
    page = browser.post("/webhooks/", name="ci", url=receiver.url(), allow_private="on")
    secret = re.search(r"dlhook_[\w-]+", page)
    assert secret, page
    return secret[0]


def ping(browser: Browser, receiver: Receiver, secret: str) -> bool:
    """Whether a test delivery is signed with ``secret``."""
    number = re.search(r"/webhooks/(\d+)/", browser.get("/webhooks/"))
    assert number
    address, before = f"/webhooks/{number[1]}/", len(receiver.requests)
    browser.post(f"{address}act/", page=browser.get(address), act="ping")
    wait_for(lambda: len(receiver.requests) > before, seconds=60)
    headers, body = receiver.requests[-1]
    at = re.match(r"t=(\d+),", headers[SIGNATURE_HEADER])
    assert at
    return headers[SIGNATURE_HEADER] == signature(secret, body, at=int(at[1]))


def test_codes_sessions_and_signatures_outlive_the_key(launch: Launch) -> None:
    with receiving() as receiver:
        first = Browser(launch)
        secret, codes = add_app(first)
        hook = add_webhook(first, receiver)
        # The code of now has added the app.
        assert Browser(launch).sign_in(codes[1])
        assert ping(first, receiver, hook)
        former = instance.read_secret_key(launch.state)

        printed = launch.manage("rotate_secrets")
        launch.wait_until_ready()
        assert "1 webhooks and channels, 2 second factors" in printed
        assert instance.read_former_keys(launch.state) == [former]
        assert "Sign out" in first.get("/account/")
        second = Browser(launch)
        assert second.sign_in(code_of_now(1, secret))
        assert ping(second, receiver, hook)

        # Nothing needs the former key any more but what it signed.
        launch.interrupt()
        (launch.state / instance.FORMER_KEYS_NAME).unlink()
        launch.start()
        third = Browser(launch)
        assert third.sign_in(codes[0])
        assert ping(third, receiver, hook)
