from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from webapp.config.exporting import CHUNK, point_rows, run_rows
from webapp.results.services import chunks

TABLES = {"runs": run_rows, "points": point_rows}


class Command(BaseCommand):
    help = (
        "Write runs.parquet (a row a metric of a run, with its samples) and points.parquet (a row "
        "a revision of a series) into DIR, row by row. Needs pyarrow: pip install pyarrow."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("directory", metavar="DIR", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            import pyarrow  # noqa: PLC0415 (optional)
            from pyarrow import parquet  # noqa: PLC0415
        except ImportError as error:
            raise CommandError("pyarrow is not installed: pip install pyarrow") from error
        schemas = _schemas(pyarrow)
        try:
            options["directory"].mkdir(parents=True, exist_ok=True)
            for name, rows in TABLES.items():
                count = 0
                path = options["directory"] / f"{name}.parquet"
                with parquet.ParquetWriter(path, schemas[name], compression="zstd") as writer:
                    for some in chunks(rows(), CHUNK):
                        writer.write_table(pyarrow.Table.from_pylist(some, schemas[name]))
                        count += len(some)
                self.stdout.write(f"{count} rows in {path}")
        except OSError as error:
            raise CommandError(f"cannot write: {error}") from error


def _schemas(pa: Any) -> dict[str, Any]:
    """The columns of each table, in the order of the rows' keys."""
    time, text, whole, real = pa.timestamp("us", tz="UTC"), pa.string(), pa.int64(), pa.float64()
    names = dict.fromkeys(("tree", "hardware", "mode", "metric", "variant", "unit", "better"), text)
    revision = {"revision": text, "position": whole}
    runs = {"uuid": text, **names, **revision, "build_id": text}
    runs |= {"measured_at": time, "received_at": time, "withdrawn": pa.bool_()}
    runs |= {"samples": pa.list_(real), "boots": pa.list_(whole)}
    points = {"series": whole, **names, **revision, "committed_at": time}
    points |= dict.fromkeys(("n", "runs", "builds", "boots"), whole)
    points |= dict.fromkeys(("mean", "median", "variance", "min", "max"), real)
    return {"runs": pa.schema(runs.items()), "points": pa.schema(points.items())}
