"""What `benchmarks.explorer` measures, once Django is there."""

import shutil
from collections.abc import Iterator
from functools import partial
from statistics import median, quantiles
from time import perf_counter
from urllib.request import urlopen

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
GESTURES = 30
"""Zooms in one measured row."""

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

GESTURE = """key => new Promise((resolve) => {
  const chart = document.querySelector("#chart");
  chart.focus();
  const began = performance.now();
  const watch = new MutationObserver(() => {
    watch.disconnect();
    requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - began), 0));
  });
  watch.observe(chart, { attributeFilter: ["data-drawn"] });
  chart.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
})"""
"""Presses a key on the chart; the milliseconds until what it asks for is painted."""


def run(instance: Instance, *, points: int, times: int) -> Iterator[Row]:
    """Fill the instance, then a row for each figure."""
    fill(series=SERIES, revisions=REVISIONS)
    machine = Hardware.objects.order_by("pk")[0].name
    _long_series(points)
    base = f"http://127.0.0.1:{instance.port}"
    modes = "&".join(f"mode=mode-{number:02}" for number in range(SERIES))
    together = f"{base}/trends/?hardware={machine}&{modes}&split=one"
    # The longest series alone: nothing else is asked of the server meanwhile.
    alone = f"{base}/trends/?hardware={machine}&mode={LONG_MODE}&last={points}"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        yield from _cold(browser, together, times)
        yield from _warm(browser, together, times)
        yield from _gestures(browser, alone, f"{points} points")
        yield from _thinned(alone, times)
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
        cursor.execute("ANALYZE")  # or each of the copies below is looked for among all rows
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


def _warm(browser: Browser, address: str, times: int) -> Iterator[Row]:
    """Later visits, the scripts in the cache, and zooms there."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    spent = []
    for _ in range(times + 1):
        page.goto(address)
        page.wait_for_selector(DRAWN)
        spent.append(_now(page))
    context.close()
    yield _row("warm visit, 20 series: interactive, p50", median(spent[1:]), "ms", times)
    yield from _gestures(browser, address, f"{SERIES} series × {REVISIONS}")


def _gestures(browser: Browser, address: str, what: str) -> Iterator[Row]:
    """From a key that zooms to the finished redraw, further and further, and back."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.goto(address)
    page.wait_for_selector(DRAWN)
    yield _row(f"{what}: interactive", _now(page), "ms", 1)
    page.wait_for_load_state("networkidle")
    keys = ["ArrowUp" if at % 6 < 3 else "ArrowDown" for at in range(GESTURES)]
    spent = [float(page.evaluate(GESTURE, key)) for key in keys]
    yield _row(f"{what}: gesture to redraw, p50", median(spent), "ms", len(spent))
    yield _row(f"{what}: gesture to redraw, p95", quantiles(spent, n=20)[-1], "ms", len(spent))
    context.close()


def _thinned(address: str, times: int) -> Iterator[Row]:
    """The figure of parts of the long history, each another one, as the server answers it."""
    figure = address.replace("/trends/", "/trends/figure.json")
    spent = []
    for number in range(2 * times):
        first = FIRST + 1000 * number
        began = perf_counter()
        with urlopen(f"{figure}&view=r{first}..r{first + 20_000}") as answer:  # noqa: S310
            answer.read()
        spent.append(1000 * (perf_counter() - began))
    yield _row("figure of a part of the points, p50", median(spent), "ms", len(spent))
    yield _row("figure of a part of the points, p95", quantiles(spent, n=20)[-1], "ms", len(spent))


def _now(page: Page) -> float:
    return float(page.evaluate("performance.now()"))
