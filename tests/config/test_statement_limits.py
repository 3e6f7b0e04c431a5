"""What takes the database too long is cut off, reported, and leaves nothing behind."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import psycopg
import pytest
from django.db import OperationalError, connection, models
from django.test import Client

from tests import make
from tests.config.conftest import Read, connected_by, gunicorn
from tests.conftest import environment_of_the_database
from tests.documents import run_document
from tests.operators import text_of
from tests.places import PROJECT
from webapp import config
from webapp.config.celery import YIELD, limit_statements
from webapp.jobs import waiting_polls
from webapp.labs.services import issue_token
from webapp.results.models import Hardware, Point, Run

pytestmark = pytest.mark.django_db(transaction=True)
LIMITS = ("statement_timeout", "idle_in_transaction_session_timeout")
WORKER = f"""
import django, os
django.setup()
from celery.signals import worker_init
import webapp.config.celery
before = os.nice(0)
worker_init.send(sender=None)
print(os.nice(0) - before)
from django.db import connection
with connection.cursor() as cursor:
    for name in {LIMITS}:
        cursor.execute(f"SHOW {{name}}")
        print(cursor.fetchone()[0])
"""


def shown() -> list[str]:
    """The limits of the connection."""
    found = []
    with connection.cursor() as cursor:
        for name in LIMITS:
            cursor.execute(f"SHOW {name}")
            found += cursor.fetchone()
    return found


@contextmanager
def process(start: Callable[[], None], settings: dict[str, Any]) -> Iterator[None]:
    """The connection of a process with these settings that starts like this."""
    with patch.object(config, "settings", SimpleNamespace(**settings)):
        start()
    with connected_by(settings):
        yield


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """A process of the web server starts, but for what is no matter of the database."""
    monkeypatch.setattr(sys, "setswitchinterval", lambda _: None)
    monkeypatch.setattr("webapp.config.middleware.note_pool", lambda: None)
    monkeypatch.setattr(waiting_polls, "polls", waiting_polls.WaitingPolls())
    worker = SimpleNamespace(alive=True, wsgi=SimpleNamespace(rested=None))

    def start() -> None:
        gunicorn(vars(config.settings))["post_worker_init"](worker)

    return start


def test_the_web_server_has_limits_that_0_switches_off(
    web: Callable[[], None], read_here: Read
) -> None:
    with process(web, read_here()):
        assert shown() == ["30s", "1min"]
    own = {"DRIFTLINE_STATEMENT_SECONDS": "7", "DRIFTLINE_IDLE_TRANSACTION_SECONDS": "0"}
    with process(web, read_here(**own)):
        assert shown() == ["7s", "0"]


def test_the_worker_has_limits_that_0_switches_off(read_here: Read) -> None:
    with process(limit_statements, read_here()):
        assert shown() == ["5min", "5min"]
    own = {"DRIFTLINE_WORKER_STATEMENT_SECONDS": "0", "DRIFTLINE_TASK_SECONDS": "600"}
    with process(limit_statements, read_here(**own)):
        assert shown() == ["0", "10min"]


def test_a_command_has_none(read_here: Read) -> None:
    with connected_by(read_here()):
        assert shown() == ["0", "0"]


def test_a_worker_that_starts_has_them_and_leaves_the_processors_to_the_web_server() -> None:
    printed = subprocess.run(
        [sys.executable, "-c", WORKER],
        cwd=PROJECT,
        env=environment_of_the_database() | {"DJANGO_SETTINGS_MODULE": "webapp.config.settings"},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert printed.stdout.split() == [str(YIELD), "5min", "5min"]


def test_a_connection_of_the_pool_serves_on_after_a_statement_was_cut_off(
    web: Callable[[], None], read_here: Read
) -> None:
    settings = read_here(DRIFTLINE_DATABASE_POOL="1") | {"STATEMENT_SECONDS": 0.05}
    with process(web, settings):
        for _ in range(3):
            with connection.cursor() as cursor:
                with pytest.raises(OperationalError) as refused:
                    cursor.execute("SELECT pg_sleep(60)")
                assert isinstance(refused.value.__cause__, psycopg.errors.QueryCanceled)
            with connection.cursor() as cursor:
                cursor.execute("SELECT 'well'")
                assert cursor.fetchone() == ("well",)
            connection.close()


@contextmanager
def locked(model: type[models.Model]) -> Iterator[None]:
    """Somebody else has the table, and this test's connection waits 300 ms for anything."""
    parameters = connection.get_connection_params()
    own = {
        name: parameters[name]
        for name in ("dbname", "user", "host", "port")
        if parameters.get(name)
    }
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = '300ms'")
    with psycopg.connect(**own) as other:
        other.execute(f"LOCK TABLE {model._meta.db_table} IN ACCESS EXCLUSIVE MODE")
        yield
    connection.close()


def test_a_page_that_takes_too_long_states_it(client: Client) -> None:
    with locked(Hardware):
        refused = client.get("/hardware/")
    assert refused.status_code == 503
    assert refused["Retry-After"] == "30"
    assert "This took too long" in text_of(refused)  # type: ignore[arg-type]
    assert client.get("/hardware/").status_code == 200


def test_an_upload_that_takes_too_long_leaves_nothing_half_written(client: Client) -> None:
    make.hardware("Atom/T540")
    token = issue_token(agent=make.agent()).text

    def upload() -> Any:
        return client.post(
            "/api/v1/runs",
            json.dumps(run_document(hardware="Atom/T540")),
            content_type="application/json",
            headers={"Authorization": f"Bearer {token}"},
        )

    with locked(Point):
        refused = upload()
    assert refused.status_code == 503
    assert refused.json()["error"]["code"] == "took_too_long"
    assert Run.objects.count() == 0
    assert upload().status_code == 201
