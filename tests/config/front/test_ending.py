"""What a web server does and prints when it is to end."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from django.db import connection

from tests import make
from tests.config.front.server import heard, serving, status_of, upload_head, wait_until
from webapp.labs import services

pytestmark = pytest.mark.django_db(transaction=True)
AT_ONCE, ASKED = 10, 60


@dataclass(frozen=True)
class Ended:
    """Of one that was ended while an upload came in, after pages that failed."""

    failing: list[int]
    page: int
    upload: int
    exit_status: int
    text: str


@pytest.fixture(scope="module", params=["console", pytest.param("json", marks=pytest.mark.long)])
def ended(
    request: pytest.FixtureRequest,
    django_db_setup: None,
    django_db_blocker: Any,
    tmp_path_factory: pytest.TempPathFactory,
) -> Ended:
    log = tmp_path_factory.mktemp("ending") / "web.log"
    with django_db_blocker.unblock(), serving(log, DRIFTLINE_LOG_FORMAT=request.param) as server:
        with without("results_hardware"):
            failing: list[int] = []

            def ask() -> None:
                asked = ASKED // AT_ONCE
                failing.extend(server.get("/hardware/")[0] for _ in range(asked))

            asking = [threading.Thread(target=ask) for _ in range(AT_ONCE)]
            for thread in asking:
                thread.start()
            for thread in asking:
                thread.join()
        page = server.get("/hardware/")[0]
        head = upload_head(services.issue_token(agent=make.agent()).text, 100_000)
        with server.raw(head + b" " * 99_999) as client:
            # What was asked after it is answered, so it has come through Caddy.
            assert {server.get("/healthz")[0] for _ in range(5)} == {200}
            server.web.terminate()
            wait_until(lambda: any("Handling signal: term" in line for line in server.lines()))
            client.sendall(b" ")
            upload = status_of(heard(client))
        return Ended(failing, page, upload, server.stop(), log.read_text())


@contextmanager
def without(table: str) -> Iterator[None]:
    """Pages that read `table` fail inside."""
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {table} RENAME TO {table}_away")
        try:
            yield
        finally:
            cursor.execute(f"ALTER TABLE {table}_away RENAME TO {table}")


def test_a_server_that_is_ended_answers_what_was_asked(ended: Ended) -> None:
    assert (ended.upload, ended.exit_status) == (400, 0)


def test_60_failing_pages_are_one_short_entry(ended: Ended) -> None:
    assert ended.failing == [500] * ASKED
    assert ended.page == 200
    assert ended.text.count("Internal Server Error") == 1
    assert ended.text.count("repeated") == 1
    assert str(ASKED - 1) in ended.text
    assert "locals" not in ended.text
    assert len(ended.text) < 10_000
