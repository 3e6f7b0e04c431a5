"""What supervisors ask: `/metrics`, for Prometheus (what the processes of the web server counted,
and what waits), and whether the instance is alive and ready.

Every process counts in files of its own that all of them add up (`webapp.config.gunicorn`), so it
does not matter which of them answers. What the database knows is read when it is asked for.

Supervisors do not sign in, so these paths stay open on a private instance: they name parts and
count, and show nothing of what was measured.
"""

import shutil
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError, InterfaceError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from webapp.api.schemas.runs import RunIn
from webapp.jobs.models import Job
from webapp.notifications.models import Problem
from webapp.outbox.models import HookDelivery, Mail
from webapp.readiness.services import PARTS, Reporter, heartbeats
from webapp.results.models import Series
from webapp.results.services import Recorded

GOOD_SECONDS = 2.0
"""How long an answer serves all who ask: nobody keeps the database busy by asking."""

REGISTRY = CollectorRegistry()
RUNS = Counter(
    "driftline_runs", "Runs received, by what became of them", ["outcome"], registry=REGISTRY
)
SAMPLES = Counter("driftline_samples", "Samples stored", registry=REGISTRY)
REFUSED = Counter(
    "driftline_refused",
    "Connections and requests refused, by the limit that they passed",
    ["limit"],
    registry=REGISTRY,
)


def count_runs(runs: Sequence[RunIn], recorded: Recorded) -> None:
    """Count an upload that was stored."""
    stored = {*recorded.stored, *recorded.replaced}
    RUNS.labels("stored").inc(len(recorded.stored))
    RUNS.labels("replaced").inc(len(recorded.replaced))
    RUNS.labels("known").inc(len(recorded.known))
    SAMPLES.inc(
        sum(
            len(metric.samples or metric.histograms or ())
            for run in runs
            if run.uuid in stored
            for metric in run.metrics.values()
        )
    )


@login_not_required
@never_cache
def metrics(request: HttpRequest) -> HttpResponse:
    """Prometheus text."""
    return HttpResponse(scrape().text(), content_type=CONTENT_TYPE_LATEST)


class Scrape:
    """The answer, made anew after GOOD_SECONDS by one of those who ask; the others wait for it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._text = b""
        self._good_until = float("-inf")
        self._registry = CollectorRegistry()
        if settings.METRICS_SHARED:
            files = str(settings.METRICS_DIRECTORY)
            MultiProcessCollector(self._registry, files)  # type: ignore[no-untyped-call]
        else:
            self._registry.register(REGISTRY)
        self._registry.register(State())

    def text(self) -> bytes:
        """All metrics."""
        with self._lock:
            if time.monotonic() >= self._good_until:
                self._text = generate_latest(self._registry)
                self._good_until = time.monotonic() + GOOD_SECONDS
            return self._text


@cache
def scrape() -> Scrape:
    """That of this process."""
    return Scrape()


class State(Collector):
    """What is the case now: of the parts, the database and the disk."""

    def describe(self) -> Iterable[GaugeMetricFamily]:
        """Nothing: it would be collected to see its names."""
        return ()

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Gauges; those of the database are left out while it is away."""
        yield from _parts()
        with suppress(DatabaseError, InterfaceError):
            yield from list(_of_the_database())
        yield _disk()


def _gauge(name: str, text: str, values: dict[str, float], label: str) -> GaugeMetricFamily:
    """One value a label."""
    family = GaugeMetricFamily(f"driftline_{name}", text, labels=[label])
    for value_of, value in values.items():
        family.add_metric([value_of], value)
    return family


def _number(name: str, text: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"driftline_{name}", text, value=value)


def _parts() -> Iterator[GaugeMetricFamily]:
    report = reporter().report()
    ready = {part: float(report.state_of(part) == "ok") for part in PARTS}
    seen = {part: heartbeats.decisive(part, report.ages.get(part, {})) for part in heartbeats.PARTS}
    ages = {part: found[1] for part, found in seen.items() if found}
    yield _gauge("part_ready", "1 when a part does its work, as /readyz has it", ready, "part")
    yield _gauge(
        "heartbeat_age_seconds",
        "Time since a part was seen at work, of workers the one that was longest silent",
        ages,
        "part",
    )


def _of_the_database() -> Iterator[GaugeMetricFamily]:
    """One statement for each table, however much is in it."""
    waiting = Series.objects.waiting()
    yield _number("series_dirty", "Series that wait for their analysis", waiting.count)
    yield _number(
        "series_dirty_oldest_seconds", "Age of the longest of these waits", waiting.oldest_seconds
    )
    jobs = {state: float(count) for state, count in Job.objects.numbers().items()}
    yield _gauge("jobs", "Jobs, by state", jobs, "state")
    kinds = {"mail": Mail.objects.backlog(), "webhook": HookDelivery.objects.backlog()}
    for name, text, values in (
        ("outbox_waiting", "Mails and deliveries that are still to be sent", "waiting"),
        ("outbox_dead", "Mails and deliveries that were given up", "dead"),
        ("outbox_oldest_seconds", "Age of the oldest that is still to be sent", "oldest_seconds"),
        ("outbox_overdue_seconds", "How long the first has been due", "overdue_seconds"),
    ):
        found = {kind: float(getattr(backlog, values)) for kind, backlog in kinds.items()}
        yield _gauge(name, text, found, "kind")
    problems = dict(Problem.objects.filter(mailed_at__isnull=False).values_list("name", "since"))
    lasting = {name: (timezone.now() - since).total_seconds() for name, since in problems.items()}
    yield _gauge(
        "check_wrong_seconds", "For how long a check of /status/ is wrong", lasting, "check"
    )
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_database_size(current_database())")
        yield _number("database_bytes", "Size of the database", cursor.fetchone()[0])


def _disk() -> GaugeMetricFamily:
    """Of the instance's directory, and of where large bodies wait; by their names in the guide."""
    free: dict[str, float] = {}
    for name, path in (("state", settings.STATE), ("temporary", tempfile.gettempdir())):
        with suppress(OSError):
            free[name] = float(shutil.disk_usage(path).free)
    return _gauge("disk_free_bytes", "Space left on the disk of a directory", free, "directory")


@login_not_required
@never_cache
def healthz(request: HttpRequest) -> HttpResponse:
    """The process answers."""
    return JsonResponse({"status": "ok"})


@login_not_required
@never_cache
def readyz(request: HttpRequest) -> HttpResponse:
    """Every part does its work; 503 names which does not, since when, and what to do."""
    report = reporter().report()
    answer = {
        "status": "ok" if report.is_ready else "not ready",
        **{part: report.state_of(part) for part in PARTS},
        "problems": [
            {
                "part": each.part,
                "reason": each.reason,
                "since": each.since,
                "remedy": each.remedy,
            }
            for each in report.problems
        ],
    }
    return JsonResponse(answer, status=200 if report.is_ready else 503)


@cache
def reporter() -> Reporter:
    """That of this process."""
    return Reporter(connection.settings_dict, settings.REDIS_URL)
