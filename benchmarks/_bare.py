"""What the machine itself allows: the rows of an upload, written by bare psycopg."""

import multiprocessing
import time
from typing import Any

import psycopg

from benchmarks._instance import Instance
from webapp.config import instance as records
from webapp.launcher.postgres import DATABASE, OWNER

SERIES, TRANSACTIONS = 20, 500
TABLES = """
CREATE TABLE bare_run (id bigserial PRIMARY KEY, uuid uuid UNIQUE, revision bigint, facts jsonb);
CREATE TABLE bare_measurement (
    id bigserial PRIMARY KEY, run_id bigint REFERENCES bare_run, series_id bigint,
    samples double precision[]);
CREATE TABLE bare_point (
    id bigserial PRIMARY KEY, series_id bigint, revision bigint, mean double precision,
    median double precision, variance double precision, UNIQUE (series_id, revision));
"""
RUNS = """
INSERT INTO bare_run (uuid, revision, facts)
SELECT gen_random_uuid(), %s, '{}' FROM generate_series(1, %s) RETURNING id
"""
MEASUREMENTS = """
INSERT INTO bare_measurement (run_id, series_id, samples)
SELECT (%s::bigint[])[1 + i %% %s], i, %s FROM generate_series(1, %s) AS i
"""
POINTS = """
INSERT INTO bare_point (series_id, revision, mean, median, variance)
SELECT i, %s, 1.5, 1.5, 1.5 FROM generate_series(1, %s) AS i
"""


def measure_limit(instance: Instance, *, clients: int, runs: int) -> float:
    """Transactions a second of `runs` run rows, 20 measurement rows and 20 point rows each."""
    with instance.connect() as connection:
        connection.execute("DROP TABLE IF EXISTS bare_run, bare_measurement, bare_point")
        connection.execute(TABLES)
    context = multiprocessing.get_context("spawn")
    barrier, queue = context.Barrier(clients), context.Queue()
    sockets = records.read(instance.state).sockets
    processes = [
        context.Process(target=_write, args=(sockets, number, runs, barrier, queue))
        for number in range(clients)
    ]
    for process in processes:
        process.start()
    spans: list[tuple[float, float]] = [queue.get() for _ in processes]
    for process in processes:
        process.join()
    seconds = max(end for _, end in spans) - min(start for start, _ in spans)
    return float(clients * TRANSACTIONS / seconds)


def _write(sockets: str, number: int, runs: int, barrier: Any, queue: Any) -> None:
    samples = [600_000.5] * 5
    with psycopg.connect(host=sockets, user=OWNER, dbname=DATABASE) as connection:
        barrier.wait()
        start = time.monotonic()
        for i in range(TRANSACTIONS):
            revision = number * TRANSACTIONS + i
            ids = [row[0] for row in connection.execute(RUNS, [revision, runs])]
            connection.execute(MEASUREMENTS, [ids, runs, samples, SERIES])
            connection.execute(POINTS, [revision, SERIES])
            connection.commit()
        queue.put((start, time.monotonic()))
