"""Queueing when the broker is gone: refused soon, never hanging."""

import socket
import time

import pytest
from kombu.exceptions import OperationalError

from webapp.config import settings
from webapp.config.celery import app


def test_the_schedule_names_tasks_that_exist() -> None:
    app.loader.import_default_modules()
    assert {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()} <= set(app.tasks)


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
