"""What browser tests do again and again."""

import os
from contextlib import suppress
from itertools import product

from django.conf import settings
from django.test import Client
from playwright.sync_api import Error, Page
from pytest_django.live_server_helper import LiveServer

from webapp.accounts.models import User


def sign_in(page: Page, live_server: LiveServer, user: User) -> None:
    """Give the browser a session of `user`, without the way over the page."""
    client = Client()
    client.force_login(user)
    value = client.cookies[settings.SESSION_COOKIE_NAME].value
    page.context.add_cookies(
        [{"name": settings.SESSION_COOKIE_NAME, "value": value, "url": live_server.url}]
    )


def forbid_scripts(page: Page) -> None:
    """Show `page` as a browser whose user has switched scripts off."""
    session = page.context.new_cdp_session(page)
    session.send("Emulation.setScriptExecutionDisabled", {"value": True})


FITS = "() => document.documentElement.scrollWidth <= document.documentElement.clientWidth"


def beyond(page: Page) -> list[str]:
    """What makes the page wider than its window: elements that reach out of it, or the page."""
    page.wait_for_load_state()  # right after a press the new page may have no element yet
    names = page.evaluate(
        """document.documentElement.scrollWidth > document.documentElement.clientWidth
            ? [...document.querySelectorAll("body *")]
                .filter((one) => one.getBoundingClientRect().right > innerWidth + 1)
                .map((one) => `${one.tagName}.${one.getAttribute("class")}`)
            : null"""
    )
    return [] if names is None else [str(name) for name in names] or ["the page"]


def beyond_any(page: Page) -> list[str]:
    """`beyond` in a phone's, a tablet's and a desk's width; the window stays as wide as before."""
    before, found = page.viewport_size, []
    for width in (390, 768, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        if beyond(page):  # a chart is drawn anew after the window has its new size
            with suppress(Error):
                page.wait_for_function(FITS, timeout=15_000)
        found += [f"{width}: {one}" for one in beyond(page)]
    if before:
        page.set_viewport_size(before)
    return found


SMALLEST = 8.0
"""Pixels of the text of a drawing, below which nobody can read it."""


def small_texts(page: Page) -> list[str]:
    """Drawings whose text is smaller than `SMALLEST` on the screen, as one made for a wide window
    is in a narrow one; a line each.
    """
    found = page.evaluate(
        """smallest => [...document.querySelectorAll("svg")].flatMap((image) => {
            const texts = [...image.querySelectorAll("text")].filter((one) =>
                one.checkVisibility() && one.textContent.trim());
            const sizes = texts.map((one) =>
                parseFloat(getComputedStyle(one).fontSize) * Math.abs(one.getScreenCTM().d));
            const least = Math.min(...sizes);
            const name = image.getAttribute("class") ?? image.parentElement.className;
            return least < smallest ? [`${name}: text of ${least.toFixed(1)} pixels`] : [];
        })""",
        SMALLEST,
    )
    return list(dict.fromkeys(map(str, found)))


def fits(page: Page, name: str, wide: int = 1280, narrow: int = 390) -> None:
    """Hold the page as it stands to its width, wide and on a phone, light and dark.

    With PICTURES, a directory, each is also written there as `name-width-theme.png`.
    """
    page.wait_for_load_state()
    size = page.viewport_size
    for width, scheme in product((wide, narrow), ("light", "dark")):
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        page.set_viewport_size({"width": width, "height": 844})
        found = page.evaluate("document.documentElement.scrollWidth")
        assert found <= width, f"{name} is {found} pixels wide on {width}, {scheme}"
        if pictures := os.environ.get("PICTURES"):
            page.screenshot(path=f"{pictures}/{name}-{width}-{scheme}.png", full_page=True)
    page.emulate_media(color_scheme="light")
    if size:
        page.set_viewport_size(size)


class Fingers:
    """Touches of a page, sent to Chromium as the screen would."""

    def __init__(self, page: Page) -> None:
        self._session = page.context.new_cdp_session(page)

    def touch(self, kind: str, *places: tuple[float, float]) -> None:
        points = [{"x": x, "y": y, "id": number} for number, (x, y) in enumerate(places)]
        self._session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    def move(self, *ways: tuple[tuple[float, float], tuple[float, float]]) -> None:
        """A finger for each way, from its start to its end, in ten steps; the first comes first."""
        starts = [start for start, _ in ways]
        for count in range(1, len(ways) + 1):
            self.touch("touchStart", *starts[:count])
        for step in range(1, 11):
            shares = [[a + (b - a) * step / 10 for a, b in zip(*way, strict=True)] for way in ways]
            self.touch("touchMove", *((x, y) for x, y in shares))
        self.touch("touchEnd")
