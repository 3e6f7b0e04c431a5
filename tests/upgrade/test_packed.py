"""A database from before columns were packed: what is read afterwards is what was stored."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import psycopg
import pytest
from django.db import connection

from tests.upgrade.databases import A_LAB, Database, new_database
from webapp.results.packed import BootsField, SamplesField, SourcesField, StateField
from webapp.stats.compare import pool, summarize, unpack_summary

pytestmark = pytest.mark.long
FORMER = {"results": "0020", "analysis": "0006"}
LEVELS = [
    summarize(pool([([1.5, 2.25, 4.0], [0, 1, 1], "p"), ([3.5], None, "q")])).to_data()
    | {"identity": "0123456789abcdef"},
    {},
]
SOURCES = [
    [{"path": f"head.r1/bench.1.pf.{n}.receiver", "sha256": f"{n:064x}"} for n in range(3)],
    [],
    [{"path": "bench.1.pf.receiver", "sha256": "unknown"}],
]
KERNELS = ["FreeBSD 12.0", "x" * 8000]
"""Of runs of one build id; the second is longer than a row of an index."""
MEASURED: list[dict[str, list[Any]]] = [
    {"samples": [1.5, -0.0, 1e308], "boots": [0, 1, 255]},
    {"samples": [0.1], "boots": [256]},
    {"samples": [2.0, 3.0], "boots": [-1, 70_000]},
]
STATES = [{"version": 14, "ring": {"label": ["r1", "r2"], "location": "AAAAAAAA8D8="}}]
ROWS = (
    A_LAB
    + """
INSERT INTO results_mode (id, name, workload, traffic, options) VALUES (1, 'pf', 'pf', '', '{}');
INSERT INTO results_series (id, tree_id, hardware_id, mode_id, metric_id, own_better, version)
VALUES (1, 1, 1, 1, 1, '', 1);
"""
)
POINT = """
INSERT INTO results_revision
       (id, tree_id, name, position, decided, author_name, author_email, subject, message)
VALUES (%(id)s, 1, %(id)s, %(id)s, true, '', '', '', '');
INSERT INTO results_point
       (series_id, revision_id, position, n, runs, builds, mean, median, variance, minimum, maximum,
        levels)
VALUES (1, %(id)s, %(id)s, 3, 1, 1, 2, 2, 1, 1, 3, %(value)s);
"""
RUN = """
INSERT INTO results_run
       (uuid, agent_id, hardware_id, revision_id, mode_id, digest, build_id, kernel_ident,
        received_at, history, session, facts, sources, warnings, withdrawn_reason)
VALUES (gen_random_uuid(), 1, 1, 1, 1, repeat(%(id)s::text, 64), 'build', %(ident)s, now(), false,
        '', '{}', %(value)s, '[]', '');
"""
CHECKPOINT = """
INSERT INTO analysis_checkpoint (series_id, position, length, detector, state)
VALUES (1, 1, 1, 14, %(value)s);
"""
MEASUREMENT = """
INSERT INTO results_measurement (run_id, series_id, samples, boots)
SELECT %(id)s, 1,
       ARRAY(SELECT value::float8 FROM json_array_elements_text(of -> 'samples') AS value),
       ARRAY(SELECT value::int FROM json_array_elements_text(of -> 'boots') AS value)
  FROM (SELECT %(value)s::json AS of) AS measured;
INSERT INTO results_costsamples (run_id, series_id, revision_id, samples)
SELECT run_id, series_id, 1, samples FROM results_measurement WHERE run_id = %(id)s;
"""
STORED = (
    (POINT, LEVELS),
    (RUN, SOURCES),
    (MEASUREMENT, MEASURED),
    (CHECKPOINT, STATES),
)


@pytest.fixture(scope="module")
def upgraded(django_db_setup: None) -> Iterator["psycopg.Connection[tuple[Any, ...]]"]:
    """A database of the former tables, migrated."""
    settings = connection.settings_dict
    with new_database(settings["HOST"], settings["USER"]) as database:
        database.migrate("readiness")  # asked after every migration
        for app, former in FORMER.items():
            database.migrate(app, former)
        with _connected(database) as connected:
            connected.execute(ROWS.encode())
            for statement, values in STORED:
                for number, value in enumerate(values, 1):
                    row = {"id": number, "ident": KERNELS[number % 2]}
                    _run(connected, statement, row | {"value": json.dumps(value)})
        database.migrate()
        with _connected(database) as connected:
            yield connected


def of_each(name: str) -> list[list[Any]]:
    """Samples or boots of each measurement."""
    return [one[name] for one in MEASURED]


@pytest.mark.parametrize(
    ("column", "table", "unpack", "stored"),
    [
        ("levels", "results_point", unpack_summary, LEVELS),
        ("sources", "results_run", SourcesField.unpack, SOURCES),
        ("samples", "results_measurement", SamplesField.unpack, of_each("samples")),
        ("boots", "results_measurement", BootsField.unpack, of_each("boots")),
        ("samples", "results_costsamples", SamplesField.unpack, of_each("samples")),
        ("state", "analysis_checkpoint", StateField.unpack, STATES),
    ],
)
def test_what_is_packed_is_what_it_was(
    upgraded: "psycopg.Connection[tuple[Any, ...]]",
    column: str,
    table: str,
    unpack: Callable[[bytes], object],
    stored: object,
) -> None:
    key = "revision_id" if table == "results_point" else "id"
    rows = upgraded.execute(f"SELECT {column} FROM {table} ORDER BY {key}".encode()).fetchall()
    assert [unpack(row[0]) for row in rows] == stored


def test_runs_have_the_kernels_and_digests_that_they_had(
    upgraded: "psycopg.Connection[tuple[Any, ...]]",
) -> None:
    rows = upgraded.execute(
        "SELECT encode(digest, 'hex'), build_id, ident FROM results_run AS run"
        "  JOIN results_kernel AS kernel ON kernel.id = run.kernel_id ORDER BY run.id"
    ).fetchall()
    numbers = range(1, len(SOURCES) + 1)
    assert rows == [(str(number) * 64, "build", KERNELS[number % 2]) for number in numbers]
    assert upgraded.execute("SELECT count(*) FROM results_kernel").fetchone() == (len(KERNELS),)


@pytest.mark.usefixtures("django_db_setup")
def test_points_get_their_empty_arrays_and_numbers_on_the_way_back() -> None:
    settings = connection.settings_dict
    before, named = "0033", [(1, ["a", "b"])]
    with new_database(settings["HOST"], settings["USER"]) as database:

        def sessions() -> list[tuple[Any, ...]]:
            with _connected(database) as connected:
                return connected.execute(
                    "SELECT revision_id, sessions FROM results_point ORDER BY revision_id"
                ).fetchall()

        database.migrate("readiness")  # asked after every migration
        database.migrate("results", before)
        database.execute(ROWS)
        with _connected(database) as connected:
            for number in (1, 2):
                _run(connected, POINT, {"id": number, "value": ""})
            connected.execute("UPDATE results_point SET sessions = '{a,b}' WHERE id = 1")
        database.migrate("results")
        assert sessions() == [*named, (2, None)]
        database.migrate("results", before)
        assert sessions() == [*named, (2, [])]
        with _connected(database) as connected:
            _run(connected, POINT, {"id": 3, "value": ""})
            ids = connected.execute("SELECT array_agg(id ORDER BY id) FROM results_point")
            assert ids.fetchone() == ([1, 2, 3],)


@pytest.mark.usefixtures("django_db_setup")
def test_states_without_their_revisions_are_gone_on_the_way_back() -> None:
    settings = connection.settings_dict
    with new_database(settings["HOST"], settings["USER"]) as database:
        database.migrate()
        database.execute(ROWS)
        with _connected(database) as connected:
            _run(connected, CHECKPOINT, {"value": b""})
        database.migrate("analysis", "0013")
        with _connected(database) as connected:
            stored = connected.execute("SELECT count(*) FROM analysis_checkpoint").fetchone()
    assert stored == (0,)


def _connected(database: Database) -> "psycopg.Connection[tuple[Any, ...]]":
    return psycopg.connect(host=database.host, user=database.user, dbname=database.name)


def _run(
    connected: "psycopg.Connection[tuple[Any, ...]]", text: str, row: Mapping[str, object]
) -> None:
    with psycopg.ClientCursor(connected) as cursor:  # several statements at once
        cursor.execute(text.encode(), row)
