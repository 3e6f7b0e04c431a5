"""What `benchmarks.pages` measures, once Django is there."""

import http.client
from collections.abc import Iterator
from statistics import median
from time import perf_counter

from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from benchmarks._instance import Instance
from benchmarks._pages_filled import fill
from webapp.alerts.models import Alert
from webapp.analysis.queries import Side
from webapp.experiments.services import keep_comparison
from webapp.results.models import Hardware, Revision, Series

Row = dict[str, object]
WARM = 5
"""Requests before those that count: caches of templates and statements, in both web processes."""

FIXED_WORK = "signing in (fixed work)"


def run(
    instance: Instance, *, series: int, revisions: int, modes: int, singles: int, times: int
) -> Iterator[Row]:
    """Fill the instance, then a row for each page. Raises RuntimeError where a page is not 200."""
    before, after = fill(series=series, revisions=revisions, modes=modes, singles=singles)
    settings.ALLOWED_HOSTS = ["*"]
    for name, addresses in pages(before, after).items():
        yield _row(instance, name, addresses, times)


def pages(before: Revision, after: Revision) -> dict[str, list[str]]:
    """Names of measurements, and the addresses that together are one."""
    machine = Hardware.objects.order_by("pk")[0].name
    modes = "&".join(f"mode={name}" for name in _modes(machine))
    sides = f"a=freebsd-head:{before.name}&b=freebsd-head:{after.name}"
    one = f"a=freebsd-head:{before.name}:{machine}&b=freebsd-head:{after.name}:{machine}"
    kept = keep_comparison(
        sides=[Side("freebsd-head", before.name), Side("freebsd-head", after.name)],
        asof=timezone.now(),
        owner=None,
    )
    return {
        FIXED_WORK: ["/sign-in/"],
        "overview": ["/"],
        "hardware": ["/hardware/"],
        "one machine": [f"/hardware/{machine}/"],
        "alerts": ["/alerts/"],
        "one alert": [f"/alerts/{Alert.objects.order_by('pk')[0].pk}/"],
        "commits": ["/commits/freebsd-head/"],
        "one commit": [after.get_absolute_url()],
        "compare, one machine": [f"/compare/?{one}"],
        "compare, all": [f"/compare/?{sides}"],
        "experiment, all": [kept.get_absolute_url()],
        # The page holds the columns that its script draws from: nothing else is asked for.
        "trend, 1 series": [f"/trends/?hardware={machine}&mode=mode-00"],
        "trend, 20 series": [f"/trends/?hardware={machine}&{modes}"],
        "trend, 20 series, JSON": [f"/trends/figure.json?hardware={machine}&{modes}"],
    }


def _modes(machine: str) -> list[str]:
    """The modes of a machine that have a history."""
    rows = Series.objects.filter(hardware__name=machine, mode__name__startswith="mode-")
    return sorted(rows.values_list("mode__name", flat=True))


def _row(instance: Instance, name: str, addresses: list[str], times: int) -> Row:
    """One page: the mean of ``times`` requests, of their times the median."""
    server = http.client.HTTPConnection("127.0.0.1", instance.port)
    size = sum(ask(server, address) for address in addresses)
    for _ in range(WARM):
        for address in addresses:
            ask(server, address)
    began, walls = instance.cpu_seconds(), []
    for _ in range(times):
        start = perf_counter()
        for address in addresses:
            ask(server, address)
        walls.append((perf_counter() - start) * 1000)
    spent = instance.cpu_seconds()
    server.close()
    web, postgres = (
        round((spent[who] - began[who]) / times * 1000, 1) for who in ("web", "postgres")
    )
    return {
        "page": name,
        "statements": sum(map(_statements, addresses)),
        "web ms": web,
        "PostgreSQL ms": postgres,
        "p50 ms": round(median(walls), 1),
        "kB": round(size / 1000, 1),
    }


def ask(server: http.client.HTTPConnection, address: str) -> int:
    """The bytes of the compressed answer."""
    server.request("GET", address, headers={"Accept-Encoding": "gzip"})
    answer = server.getresponse()
    body = answer.read()
    if answer.status != 200:
        raise RuntimeError(f"{address}: {answer.status}")
    return len(body)


def _statements(address: str) -> int:
    """How many statements a page asks, once its caches are warm."""
    client = Client()
    client.get(address)
    with CaptureQueriesContext(connection) as captured:
        answer = client.get(address)
    if answer.status_code != 200:
        raise RuntimeError(f"{address}: {answer.status_code}")
    return len(captured)
