"""Take the pictures of docs/screenshots from a running demonstration.

`make demo`, then, when its bisect has ended, `python -m tests.browser.screenshots [URL]`. The pages
are found by following links, so the script knows no revision and no hardware by name.
"""

import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.conftest import ARGUMENTS, BROWSERS

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "screenshots"
DEFAULT = "http://127.0.0.1:8000"
WIDE, NARROW = 1280, 360
WIDE_HEIGHT, NARROW_HEIGHT = 860, 740
DRAWN = "#chart[data-drawn]"


@dataclass(frozen=True, slots=True)
class Shot:
    """One picture: a page in a width and a theme."""

    name: str
    address: str
    width: int = WIDE
    theme: str = "light"


def main(arguments: list[str]) -> int:
    """Write every picture; the first argument is the address of the demonstration."""
    base = (arguments or [DEFAULT])[0].rstrip("/")
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        print("No Chromium on PATH.", file=sys.stderr)
        return 1
    FOLDER.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=list(ARGUMENTS))
        for shot in _shots(_addresses(browser, base)):
            _take(browser, base, shot)
        browser.close()
    return 0


def _addresses(browser: Browser, base: str) -> dict[str, str]:
    """Where the pages to show are, by name."""
    page = browser.new_page()
    page.goto(base)
    compare = _link(page, "main a[href^='/compare/']")
    commit = _link(page, "main li:has-text('mixed') a.revision")
    bisect = _link(page, "main a[href^='/bisects/']:not([href='/bisects/'])")
    page.goto(base + commit)
    wall = _link(page, ".heat a.hw:has-text('Atom')")
    page.goto(f"{base}/alerts/")
    alert = _link(page, "main li:has-text('Planted mixed') a[href^='/alerts/']")
    page.goto(f"{base}/mail/")
    mail = _link(page, "main a[href^='/mail/']:has-text('Planted mixed')")
    page.close()
    machine = wall.removeprefix("/hardware/").strip("/")
    return {
        "overview": "/",
        "commit": commit,
        "hardware": wall,
        "trends": f"/trends/?hardware={machine}&tree={commit.split('/')[2]}",
        "compare": compare,
        "alerts": "/alerts/",
        "alert": alert,
        "mail": mail,
        "bisect": bisect,
    }


def _link(page: Page, selector: str) -> str:
    address = page.locator(selector).first.get_attribute("href")
    if not address:
        raise RuntimeError(f"no link {selector}: is this the demonstration?")
    return address


def _shots(addresses: dict[str, str]) -> Iterator[Shot]:
    for name, address in addresses.items():
        yield Shot(name, address)
    for name in ("trends", "commit"):
        yield Shot(f"{name}-dark", addresses[name], theme="dark")
    for name in ("overview", "trends", "commit", "alert", "bisect"):
        yield Shot(f"{name}-phone", addresses[name], width=NARROW)


def _take(browser: Browser, base: str, shot: Shot) -> None:
    height = WIDE_HEIGHT if shot.width == WIDE else NARROW_HEIGHT
    page = browser.new_page(viewport={"width": shot.width, "height": height})
    page.emulate_media(color_scheme="dark" if shot.theme == "dark" else "light")
    page.goto(base + shot.address, wait_until="networkidle")
    if "/trends/" in shot.address:
        page.wait_for_selector(DRAWN)
        _choose_a_step(page)
    if "/bisects/" in shot.address:
        page.wait_for_selector("#chart svg")
    if "/compare/" in shot.address:
        page.locator("details.compared").first.evaluate("row => row.open = true")
        page.wait_for_selector(".evidence .strip-chart")
    page.screenshot(path=FOLDER / f"{shot.name}.png")
    page.close()


def _choose_a_step(page: Page) -> None:
    """Show the card of the point where the first series moves most."""
    across, down = page.locator('#live .trace[class*="dots"] path').first.evaluate(
        """path => {
          const points = path.getAttribute("d").slice(1).split("M")
            .map((one) => one.split("h")[0].split(",").map(Number));
          const steps = points.slice(1).map(([, y], at) => Math.abs(y - points[at][1]));
          const most = points[steps.indexOf(Math.max(...steps)) + 1];
          const { x, y } = new DOMPoint(...most).matrixTransform(path.getScreenCTM());
          return [x, y];
        }"""
    )
    page.mouse.click(across, down)
    page.wait_for_timeout(300)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
