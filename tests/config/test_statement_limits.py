"""What takes the database too long is cut off, said, and leaves nothing behind."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from django.db import connection, models
from django.test import Client

from tests import make
from tests.conftest import environment_of_the_database
from tests.documents import run_document
from tests.operators import text_of
from tests.places import PROJECT
from webapp.labs.services import issue_token
from webapp.results.models import Hardware, Point, Run

pytestmark = pytest.mark.django_db(transaction=True)
SHOW = """
from django.db import connection
with connection.cursor() as cursor:
    for name in ("statement_timeout", "idle_in_transaction_session_timeout"):
        cursor.execute(f"SHOW {name}")
        print(cursor.fetchone()[0])
"""
WEB = """
from types import SimpleNamespace
import django
django.setup()
from webapp.config import gunicorn
gunicorn.on_starting(None)
gunicorn.post_worker_init(SimpleNamespace(alive=True, wsgi=SimpleNamespace(rested=None)))
"""
WORKER = """
import django
django.setup()
from celery.signals import worker_init
import webapp.config.celery
worker_init.send(sender=None)
"""
COMMAND = "import django; django.setup()\n"
CANCELLED = """
from django.db import OperationalError, connection
for _ in range(3):
    with connection.cursor() as cursor:
        try:
            cursor.execute("SELECT pg_sleep(60)")
        except OperationalError as error:
            print(type(error.__cause__).__name__)
    with connection.cursor() as cursor:
        cursor.execute("SELECT 'well'")
        print(cursor.fetchone()[0])
    connection.close()
"""


def printed(script: str, **variables: str) -> list[str]:
    run = subprocess.run(
        [sys.executable, "-c", script],
        cwd=PROJECT,
        env=environment_of_the_database()
        | {"DJANGO_SETTINGS_MODULE": "webapp.config.settings"}
        | variables,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.split()


@pytest.mark.parametrize(
    ("process", "limits"),
    [(WEB, ["30s", "1min"]), (WORKER, ["5min", "5min"]), (COMMAND, ["0", "0"])],
    ids=["web", "worker", "command"],
)
def test_the_web_server_and_the_worker_have_limits_and_commands_none(
    process: str, limits: list[str]
) -> None:
    assert printed(process + SHOW) == limits


def test_the_limits_are_settings_and_0_switches_them_off() -> None:
    own = {"DRIFTLINE_STATEMENT_SECONDS": "7", "DRIFTLINE_IDLE_TRANSACTION_SECONDS": "0"}
    assert printed(WEB + SHOW, **own) == ["7s", "0"]
    own = {"DRIFTLINE_WORKER_STATEMENT_SECONDS": "0", "DRIFTLINE_TASK_SECONDS": "600"}
    assert printed(WORKER + SHOW, **own) == ["0", "10min"]


def test_a_connection_of_the_pool_serves_on_after_a_statement_was_cut_off() -> None:
    said = printed(WEB + CANCELLED, DRIFTLINE_STATEMENT_SECONDS="1", DRIFTLINE_DATABASE_POOL="1")
    assert said == ["QueryCanceled", "well"] * 3


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


def test_a_page_that_takes_too_long_says_so(client: Client) -> None:
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
