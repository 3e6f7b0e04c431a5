"""Heartbeats as a health check reads them, over a connection of its own."""

from collections.abc import Iterator

import pytest
from django.db import connection

from webapp.readiness import heartbeats

OTHER = "driftline_sql_ascii"


@pytest.fixture
def ascii_database(db: None) -> Iterator[dict[str, object]]:
    """A database whose encoding is SQL_ASCII, as a cluster without a locale has them."""
    settings = dict(connection.settings_dict)
    with heartbeats.connect(settings) as administrator:
        administrator.execute(f"DROP DATABASE IF EXISTS {OTHER}".encode())
        administrator.execute(
            f"CREATE DATABASE {OTHER} TEMPLATE template0 ENCODING 'SQL_ASCII' LOCALE 'C'".encode()
        )
        yield settings | {"NAME": OTHER}
        administrator.execute(f"DROP DATABASE {OTHER} WITH (FORCE)".encode())


def test_a_database_without_an_encoding_tells_the_same(ascii_database: dict[str, object]) -> None:
    with heartbeats.connect(ascii_database) as reading:
        reading.execute("CREATE TABLE readiness_heartbeat (part text PRIMARY KEY, at timestamptz)")
        reading.execute(heartbeats.NOTE, [heartbeats.BEAT])
        assert heartbeats.is_fresh(heartbeats.ages(reading).get(heartbeats.BEAT))
