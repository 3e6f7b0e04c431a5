"""What a point costs on disk: ``python -m benchmarks.scale`` prints one JSON object a table.

It starts an instance of its own and uploads runs of one metric as `benchmarks.ingest` does, each of
which is a point, until there are as many; then it waits for the analysis and asks PostgreSQL.
"""

import argparse
from typing import Any

from benchmarks._instance import running
from benchmarks.ingest import MODES, Bench, count, report

POINTS, MACHINES = 10_000, 5
LEAST_BYTES = 0.5
"""A table that costs less a point belongs to the instance, not to its points."""

TABLES = """
SELECT c.oid::regclass::text, pg_total_relation_size(c.oid), pg_relation_size(c.oid),
       pg_indexes_size(c.oid)
  FROM pg_class c
 WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace
 ORDER BY 2 DESC"""
INDEXES = """
SELECT indexrelid::regclass::text, pg_relation_size(indexrelid)
  FROM pg_index WHERE indrelid = %s::regclass ORDER BY 2 DESC"""
COLUMNS = """
SELECT attname FROM pg_attribute
 WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum"""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale")
    parser.add_argument("--points", type=int, default=POINTS)
    parser.add_argument(
        "--machines", type=int, default=MACHINES, help="that share them: many, and series are short"
    )
    given = parser.parse_args()
    with running() as instance:
        bench = Bench(instance, instance.manage("create_agent", "bench", "--lab", "scale"), 0)
        bench.fill(given.points // MODES, machines=given.machines)
        with instance.connect() as connection:
            points = count(connection, "results_point")
            shape = {"series": count(connection, "results_series")}
            for table, *sizes in connection.execute(TABLES).fetchall():
                total, heap, indexes = (size / points for size in sizes)
                if total < LEAST_BYTES:
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
