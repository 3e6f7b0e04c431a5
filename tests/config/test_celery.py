"""Queueing when the broker is gone: refused soon, never hanging."""

import fnmatch
import gc
import socket
from typing import Any

import pytest
from kombu.exceptions import OperationalError

from tests.config.conftest import Read
from webapp.config import apps, settings
from webapp.config.celery import app, look_for_cycles_rarely
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


def test_a_worker_looks_for_cycles_as_rarely_as_the_web_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found: list[int] = []
    monkeypatch.setattr(gc, "set_threshold", lambda *limits: found.extend(limits))
    look_for_cycles_rarely()
    assert found[0] == settings.NEW_OBJECTS


ATTEMPTS = 2


def test_queueing_is_refused_at_once_when_no_broker_listens() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        require_refused(closed)


def test_queueing_is_refused_when_the_broker_hangs() -> None:
    """After two attempts, each of which takes as long as a socket may be silent."""
    options = settings.CELERY_BROKER_TRANSPORT_OPTIONS
    assert 0 < options["socket_timeout"] <= 5
    hurried = options | {"socket_timeout": options["socket_timeout"] / 100}
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        require_refused(silent, transport_options=hurried)
        silent.setblocking(False)
        for _ in range(ATTEMPTS):
            silent.accept()[0].close()
        with pytest.raises(BlockingIOError):
            silent.accept()


def require_refused(broker: socket.socket, **options: Any) -> None:
    url = f"redis://127.0.0.1:{broker.getsockname()[1]}/0"
    with (
        app.connection_for_write(url, **options) as connection,
        pytest.raises(OperationalError),
    ):
        app.send_task("any", connection=connection)


def test_no_message_is_handed_out_again_while_its_task_may_still_run() -> None:
    assert apps.no_message_comes_back_while_its_task_runs(None) == []


def test_a_visibility_timeout_below_the_longest_task_is_refused(
    settings: Any,
) -> None:
    settings.CELERY_BROKER_TRANSPORT_OPTIONS = {"visibility_timeout": 60}
    (error,) = apps.no_message_comes_back_while_its_task_runs(None)
    assert error.id == "driftline.E002"


@pytest.mark.parametrize("seconds", ["10", "300", "3600"])
def test_every_task_limit_that_may_be_set_is_below_the_visibility_timeout(
    read: Read, settings: Any, monkeypatch: pytest.MonkeyPatch, seconds: str
) -> None:
    found = read(DRIFTLINE_TASK_SECONDS=seconds)
    settings.CELERY_BROKER_TRANSPORT_OPTIONS = found["CELERY_BROKER_TRANSPORT_OPTIONS"]
    for task in app.tasks.values():
        if task.time_limit == app.conf.task_time_limit:
            monkeypatch.setattr(task, "time_limit", found["CELERY_TASK_TIME_LIMIT"])
    assert apps.no_message_comes_back_while_its_task_runs(None) == []


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
    assert apps.every_mail_has_templates(None) == []


@pytest.mark.parametrize("path", ["webapp.nowhere.compose", "webapp.outbox.messages.Message", "x"])
def test_a_kind_of_mail_that_nothing_composes_is_refused(settings: Any, path: str) -> None:
    settings.MAIL_COMPOSERS = {"alert.opened": path}
    (error,) = apps.every_mail_has_templates(None)
    assert error.id == "driftline.E004"
    assert path in error.msg
