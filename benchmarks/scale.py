"""What a point costs on disk and in time: ``python -m benchmarks.scale``, a JSON object a line.

It starts an instance of its own and uploads runs of one metric as `benchmarks.ingest` does, each of
which is a point, until there are as many, while the worker analyses; then it waits for the
analysis, vacuums, asks for pages, and asks PostgreSQL for the size of each table.

With ``--copies 9 99`` it goes on: PostgreSQL copies the rows of each machine, under other names,
until there are 10 and then 100 times as many machines; each time the first machines upload more
revisions, and pages are asked for again. Ten million uploads would take days; a page, an upload and
an index see no difference between rows that were uploaded and rows that were copied.
"""

import argparse
import http.client
import time
from collections.abc import Collection
from statistics import median
from typing import Any

from benchmarks._instance import Instance, running
from benchmarks.ingest import FIRST_REVISION, MODES, WARM_UP, Bench, count, report

POINTS, MACHINES = 10_000, 5
MACHINE = "machine"
TIMES = 15
LATER = 60
"""Revisions that are uploaded after the rows were copied."""
LEAST_SHARE = 0.01
"""A table that costs less of all belongs to the instance, not to its points."""

TABLES = """
SELECT c.oid::regclass::text, pg_total_relation_size(c.oid), pg_relation_size(c.oid),
       pg_indexes_size(c.oid)
  FROM pg_class c
 WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace
 ORDER BY 2 DESC"""
INDEXES = """
SELECT indexrelid::regclass::text, pg_relation_size(indexrelid)
  FROM pg_index WHERE indrelid = %s::regclass ORDER BY 2 DESC"""
REFERENCES = """
SELECT conrelid::regclass::text, attname, confrelid::regclass::text, attnotnull
  FROM pg_constraint JOIN pg_attribute ON attrelid = conrelid AND attnum = conkey[1]
 WHERE contype = 'f' AND connamespace = 'public'::regnamespace"""
HARDWARE = "results_hardware"
APART = 1_000_000_000
"""Between the number of a row and that of its copy: larger than any number an upload gives."""
COLUMNS = """
SELECT attname FROM pg_attribute
 WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum"""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale")
    parser.add_argument("--points", type=int, default=POINTS)
    parser.add_argument(
        "--machines", type=int, default=MACHINES, help="that share them: many, and series are short"
    )
    parser.add_argument(
        "--copies", type=int, nargs="*", default=[], help="of each machine that are added, in all"
    )
    given = parser.parse_args()
    with running() as instance:
        token = instance.manage("create_agent", "bench", "--lab", "scale")
        bench = Bench(instance, token, given.points // MODES - WARM_UP)
        bench.requests(MACHINE, clients=4, machines=given.machines)
        _await_analysis(instance, bench)
        revisions = given.points // MODES // given.machines
        _measure(instance, revisions)
        there = 0
        for copies in given.copies:
            _copy_machines(instance, there, copies)
            there = copies
            later = Bench(instance, token, LATER * given.machines)
            later.requests(
                MACHINE, clients=4, machines=given.machines, oldest=FIRST_REVISION + revisions
            )
            later.await_analysis()
            revisions += LATER + WARM_UP // given.machines
            _measure(instance, revisions)


def _measure(instance: Instance, revisions: int) -> None:
    """Print what pages take, and the bytes a point of each table."""
    with instance.connect() as connection:
        connection.execute("VACUUM ANALYZE")
        for name, address in _pages(revisions).items():
            _page(instance, name, address)
        points = count(connection, "results_point")
        shape = {"series": count(connection, "results_series")}
        size = connection.execute("SELECT pg_database_size(current_database())").fetchone()
        report("bytes a point: all", size[0] / points if size else 0, "bytes", n=points, **shape)
        for table, *sizes in connection.execute(TABLES).fetchall():
            total, heap, indexes = (one / points for one in sizes)
            if size and total < LEAST_SHARE * size[0] / points:
                break
            toast = total - heap - indexes
            parts = {"heap": heap, "indexes": indexes, "toast_and_maps": toast}
            report(
                f"bytes a point: {table}",
                total,
                "bytes",
                n=points,
                **shape,
                **{name: round(value, 1) for name, value in parts.items()},
                each_index=_each_index(connection, table, points),
                each_column=_each_column(connection, table, points),
            )


def _copy_machines(instance: Instance, there: int, copies: int) -> None:
    """Add the copies after ``there`` up to ``copies`` of each machine that uploaded, with the rows
    that cannot be without a machine. Findings belong to no alert then, as before their grouping.
    """
    with instance.connect() as connection:
        references = [
            (of, column, to, needed)
            for of, column, to, needed in connection.execute(REFERENCES).fetchall()
            if not of.startswith("alerts_")
        ]
        tables = {HARDWARE}
        while found := {of for of, _, to, needed in references if needed and to in tables} - tables:
            tables |= found
        for table in sorted(tables):
            moved = {column for of, column, to, _ in references if of == table and to in tables}
            names = [name for (name,) in connection.execute(COLUMNS, [table]).fetchall()]
            key = "id" if "id" in names else next(iter(moved))
            values = ", ".join(_copied(name, moved | {"id"}, table) for name in names)
            statement = (
                f"INSERT INTO {table} ({', '.join(map(_quoted, names))})"  # noqa: S608
                f" SELECT {values} FROM {table},"
                f" generate_series({there + 1}::bigint, {copies}) AS copy WHERE {key} < {APART}"
            )
            # References are right, and to look each of them up would take most of the time.
            instance.administrate(f"SET session_replication_role = replica; {statement}")
        # As a live instance is at rest: or uploads pay for the first look at each copied row.
        connection.execute("VACUUM ANALYZE")


def _copied(name: str, moved: Collection[str], table: str) -> str:
    """The value of a column in a copied row."""
    if name in moved:
        return f"{_quoted(name)} + copy * {APART}"
    if name == "uuid":
        return "gen_random_uuid()"
    return (
        "'copy-' || copy || '-' || name" if (table, name) == (HARDWARE, "name") else _quoted(name)
    )


def _quoted(name: str) -> str:
    return f'"{name}"'


def _await_analysis(instance: Instance, bench: Bench) -> None:
    """Print how long the worker went on after the last upload."""
    begun, spent = time.monotonic(), instance.cpu_seconds()
    bench.check()
    after = instance.cpu_seconds()
    cpu = {f"{name}_cpu_s": round(after[name] - spent[name], 2) for name in ("worker", "postgres")}
    report("analysis after the last upload", time.monotonic() - begun, "s", n=1, **cpu)


def _pages(revisions: int) -> dict[str, str]:
    """What is asked for, of the first machine and of a revision in the middle of its history."""
    machine, tree = f"{MACHINE}-0/nic", "freebsd-head"
    middle = FIRST_REVISION + revisions // 2
    sides = f"a={tree}:r{middle - 1}:{machine}&b={tree}:r{middle}:{machine}"
    return {
        "overview": "/",
        "one machine": f"/hardware/{machine}/",
        "commits": f"/commits/{tree}/",
        "one commit": f"/commits/{tree}/r{middle}/",
        "compare, one machine": f"/compare/?{sides}",
        "trend, 1 series": f"/trends/?hardware={machine}&mode=workload-0",
        "trend, 1 series, all of it": f"/trends/?hardware={machine}&mode=workload-0&last=5000",
    }


def _page(instance: Instance, name: str, address: str) -> None:
    """Print how long one page takes, and the processor time of web server and PostgreSQL."""
    server = http.client.HTTPConnection("127.0.0.1", instance.port)
    walls, before = [], instance.cpu_seconds()
    for _ in range(TIMES):
        begun = time.perf_counter()
        server.request("GET", address, headers={"Accept-Encoding": "gzip"})
        answer = server.getresponse()
        answer.read()
        if answer.status != http.client.OK:
            raise SystemExit(f"{address}: {answer.status}")
        walls.append((time.perf_counter() - begun) * 1000)
    spent = instance.cpu_seconds()
    server.close()
    cpu = {
        f"{who}_cpu_ms": round((spent[who] - before[who]) * 1000 / TIMES, 1)
        for who in ("web", "postgres")
        if who in spent
    }
    report(f"page: {name}", median(walls), "ms", n=TIMES, first_ms=round(walls[0], 1), **cpu)


def _each_index(connection: Any, table: str, points: int) -> dict[str, float]:
    found = connection.execute(INDEXES, [table]).fetchall()
    return {name: round(size / points, 1) for name, size in found}


def _each_column(connection: Any, table: str, points: int) -> dict[str, float]:
    """Bytes of the values alone, as they are stored; largest first."""
    names = [row[0] for row in connection.execute(COLUMNS, [table]).fetchall()]
    sums = ", ".join(f'coalesce(sum(pg_column_size("{name}")), 0)' for name in names)
    row = connection.execute(f"SELECT {sums} FROM {table}").fetchone()  # noqa: S608
    sizes = {name: round(float(size) / points, 1) for name, size in zip(names, row, strict=True)}
    return dict(sorted(sizes.items(), key=lambda item: -item[1]))


if __name__ == "__main__":
    main()
