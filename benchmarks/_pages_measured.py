"""What `benchmarks.pages` measures, once Django is there."""

import json
from random import Random
from statistics import median
from time import perf_counter, process_time
from typing import NamedTuple

from django.db import connection
from django.test import Client
from django.test.utils import setup_test_environment

from tests import make
from webapp.results.models import Revision, Series

REVISIONS = 200
MODES = 20
TIMES = 15
STEP_AT = 120
SEED = 2
WHY = (
    "Confirmed: 24 revisions from r363457 on lie -7.9 % [-8.3, -7.5] from the 92 revisions "
    "before, 12.0 standard deviations by what is known now (3.3 were needed when r363655 came "
    "in; revisions here scatter by 0.93 %); it began after r363211 and by r363457."
)
"""A sentence as long as the detector's."""

GOALS: dict[str, tuple[float, float | None]] = {
    "one series": (30.0, None),
    "20 series": (100.0, 150.0),
}
"""Server time in ms, and bytes of page and figure together in kB."""


def run() -> None:
    """Fill a database, measure every page, print."""
    setup_test_environment()
    along = _fill()
    for name, addresses in _pages(along).items():
        _report(name, addresses)


def _fill() -> list[Revision]:
    along = make.revisions(REVISIONS)
    noise = Random(SEED)
    for number in range(MODES):
        level = 1e6 * (1 + number / 10)
        steps = [level] * STEP_AT + [level * 0.9] * (REVISIONS - STEP_AT)
        levels = [step * noise.gauss(1, 0.01) for step in steps]
        series = make.series(in_mode=f"mode-{number:02}")
        make.history(series, along, levels)
        _conclude(series, along, level)
    for revision in along[STEP_AT - 1 : STEP_AT + 1]:
        for number in range(MODES):
            make.run(revision, in_mode=f"mode-{number:02}")
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    return along


def _conclude(series: Series, along: list[Revision], level: float) -> None:
    """What the detector would say: two levels, a finding between them, noise; with its words."""
    before, after = along[STEP_AT - 1 : STEP_AT + 1]
    make.finding(series, before, after, change_pct=-10.0, why=WHY)
    make.analysis(
        series,
        count=REVISIONS,
        segments=[
            make.segment(along[0], before, level),
            make.segment(after, along[-1], level * 0.9),
        ],
        noise=make.noise(revision_pct=1.0, run_pct=0.8, build_pct=0.9),
        smallest={"pct": 3.2, "later_pct": 1.6, "more_runs_pct": 3.0, "helps": "revisions"},
        newest={"revision": {"position": along[-1].position, "label": along[-1].name}},
        why_not=WHY,
        what_helps=WHY,
    )


def _pages(along: list[Revision]) -> dict[str, list[str]]:
    """Names of measurements, and the addresses that together are one."""
    before, after = along[STEP_AT - 1 : STEP_AT + 1]
    return {
        "one series": ["/trends/?mode=mode-00", "/trends/figure.json?mode=mode-00"],
        "20 series": ["/trends/", "/trends/figure.json"],
        "overview": ["/"],
        "trend wall": ["/hardware/Atom_C2758/T540-CR/"],
        "commits": ["/commits/freebsd-head/"],
        "commit": [after.get_absolute_url()],
        "compare": [f"/compare/?a=freebsd-head:{before.name}&b=freebsd-head:{after.name}"],
    }


def _report(name: str, addresses: list[str]) -> None:
    client = Client(headers={"Accept-Encoding": "gzip"})
    times_goal, size_goal = GOALS.get(name, (None, None))
    size = 0.0
    for address in addresses:
        taken = _measure(client, address)
        size += taken.size / 1000
        title = f"pages: {name}: {address.partition('?')[0]}"
        _print(title, taken.wall, "ms", times_goal)
        _print(f"{title}: CPU without PostgreSQL", taken.cpu, "ms", None)
    _print(f"pages: {name}: on the wire", size, "kB", size_goal)


class Taken(NamedTuple):
    """Median milliseconds, and the bytes of the compressed answer."""

    wall: float
    cpu: float
    size: int


def _measure(client: Client, address: str) -> Taken:
    walls, cpus = [], []
    for _ in range(TIMES + 1):
        wall, cpu = perf_counter(), process_time()
        response = client.get(address)
        walls.append((perf_counter() - wall) * 1000)
        cpus.append((process_time() - cpu) * 1000)
        if response.status_code != 200:
            raise RuntimeError(f"{address}: {response.status_code}")
    # The first fills caches of templates and statements, as a started server has them.
    return Taken(median(walls[1:]), median(cpus[1:]), len(response.content))


def _print(name: str, value: float, unit: str, goal: float | None) -> None:
    line = {"name": name, "value": round(value, 1), "unit": unit, "n": TIMES}
    print(json.dumps(line | ({} if goal is None else {"goal": goal})))
