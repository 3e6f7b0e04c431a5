"""A page that fails costs little, however often it is asked for."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.db import connection

from tests.config.front.server import serving

pytestmark = pytest.mark.django_db(transaction=True)
AT_ONCE, ASKED = 20, 290


@contextmanager
def without(table: str) -> Iterator[None]:
    """Pages that read `table` fail inside."""
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {table} RENAME TO {table}_away")
        try:
            yield
        finally:
            cursor.execute(f"ALTER TABLE {table}_away RENAME TO {table}")


@pytest.mark.parametrize("style", ["console", pytest.param("json", marks=pytest.mark.long)])
def test_290_failing_pages_are_one_short_entry(tmp_path: Path, style: str) -> None:
    with serving(tmp_path / "web.log", DRIFTLINE_LOG_FORMAT=style) as server:
        with without("results_hardware"):
            statuses: list[int] = []

            def ask() -> None:
                asked = ASKED // AT_ONCE
                statuses.extend(server.get("/hardware/")[0] for _ in range(asked))

            asking = [threading.Thread(target=ask) for _ in range(AT_ONCE)]
            for thread in asking:
                thread.start()
            for thread in asking:
                thread.join()
        assert set(statuses) == {500}
        assert len(statuses) == ASKED // AT_ONCE * AT_ONCE
        assert server.get("/hardware/")[0] == 200
        server.stop()
        text = server.log.read_text()
    assert text.count("Internal Server Error") == 1
    assert text.count("repeated") == 1
    assert str(len(statuses) - 1) in text
    assert "locals" not in text
    assert len(text) < 10_000
