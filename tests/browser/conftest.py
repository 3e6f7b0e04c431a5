"""Browser tests drive the system's Chromium against a real server with the real static files."""

import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from threading import Condition
from typing import Any

import pytest
from django.test import override_settings
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Request,
    Response,
    expect,
)
from pytest_django.live_server_helper import LiveServer

Application = Callable[..., Iterable[bytes]]


class Requests:
    """Those that the server is answering. A page reads in a transaction, and the tables cannot be
    emptied for the next test before it ends.
    """

    def __init__(self) -> None:
        self._running, self._changed = 0, Condition()

    def counting(self, application: Application) -> Application:
        """``application``, its requests counted; as it is otherwise: no test handler between."""

        def counted(*arguments: Any) -> Iterable[bytes]:
            self._add(1)
            try:
                return application(*arguments)
            finally:
                self._add(-1)

        return counted

    def wait(self) -> None:
        """Until none is left."""
        with self._changed:
            assert self._changed.wait_for(lambda: not self._running, timeout=30)

    def _add(self, number: int) -> None:
        with self._changed:
            self._running += number
            self._changed.notify_all()


REQUESTS = Requests()

# What a page is expected to show comes when a busy machine has drawn it.
expect.set_options(timeout=30_000)

BROWSERS = (
    "chromium-headless-shell",  # without windows and menus, in two thirds of the processor time
    *("chromium", "chromium-browser", "google-chrome", "chrome"),
)
ARGUMENTS = (
    "--process-per-site",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """Launch the Chromium that is installed here; nothing is downloaded."""
    found = [path for name in BROWSERS if (path := shutil.which(name))]
    if not found:
        pytest.fail(
            "No Chromium on PATH. Debian: apt install chromium-headless-shell;"
            " FreeBSD: pkg install chromium"
        )
    return {**browser_type_launch_args, "executable_path": found[0], "args": list(ARGUMENTS)}


@pytest.fixture(scope="session")
def profile(
    browser: Browser, browser_context_args: dict[str, Any], live_server: LiveServer
) -> Iterator[BrowserContext]:
    """One profile for all tests, which fetches styles and scripts once."""
    context = browser.new_context(**browser_context_args)
    stay(context, f"{live_server.url}/healthz")
    yield context
    context.close()


def stay(context: BrowserContext, address: str) -> None:
    """Leave a page open at ``address``, so that the process of its site outlives those of the
    tests: to start one, which reads and compiles every script anew, costs Chromium two seconds.
    """
    context.new_page().goto(address)


@pytest.fixture
def context(profile: BrowserContext, live_server: LiveServer) -> Iterator[BrowserContext]:
    """The profile, left without the test's pages, cookies and what pages stored."""
    yield profile
    leave(profile, live_server)


@pytest.fixture(scope="session")
def profile_of_a_phone(browser: Browser, live_server: LiveServer) -> Iterator[BrowserContext]:
    """One profile of a phone for all tests with fingers."""
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    )
    stay(context, f"{live_server.url}/healthz")
    yield context
    context.close()


@pytest.fixture
def phone(profile_of_a_phone: BrowserContext, live_server: LiveServer) -> Iterator[Page]:
    """A page on a phone."""
    yield profile_of_a_phone.new_page()
    leave(profile_of_a_phone, live_server)


def leave(profile: BrowserContext, live_server: LiveServer) -> None:
    """Leave nothing of a test: no page but the one that stays, and nothing that is still asked."""
    staying, *others = profile.pages
    stored = {"origin": live_server.url, "storageTypes": "cookies,local_storage"}
    session = profile.new_cdp_session(staying)
    session.send("Storage.clearDataForOrigin", stored)
    session.detach()
    profile.clear_cookies()
    for page in others:
        page.close()
    REQUESTS.wait()


@pytest.fixture(scope="session", autouse=True)
def database_beside_an_event_loop() -> None:
    """Playwright runs an event loop in this thread, where Django would refuse the database.

    Automatic, so that it comes before the test database is made.
    """
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"


@pytest.fixture(scope="session")
def live_server(django_db_setup: None) -> Iterator[LiveServer]:
    """The site as Gunicorn serves it: WhiteNoise, not a test handler, answers for static files.

    pytest-django gives every test that uses this a transactional database.
    """
    server = LiveServer("127.0.0.1", start=False)
    server.thread.static_handler = REQUESTS.counting
    with override_settings(WHITENOISE_AUTOREFRESH=False):
        server.start()
    yield server
    server.stop()


@pytest.fixture
def trouble(page: Page, live_server: LiveServer) -> Iterator[list[str]]:
    """Everything that went wrong in the browser, or came from another host."""
    found: list[str] = []

    def on_console(message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            found.append(f"{message.type}: {message.text}")

    def on_request(request: Request) -> None:
        if not request.url.startswith((live_server.url, "data:", "blob:")):
            found.append(f"elsewhere: {request.url}")

    def on_failure(request: Request) -> None:
        # Leaving a page ends what it still loads; that is no failure.
        if request.failure != "net::ERR_ABORTED":
            found.append(f"failed: {request.url}: {request.failure}")

    def on_response(response: Response) -> None:
        if response.status >= 400:
            found.append(f"{response.status}: {response.url}")

    page.on("console", on_console)
    page.on("pageerror", lambda error: found.append(f"script: {error}"))
    page.on("request", on_request)
    page.on("requestfailed", on_failure)
    page.on("response", on_response)
    yield found
    assert found == []
