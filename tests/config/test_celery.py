"""Queueing when the broker is gone: refused soon, never hanging."""

import fnmatch
import os
import socket
import subprocess
import sys
import time
from typing import Any

import pytest
from kombu.exceptions import OperationalError

from webapp.config import checks, settings
from webapp.config.celery import YIELD, app
from webapp.queueing import Task


def test_the_schedule_names_tasks_that_exist() -> None:
    app.loader.import_default_modules()
    assert {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()} <= set(app.tasks)


@pytest.mark.parametrize("task", Task)
def test_a_task_that_is_asked_for_by_its_name_exists(task: Task) -> None:
    app.loader.import_default_modules()
    assert task.value in app.tasks


def test_every_route_is_of_some_task() -> None:
    app.loader.import_default_modules()
    for pattern in settings.CELERY_TASK_ROUTES:
        assert fnmatch.filter(app.tasks, pattern)


def test_queueing_is_refused_at_once_when_no_broker_listens() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        assert _seconds_until_refused(closed.getsockname()[1]) < 5


def test_queueing_is_refused_soon_when_the_broker_hangs() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        # Two attempts, each bounded by the time that a socket may be silent
        patience = settings.CELERY_BROKER_TRANSPORT_OPTIONS["socket_timeout"]
        assert _seconds_until_refused(silent.getsockname()[1]) < 2 * patience + 5


def _seconds_until_refused(port: int) -> float:
    begin = time.monotonic()
    with (
        app.connection_for_write(f"redis://127.0.0.1:{port}/0") as connection,
        pytest.raises(OperationalError),
    ):
        app.send_task("any", connection=connection)
    return time.monotonic() - begin


def test_no_message_is_handed_out_again_while_its_task_may_still_run() -> None:
    assert checks.no_message_comes_back_while_its_task_runs(None) == []


def test_a_visibility_timeout_below_the_longest_task_is_refused(
    settings: Any,
) -> None:
    settings.CELERY_BROKER_TRANSPORT_OPTIONS = {"visibility_timeout": 60}
    (error,) = checks.no_message_comes_back_while_its_task_runs(None)
    assert error.id == "driftline.E002"


@pytest.mark.parametrize("seconds", [10, 300, 3600])
def test_every_task_limit_that_may_be_set_is_below_the_visibility_timeout(seconds: int) -> None:
    script = (
        "import django; django.setup()\n"
        "from webapp.config.checks import no_message_comes_back_while_its_task_runs as check\n"
        "assert check(None) == []"
    )
    subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ
        | {"DRIFTLINE_TASK_SECONDS": str(seconds), "DJANGO_SETTINGS_MODULE": settings.__name__},
        check=True,
    )


def test_a_worker_leaves_the_processors_to_the_web_server() -> None:
    script = (
        "import os, django; django.setup()\n"
        "from celery.signals import worker_init\n"
        "import webapp.config.celery\n"
        "before = os.nice(0); worker_init.send(sender=None); print(os.nice(0) - before)"
    )
    nicer = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | {"DJANGO_SETTINGS_MODULE": settings.__name__},
        check=True,
        capture_output=True,
    )
    assert int(nicer.stdout) == YIELD


@pytest.mark.parametrize(
    ("task", "queue"),
    [
        ("webapp.outbox.tasks.send_mails", "deliveries"),
        ("webapp.outbox.tasks.sweep_deliveries", "deliveries"),
        ("webapp.alerts.tasks.analyse_series", "analysis"),
        ("webapp.bisects.tasks.advance_bisect", "analysis"),
        ("webapp.jobs.tasks.sweep_jobs", "analysis"),
    ],
)
def test_what_leaves_has_a_queue_of_its_own(task: str, queue: str) -> None:
    app.control.purge()
    app.send_task(task)
    lengths = {}
    with app.connection_for_read() as connection:
        for name in ("analysis", "deliveries"):
            lengths[name] = connection.default_channel.client.llen(name)
    app.control.purge()
    assert lengths == {"analysis": 0, "deliveries": 0} | {queue: 1}


def test_every_kind_of_mail_is_composed_by_a_function() -> None:
    assert checks.every_mail_has_templates(None) == []


@pytest.mark.parametrize("path", ["webapp.nowhere.compose", "webapp.outbox.messages.Message", "x"])
def test_a_kind_of_mail_that_nothing_composes_is_refused(settings: Any, path: str) -> None:
    settings.MAIL_COMPOSERS = {"alert.opened": path}
    (error,) = checks.every_mail_has_templates(None)
    assert error.id == "driftline.E004"
    assert path in error.msg
