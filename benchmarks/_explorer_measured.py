"""What `benchmarks.explorer` measures, once Django is there."""

import shutil
from collections.abc import Iterator
from functools import partial
from statistics import median, quantiles

from django.db import connection
from django.db.backends.utils import CursorWrapper
from django.db.models import Model
from playwright.sync_api import Browser, Page, Response, sync_playwright

from benchmarks._instance import Instance
from benchmarks._pages_filled import fill
from tests import make
from webapp.results.models import Hardware

Row = dict[str, object]
DRAWN = "#chart[data-drawn]"
SERIES, REVISIONS = 20, 200
STEPS = 60
"""Moves of the pointer or the wheel in one measured gesture."""

LONG_MODE = "long"
FIRST, LEVEL, SCATTER = 500_000, 1e6, 1e4
"""The position of the long series' first revision, and what its values are."""

ALIASES = (
    "INSERT INTO results_revisionalias (tree_id, revision_id, name) "
    "SELECT tree_id, id, name FROM results_revision WHERE tree_id = %s AND position > %s"
)
VALUES = (
    f"SELECT id AS at, position AS along, {LEVEL} + {SCATTER} * sqrt(-2 * ln(1 - random())) "  # noqa: S608
    "* cos(2 * pi() * random()) AS value FROM results_revision WHERE tree_id = %s AND position > %s"
)
"""Normal, by Box and Muller."""

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
    """One series of many revisions whose values alone differ. One point by way of the models, the
    others as copies in SQL: as objects they would take minutes.
    """
    series = make.series(in_mode=LONG_MODE)
    first = make.revisions(1, first=FIRST)[0]
    one = make.point(series, first, [LEVEL * (1 + step / 1000) for step in range(-2, 3)])
    apart = {
        "position": "position + step",
        "name": "'r' || position + step",
        "committed_at": "committed_at + step * interval '1 hour'",
    }
    value = dict.fromkeys(("mean", "median", "minimum", "maximum"), "value")
    with connection.cursor() as cursor:
        cursor.execute("SELECT setseed(0.5)")
        _copy(cursor, first, apart, "generate_series(1, %s) AS step", [points - 1])
        cursor.execute(ALIASES, [first.tree_id, first.position])
        moved = value | {"revision_id": "at", "position": "along"}
        _copy(cursor, one, moved, f"({VALUES}) AS made", [first.tree_id, first.position])
        cursor.execute("ANALYZE")


def _copy(
    cursor: CursorWrapper, row: Model, changed: dict[str, str], beside: str, values: list[int]
) -> None:
    """A copy of ``row`` for each row of ``beside``, its columns ``changed`` having other values."""
    table = row._meta.db_table  # noqa: SLF001
    columns = [
        str(field.column)
        for field in row._meta.concrete_fields  # noqa: SLF001
        if not field.primary_key and not getattr(field, "generated", False)
    ]
    taken = ", ".join(changed.get(column, column) for column in columns)
    cursor.execute(
        f"INSERT INTO {table} ({', '.join(columns)}) "  # noqa: S608
        f"SELECT {taken} FROM {table}, {beside} WHERE {table}.id = %s",
        [*values, row.pk],
    )


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
