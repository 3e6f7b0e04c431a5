"""Browser tests drive the system's Chromium against a real server with the real static files."""

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.handlers.wsgi import WSGIHandler
from django.test import override_settings
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Request,
    Response,
)
from pytest_django.live_server_helper import LiveServer

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
ARGUMENTS = (
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
            "No Chromium on PATH. Debian: apt install chromium; FreeBSD: pkg install chromium"
        )
    return {**browser_type_launch_args, "executable_path": found[0], "args": list(ARGUMENTS)}


@pytest.fixture(scope="session")
def profile(
    browser: Browser, browser_context_args: dict[str, Any], live_server: LiveServer
) -> Iterator[BrowserContext]:
    """One profile for all tests, which fetches styles and scripts once."""
    context = browser.new_context(**browser_context_args)
    yield context
    context.close()


@pytest.fixture
def context(profile: BrowserContext, live_server: LiveServer) -> Iterator[BrowserContext]:
    """The profile, left without pages, cookies and what pages stored."""
    yield profile
    first, *others = profile.pages or [profile.new_page()]
    stored = {"origin": live_server.url, "storageTypes": "cookies,local_storage"}
    profile.new_cdp_session(first).send("Storage.clearDataForOrigin", stored)
    profile.clear_cookies()
    for page in (*others, first):
        page.close()


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
    server.thread.static_handler = _as_it_is
    with override_settings(WHITENOISE_AUTOREFRESH=False):
        server.start()
    yield server
    server.stop()


def _as_it_is(application: WSGIHandler) -> WSGIHandler:
    return application


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
