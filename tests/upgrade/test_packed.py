"""A database from before columns were packed: what is read afterwards is what was stored."""

import json
from collections.abc import Iterator

import psycopg
import pytest
from django.db import connection

from tests.upgrade.databases import Database, new_database
from webapp.stats.compare import pool, summarize, unpack_summary

pytestmark = pytest.mark.long
FORMER = "0020"
LEVELS = [
    summarize(pool([([1.5, 2.25, 4.0], [0, 1, 1], "p"), ([3.5], None, "q")])).to_data()
    | {"identity": "0123456789abcdef"},
    {},
]
"""Of points that were pooled, and of one from before there were levels."""
ROWS = """
INSERT INTO labs_lab (id, name, description, simulated, created_at)
VALUES (1, 'netlab', '', false, now());
INSERT INTO labs_agent (id, lab_id, name, created_at) VALUES (1, 1, 'control', now());
INSERT INTO results_tree (id, name, description, created_at)
VALUES (1, 'freebsd-head', '', now());
INSERT INTO results_hardware (id, name, lab_id, description, facts, created_at)
VALUES (1, 'bench/nic', 1, '', '{}', now());
INSERT INTO results_metric (id, name, unit, better) VALUES (1, 'pps', 'packets/s', 'more');
INSERT INTO results_mode (id, name, workload, traffic, options) VALUES (1, 'pf', 'pf', '', '{}');
INSERT INTO results_series (id, tree_id, hardware_id, mode_id, metric_id, own_better, version)
VALUES (1, 1, 1, 1, 1, '', 1);
"""
POINT = """
INSERT INTO results_revision
       (id, tree_id, name, position, decided, author_name, author_email, subject, message)
VALUES (%(id)s, 1, %(id)s, %(id)s, true, '', '', '', '');
INSERT INTO results_point
       (series_id, revision_id, position, n, runs, builds, mean, median, variance, minimum, maximum,
        levels)
VALUES (1, %(id)s, %(id)s, 3, 1, 1, 2, 2, 1, 1, 3, %(levels)s);
"""


@pytest.fixture(scope="module")
def upgraded(django_db_setup: None) -> Iterator["psycopg.Connection[tuple[object, ...]]"]:
    """A database of the former tables, migrated."""
    settings = connection.settings_dict
    with new_database(settings["HOST"], settings["USER"]) as database:
        database.manage("migrate", "readiness", "--verbosity", "0")  # asked after every migration
        database.manage("migrate", "results", FORMER, "--verbosity", "0")
        with _connected(database) as connected:
            connected.execute(ROWS.encode())
            for number, levels in enumerate(LEVELS, 1):
                row = {"id": number, "levels": json.dumps(levels)}
                _run(connected, POINT, row)
        database.manage("migrate", "--verbosity", "0")
        with _connected(database) as connected:
            yield connected


def test_levels_are_what_they_were(
    upgraded: "psycopg.Connection[tuple[object, ...]]",
) -> None:
    rows = upgraded.execute("SELECT levels FROM results_point ORDER BY id").fetchall()
    assert [unpack_summary(row[0]) for row in rows] == LEVELS  # type: ignore[arg-type]


def _connected(database: Database) -> "psycopg.Connection[tuple[object, ...]]":
    return psycopg.connect(host=database.host, user=database.user, dbname=database.name)


def _run(connected: "psycopg.Connection[tuple[object, ...]]", text: str, row: object) -> None:
    with psycopg.ClientCursor(connected) as cursor:
        cursor.execute(text.encode(), row)  # type: ignore[arg-type]
