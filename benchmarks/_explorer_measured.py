"""What `benchmarks.explorer` measures, once Django is there."""

import shutil
from collections.abc import Iterator
from functools import partial
from random import Random
from statistics import median, quantiles

from playwright.sync_api import Browser, Page, Response, sync_playwright

from benchmarks._instance import Instance
from benchmarks._pages_filled import fill
from tests import make
from webapp.results.models import Hardware, Point, Revision, Series

Row = dict[str, object]
DRAWN = "#chart[data-drawn]"
SERIES, REVISIONS = 20, 200
SEED = 3
STEPS = 60
"""Moves of the pointer or the wheel in one measured gesture."""

CHUNK = 5_000
LONG_MODE = "long"

FRAMES = """() => {
  window.frames_ = [];
  let before = performance.now();
  const tick = (now) => {
    window.frames_.push(now - before);
    before = now;
    window.ticking_ = requestAnimationFrame(tick);
  };
  window.ticking_ = requestAnimationFrame(tick);
}"""


def run(instance: Instance, *, points: int, times: int) -> Iterator[Row]:
    """Fill the instance, then a row for each figure."""
    fill(series=SERIES, revisions=REVISIONS)
    machine = Hardware.objects.order_by("pk")[0].name
    _long_series(points)
    base = f"http://127.0.0.1:{instance.port}"
    modes = "&".join(f"mode=mode-{number:02}" for number in range(SERIES))
    together = f"{base}/trends/?hardware={machine}&{modes}"
    # The longest series alone: nothing else is asked of the server meanwhile.
    alone = f"{base}/trends/?hardware={machine}&mode={LONG_MODE}&last={points}"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        yield from _cold(browser, together, times)
        yield _clicked(browser, f"{base}/trends/?hardware={machine}&mode=mode-00", times)
        yield from _frames(browser, alone, points)
        browser.close()


def _long_series(points: int) -> None:
    """One series of many revisions. Only the values differ: pooling each would take minutes."""
    noise = Random(SEED)
    series = make.series(in_mode=LONG_MODE)
    first = 500_000
    for start in range(0, points, CHUNK):
        along = make.revisions(min(CHUNK, points - start), first=first + start * 10)
        one = make.unsaved_point(series, along[0], make.FIVE_SAMPLES)
        same = {name: getattr(one, name) for name in ("n", "runs", "builds", "boots", "levels")}
        Point.objects.bulk_create(_point(series, at, noise.gauss(1e6, 1e4), same) for at in along)


def _point(series: Series, at: Revision, value: float, same: dict[str, object]) -> Point:
    values = {"mean": value, "median": value, "minimum": value, "maximum": value, "variance": 0.0}
    return Point(series=series, revision=at, position=at.position, **values, **same)


def _row(name: str, value: float, unit: str, n: int) -> Row:
    return {"name": name, "value": round(value, 1), "unit": unit, "n": n}


def _cold(browser: Browser, address: str, times: int) -> Iterator[Row]:
    """First visits, each with an empty cache: the drawing in the page, and the script in charge."""
    painted, ready, scripts = [], [], 0
    for _ in range(times):
        context = browser.new_context(viewport={"width": 1440, "height": 900})
        page = context.new_page()
        sizes: list[int] = []
        page.on("response", partial(_script_size, sizes))
        page.goto(address)
        page.wait_for_selector(DRAWN)
        painted.append(_moment(page, "first-contentful-paint"))
        ready.append(float(page.evaluate("performance.now()")))
        scripts = sum(sizes)
        context.close()
    yield _row("scripts of the page, compressed", scripts / 1000, "kB", 1)
    yield _row("cold visit, 20 series: chart painted, p50", median(painted), "ms", times)
    yield _row("cold visit, 20 series: interactive, p50", median(ready), "ms", times)


def _script_size(sizes: list[int], response: Response) -> None:
    if response.request.resource_type == "script":
        sizes.append(int(response.headers.get("content-length", "0")))


def _moment(page: Page, name: str) -> float:
    script = "name => performance.getEntriesByName(name)[0]?.startTime ?? NaN"
    return float(page.evaluate(script, name))


def _clicked(browser: Browser, start: str, times: int) -> Row:
    """From the click on a link to 20 series until the script has drawn them."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    spent = []
    for _ in range(times + 1):
        page.goto(start)
        page.wait_for_selector(DRAWN)
        page.evaluate(
            """address => {
              const link = document.createElement("a");
              link.href = address;
              link.id = "twenty";
              link.textContent = "twenty";
              document.querySelector("main").prepend(link);
            }""",
            start.partition("&mode=")[0] + "&last=200&mode=" + "&mode=".join(_modes()),
        )
        page.locator("#twenty").click()
        page.wait_for_function("document.querySelectorAll('#plot .series').length >= 20")
        page.wait_for_selector(DRAWN)
        spent.append(float(page.evaluate("performance.now()")))
    context.close()
    return _row("20 series × 200: click to interactive, p50", median(spent[1:]), "ms", times)


def _modes() -> list[str]:
    return [f"mode-{number:02}" for number in range(SERIES)]


def _frames(browser: Browser, address: str, points: int) -> Iterator[Row]:
    """The time between frames while a long series is zoomed by wheel and panned by hand."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.goto(address)
    page.wait_for_selector(DRAWN)
    yield _row(f"{points} points: interactive", _now(page), "ms", 1)
    box = page.locator("#plot").bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + 200
    page.mouse.move(x, y)
    zoom = [(0, -60 if at < STEPS / 2 else 40) for at in range(STEPS)]
    pan = [(40 if at % 20 < 10 else -40, 0) for at in range(STEPS)]
    for name, moves in (("zoom", zoom), ("pan", pan)):
        page.evaluate(FRAMES)
        for across, down in moves:
            page.mouse.wheel(across, down)
            page.wait_for_timeout(30)
        page.wait_for_timeout(500)
        found = page.evaluate("() => { cancelAnimationFrame(ticking_); return frames_; }")
        drawn = [float(one) for one in found[1:]]
        yield _row(f"{points} points: {name}, frame p50", median(drawn), "ms", len(drawn))
        yield _row(
            f"{points} points: {name}, frame p95", quantiles(drawn, n=20)[-1], "ms", len(drawn)
        )
        yield _row(f"{points} points: {name}, frame max", max(drawn), "ms", len(drawn))
    context.close()


def _now(page: Page) -> float:
    return float(page.evaluate("performance.now()"))
