"""Tasks that kill their process, or never end: they run once, and the queue goes on."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.cache import cache

from tests.celery_processes import celery_worker
from tests.conftest import PROJECT
from tests.system.running import wait_for
from webapp.config.celery import app

pytestmark = [pytest.mark.long, pytest.mark.stack, pytest.mark.django_db(transaction=True)]
SECONDS = 120
TASKS = """
import os, pathlib, signal, time
from celery import shared_task
from webapp.config.celery import app

def note(name):
    with pathlib.Path(__file__).with_name("ran").open("a") as file:
        file.write(name + "\\n")

@shared_task(ignore_result=True)
def poison():
    note("poison")
    os.kill(os.getpid(), signal.SIGKILL)

@shared_task(ignore_result=True, soft_time_limit=1, time_limit=2)
def endless():
    note("endless")
    while True:
        try:
            time.sleep(600)
        except Exception:
            pass  # it was asked to end, and does not

@shared_task(ignore_result=True)
def fine():
    note("fine")
"""


@pytest.fixture
def ran(tmp_path: Path) -> Iterator[Path]:
    """What ran, a line each, in a worker with one process."""
    cache.clear()
    app.control.purge()
    (tmp_path / "poisonous.py").write_text(TASKS)
    path = f"{tmp_path}:{PROJECT}"
    with celery_worker(tmp_path / "log", "--concurrency=1", app="poisonous", PYTHONPATH=path):
        yield tmp_path / "ran"


@pytest.mark.parametrize("name", ["poison", "endless"])
def test_a_task_that_takes_its_process_along_runs_once_and_the_queue_goes_on(
    ran: Path, name: str
) -> None:
    app.send_task(f"poisonous.{name}")
    wait_for(ran.exists, SECONDS)
    for number in range(1, 4):
        app.send_task("poisonous.fine")
        wait_for(lambda number=number: ran.read_text().count("fine") == number, SECONDS)
    assert ran.read_text().split() == [name, "fine", "fine", "fine"]
