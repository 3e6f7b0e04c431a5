"""Runs by the hour: the same as counted anew, however runs came, went and changed."""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from importlib import import_module
from typing import Any

import psycopg
import pytest
from django.db import connection, transaction
from django.db.models import Max
from django.db.models.functions import Coalesce
from django.utils import timezone

from tests import make
from tests.results.steps import measured, upload
from webapp.jobs.queries import machines
from webapp.merging.services import merge_hardware
from webapp.results.models import Hardware, HourlyRuns, Run
from webapp.results.services import restore_run, withdraw_run

migration = import_module("migrations.results.0032_hourly_runs")
Counts = Counter[tuple[int, datetime]]


def kept() -> Counts:
    found: Counts = Counter()
    for machine, hour, runs in HourlyRuns.objects.values_list("hardware", "hour", "runs"):
        found[machine, hour] += runs
    return +found


def counted() -> Counts:
    live = Run.objects.counted().filter(history=False)
    rows = live.values_list("hardware", Coalesce("measured_at", "received_at"))
    return Counter((on, at.replace(minute=0, second=0, microsecond=0)) for on, at in rows)


def newest() -> dict[int, datetime]:
    """When the newest live run of each machine was measured, else received."""
    live = Run.objects.counted().filter(history=False).order_by("hardware")
    found = live.values("hardware").annotate(at=Max(Coalesce("measured_at", "received_at")))
    return {row["hardware"]: row["at"] for row in found}


def at(hour: int, minute: int = 0) -> dict[str, Any]:
    return {"measured_at": f"2016-08-02T{hour:02}:{minute:02}:00+00:00"}


def ways() -> Iterator[int]:
    """What becomes of runs, step by step; after each the live runs that there are."""
    first = measured("r10", **at(9, 59))
    upload(first, measured("r10", **at(10)), measured("r20", **at(10, 59)))
    yield 3
    upload(measured("r20", **at(10), hardware="other/nic"))
    yield 4
    upload(measured("r30", **at(10)), history=True)
    yield 4
    upload(first | at(11), replace=True)
    yield 4
    upload(measured("r20", measured_at=None))
    yield 5
    run = Run.objects.counted().get(uuid=first["uuid"])
    withdraw_run(run=run, by=None, reason="wrong kernel")
    yield 4
    restore_run(run=Run.objects.get(pk=run.pk))
    yield 5
    source, into = (Hardware.objects.get(name=name) for name in ("other/nic", "bench/nic"))
    merge_hardware(source=source, into=into)
    yield 5
    gone = Run.objects.counted().get(revision__name="r20", hardware=into, measured_at=None)
    gone.measurements.all().delete()
    gone.delete()
    yield 4


@pytest.mark.django_db
def test_they_follow_whatever_becomes_of_runs() -> None:
    for live in ways():
        assert kept() == counted()
        assert kept().total() == live
        assert {
            one.id: one.live_at for one in machines(now=timezone.now(), days=1) if one.live_at
        } == newest()


@pytest.mark.django_db
def test_an_upgrade_counts_the_runs_that_are_there() -> None:
    upload(*(measured(f"r{n}", **at(n)) for n in (10, 11, 12)))
    HourlyRuns.objects.all().delete()
    with connection.cursor() as cursor:
        cursor.execute(migration.FILL)
    assert kept() == counted()


@pytest.mark.django_db(transaction=True)
def test_uploads_at_once_do_not_wait_for_one_another() -> None:
    runs = [make.run(make.revision("r10")) for _ in range(2)]
    withdraw = "UPDATE results_run SET withdrawn_at = now(), withdrawn_reason = 'x' WHERE id = %s"
    other = psycopg.connect(**connection.get_connection_params() | {"cursor_factory": None})
    with other, transaction.atomic():
        make.run(make.revision("r10"), measured_at=make.DAY_ONE + timedelta(minutes=1))
        other.execute("SET lock_timeout = '5s'")
        other.execute(withdraw, [runs[0].pk])
    assert kept() == counted()
    assert kept().total() == 2
