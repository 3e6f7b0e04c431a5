"""Take the pictures of docs/screenshots from a running demonstration.

`make demo`, then, when its bisect has ended, `python -m tests.browser.screenshots [URL]`. With
`--every FOLDER` each page is taken wide and as on a phone, light and dark, to be looked at. The
pages are found by following links, so the script knows no revision and no hardware by name.
"""

import argparse
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.conftest import ARGUMENTS, BROWSERS

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "screenshots"
DEFAULT = "http://127.0.0.1:8000"
HEIGHTS = {1440: 900, 390: 844}
WIDE, NARROW = HEIGHTS
THEMES = ("light", "dark")
DRAWN = "#chart[data-drawn]"
CLOSER = 3
"""Presses of the key that zooms into the drift."""


@dataclass(frozen=True, slots=True)
class Shot:
    """One picture: a page in a width and a theme."""

    name: str
    address: str
    width: int = WIDE
    theme: str = "light"


def main() -> int:
    """Write every picture."""
    parser = argparse.ArgumentParser(prog="tests.browser.screenshots", description=__doc__)
    parser.add_argument("url", nargs="?", default=DEFAULT, help="of the demonstration")
    parser.add_argument("--every", type=Path, metavar="FOLDER", help="all of them, for a look")
    asked = parser.parse_args()
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        print("No Chromium on PATH.", file=sys.stderr)
        return 1
    folder, base = asked.every or FOLDER, asked.url.rstrip("/")
    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=list(ARGUMENTS))
        addresses = _addresses(browser, base)
        for shot in _every(addresses) if asked.every else _shots(addresses):
            _take(browser, base, shot, folder)
        browser.close()
    return 0


def _addresses(browser: Browser, base: str) -> dict[str, str]:
    """Where the pages to show are, by name: trends of one series, of four, of a tree in lanes, and
    of a drift; and a bisect.
    """
    page = browser.new_page()
    page.goto(base)
    one, drift = (
        _link(page, f"main a[href^='/trends/'][href*='{machine}'][href*='pf-statefull']")
        for machine in ("Simulated_Atom", "Simulated_Xeon")
    )
    bisect = _link(page, "main a[href^='/bisects/']:not([href='/bisects/'])")
    page.goto(base + one)
    machines = page.locator("input[name=hardware]").evaluate_all("all => all.map(one => one.value)")
    page.close()
    both = [parse_qs(urlsplit(address).query) for address in (one, drift)]
    tree = both[0]["tree"]
    modes = {"tree": tree, "mode": ["forwarding", "pf-statefull"]}
    four = modes | {"hardware": [query["hardware"][0] for query in both]}
    lanes = {"tree": tree, "hardware": machines, "split": ["hardware"]}
    return {
        "trend": one,
        "trend-four": f"/trends/?{urlencode(four, doseq=True)}",
        "trend-lanes": f"/trends/?{urlencode(lanes, doseq=True)}",
        "trend-drift": drift,
        "bisect": bisect,
    }


def _link(page: Page, selector: str) -> str:
    address = page.locator(selector).first.get_attribute("href")
    if not address:
        raise RuntimeError(f"no link {selector}: is this the demonstration?")
    return address


def _shots(addresses: Mapping[str, str]) -> Iterator[Shot]:
    """Those that the docs show."""
    for name, address in addresses.items():
        yield Shot(name, address)
    yield Shot("trend-phone", addresses["trend-four"], NARROW, "dark")


def _every(addresses: Mapping[str, str]) -> Iterator[Shot]:
    for (name, address), width, theme in product(addresses.items(), HEIGHTS, THEMES):
        yield Shot(f"{name}-{width}-{theme}", address, width, theme)


def _take(browser: Browser, base: str, shot: Shot, folder: Path) -> None:
    page = browser.new_page(viewport={"width": shot.width, "height": HEIGHTS[shot.width]})
    page.emulate_media(color_scheme="dark" if shot.theme == "dark" else "light")
    page.goto(base + shot.address, wait_until="networkidle")
    if shot.address.startswith("/trends/"):
        page.wait_for_selector(DRAWN)
        if "drift" in shot.name:
            _zoom(page)
        elif "lanes" not in shot.name:
            _choose_a_step(page)
    else:
        page.wait_for_selector("#chart svg")
    page.screenshot(path=folder / f"{shot.name}.png")
    page.close()


def _zoom(page: Page) -> None:
    """Into the middle, where the drift is."""
    page.locator("#chart").focus()
    for _ in range(CLOSER):
        with page.expect_response("**/trends/figure.json*"):
            page.keyboard.press("ArrowUp")
    page.wait_for_load_state("networkidle")


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
    page.wait_for_selector("#card .title")


if __name__ == "__main__":
    sys.exit(main())
