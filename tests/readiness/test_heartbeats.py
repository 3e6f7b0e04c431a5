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


def test_a_database_without_an_encoding_reports_the_same(ascii_database: dict[str, object]) -> None:
    with heartbeats.connect(ascii_database) as reading:
        reading.execute(
            "CREATE TABLE readiness_heartbeat (part text, host text, at timestamptz,"
            " UNIQUE (part, host))"
        )
        for _ in range(2):
            reading.execute(heartbeats.NOTE, [heartbeats.BEAT, "here"])
        (age,) = heartbeats.ages(reading)[heartbeats.BEAT].values()
        assert heartbeats.is_fresh(age)


@pytest.mark.parametrize(
    ("part", "hosts", "works"),
    [
        ("worker", {}, False),
        ("worker", {"a": 3.0}, True),
        ("worker", {"a": 3.0, "b": 200.0, "c": 4.0}, False),
        ("worker", {"a": 3.0, "b": -3600.0}, False),
        ("beat", {"a": 3.0, "b": 200.0}, True),
        ("beat", {"a": 300.0, "b": 200.0}, False),
    ],
)
def test_every_worker_has_to_work_and_one_beat(
    part: str, hosts: dict[str, float], works: bool
) -> None:
    assert heartbeats.works(part, hosts) is works


def test_the_silent_one_of_several_is_named() -> None:
    hosts = {"a": 3.0, "b": 200.0, "c": 4.0}
    text = "worker on b was last seen at work 200 s ago (1 of 3 are silent)"
    assert heartbeats.last_seen("worker", hosts) == text
    assert heartbeats.last_seen("beat", {"a": 300.0, "b": 200.0}).startswith("beat on b was")
