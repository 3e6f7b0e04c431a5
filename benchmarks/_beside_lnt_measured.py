"""What `benchmarks.beside_lnt` measures, once Django is there."""

import http.client
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from statistics import median
from time import perf_counter
from typing import Any

from benchmarks._instance import Instance, children, cpu_seconds
from benchmarks._pages_filled import fill
from benchmarks._pages_measured import ask
from benchmarks._pages_measured import pages as pages_of
from benchmarks.ingest import document
from benchmarks.pages import MODES
from webapp.results.models import Measurement

Row = dict[str, object]
A_TURN = 5
FIRST_LOOKS = 10
WARM = 10
METRIC = "execution_time"


def fill_driftline(machines: int, revisions: int) -> tuple[dict[str, str], Iterator[str]]:
    """Addresses of the pages that are compared, and the same data as reports for LNT."""
    before, after = fill(series=machines * MODES, revisions=revisions)
    found = pages_of(before, after)
    return {name: found[name][0] for name in LNT_PAGES}, _reports()


def _reports() -> Iterator[str]:
    """A report for each machine and revision, in the order of the tree."""
    rows = Measurement.objects.values_list(
        "run__revision__position", "series__hardware__name", "series__mode__name",
        "samples", "run__measured_at",
    )  # fmt: skip
    reports: defaultdict[tuple[int, str], dict[str, Any]] = defaultdict(dict)
    for position, machine, mode, samples, at in rows.order_by("run__revision__position", "pk"):
        report = reports[position, machine]
        report.setdefault("format_version", "2")
        report.setdefault("machine", {"name": machine})
        time = f"{at:%Y-%m-%dT%H:%M:%S}"
        run = {"start_time": time, "end_time": time, "llvm_project_revision": str(position)}
        report.setdefault("run", run)
        report.setdefault("tests", []).append({"name": mode, METRIC: list(samples)})
    yield from map(json.dumps, reports.values())


def _graph(numbers: Mapping[str, Any], count: int) -> str:
    field, machine = numbers["field"], numbers["machines"][0]
    chosen = enumerate(numbers["tests"][:count])
    plots = "&".join(f"plot.{n}={machine}.{test}.{field}" for n, test in chosen)
    return f"/db_default/v4/nts/graph?{plots}"


def _compare(numbers: Mapping[str, Any]) -> str:
    """The first machine's runs on both sides of the step."""
    runs, machines = numbers["runs"], len(numbers["machines"])
    after = len(numbers["orders"]) * 3 // 5
    return f"/db_default/v4/nts/{runs[after * machines]}?compare_to={runs[(after - 1) * machines]}"


LNT_PAGES: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "overview": lambda _: "/db_default/v4/nts/recent_activity",
    "one machine": lambda numbers: f"/db_default/v4/nts/machine/{numbers['machines'][0]}",
    "one commit": lambda numbers: (
        f"/db_default/v4/nts/order/{numbers['orders'][len(numbers['orders']) * 3 // 5]}"
    ),
    "compare, one machine": _compare,
    "trend, 1 series": lambda numbers: _graph(numbers, 1),
    "trend, 20 series": lambda numbers: _graph(numbers, MODES),
}
"""The page of LNT that answers the same question: its start page leads to the recent activity."""


@dataclass
class Sides:
    """Both servers. ``lnt`` is the process id and the port of LNT's."""

    instance: Instance
    lnt: tuple[int, int]
    token: str
    changes: "count[int]" = field(default_factory=count)

    def ours_spent(self) -> float:
        """Seconds of processor time of the programs that a page needs."""
        spent = self.instance.cpu_seconds()
        return sum(spent[name] for name in ("front", "web", "postgres"))

    def theirs_spent(self) -> float:
        """The same of LNT's processes."""
        master = self.lnt[0]
        return sum(map(cpu_seconds, [master, *children(master)]))

    def change(self) -> None:
        """Upload a run of the first machine and mode."""
        run = document("Atom_C2758/T540-CR", 300_000 + 3 * 199, next(self.changes))
        run["mode"] = {"workload": "mode-00", "traffic": None, "options": []}
        body = json.dumps({"runs": [run]})
        client = http.client.HTTPConnection("127.0.0.1", self.instance.port)
        heads = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        client.request("POST", "/api/v1/runs", body, heads)
        answer = client.getresponse()
        text = answer.read()
        client.close()
        if answer.status != http.HTTPStatus.CREATED:
            raise RuntimeError(f"upload: {answer.status} {text[:300]!r}")


def run(
    sides: Sides, addresses: Mapping[str, str], numbers: Mapping[str, Any], rounds: int
) -> Iterator[Row]:
    """A row for each page. Raises RuntimeError where an answer is not 200."""
    ours = http.client.HTTPConnection("127.0.0.1", sides.instance.port)
    theirs = http.client.HTTPConnection("127.0.0.1", sides.lnt[1])
    for name, address in addresses.items():
        other = LNT_PAGES[name](numbers)
        for _ in range(WARM):
            ask(ours, address)
            ask(theirs, other)
        measured, compared = Turns(sides.ours_spent), Turns(sides.theirs_spent)
        for _ in range(rounds):
            measured.take(partial(ask, ours, address))
            compared.take(partial(ask, theirs, other))
        first = median(_first_looks(sides, ours, address))
        yield {
            "page": name,
            "CPU ms": measured.cpu_ms(),
            "LNT's CPU ms": compared.cpu_ms(),
            "p50 ms": round(median(measured.walls), 1),
            "LNT's p50 ms": round(median(compared.walls), 1),
            "first look p50 ms": round(first, 1),
        }


def _first_looks(sides: Sides, ours: http.client.HTTPConnection, address: str) -> Iterator[float]:
    """Milliseconds of the first request after an upload."""
    for _ in range(FIRST_LOOKS):
        sides.change()
        start = perf_counter()
        ask(ours, address)
        yield (perf_counter() - start) * 1000


@dataclass
class Turns:
    """The requests of one server: their milliseconds, and its processor time by ``spent``."""

    spent: Callable[[], float]
    walls: list[float] = field(default_factory=list)
    seconds: float = 0.0

    def take(self, request: Callable[[], object]) -> None:
        """A turn of requests."""
        began = self.spent()
        for _ in range(A_TURN):
            start = perf_counter()
            request()
            self.walls.append((perf_counter() - start) * 1000)
        self.seconds += self.spent() - began

    def cpu_ms(self) -> float:
        """Of a request, the mean."""
        return round(self.seconds / len(self.walls) * 1000, 1)
