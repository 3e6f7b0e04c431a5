"""Driftline and LNT on the same data, asked alternately: `python -m benchmarks.beside_lnt`.

An instance of each is started and filled with the same 10 machines × 20 modes × 200 revisions of
5 samples, all measured in the last 13 days. Then each is asked for the same pages in turn. Printed
is a JSON line a page: of both the processor time of all processes a request, and the median of the
times; of Driftline also that of the first look after an upload. LNT is as `lnt create` makes it
(SQLite), behind Gunicorn with as many processes and threads as Driftline has. `make oracles`
installs LNT.
"""

import argparse
import importlib
import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import django

from benchmarks._instance import PROJECT, free_port, running

LNT = PROJECT / ".venv-lnt" / "bin"
WORKER = Path(__file__).with_name("lnt_worker.py")


def main() -> None:
    """Both instances, then a row for each page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.beside_lnt", description=__doc__)
    parser.add_argument("--machines", type=int, default=10)
    parser.add_argument("--revisions", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=8, help="turns of five requests a page")
    asked = parser.parse_args()
    if not LNT.exists():
        raise SystemExit("LNT is not installed: make oracles")
    with running() as instance:
        instance.control("stop", "worker", "beat")
        os.environ |= instance.variables()
        os.environ["DJANGO_SETTINGS_MODULE"] = "webapp.config.settings"
        django.setup()
        # Models can be imported only now.
        measured = importlib.import_module("benchmarks._beside_lnt_measured")
        pages, reports = measured.fill_driftline(asked.machines, asked.revisions)
        with lnt(reports) as (server, numbers):
            lab = instance.manage("create_agent", "bench", "--lab", "orange-lab")
            sides = measured.Sides(instance, server, token=lab)
            for row in measured.run(sides, pages, numbers, asked.rounds):
                print(json.dumps(row), flush=True)


@contextmanager
def lnt(reports: Iterator[str]) -> Iterator[tuple[tuple[int, int], dict[str, Any]]]:
    """LNT with these reports: its process id and port, and the numbers of its rows."""
    with tempfile.TemporaryDirectory(prefix="lnt-") as directory:
        place = Path(directory, "instance")
        subprocess.run([LNT / "lnt", "create", place], check=True, capture_output=True)
        filled = subprocess.run(
            [LNT / "python", WORKER, "fill", place],
            input="".join(f"{each}\n" for each in reports),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            check=True,
        )
        port = free_port()
        command = (LNT / "gunicorn", "--workers=2", "--threads=4", "--keep-alive=60", "--bind")
        server = subprocess.Popen(
            [
                *command,
                f"127.0.0.1:{port}",
                "--env",
                f"LNT_INSTANCE={place}",
                "lnt_worker:application()",
            ],
            cwd=WORKER.parent,
            stderr=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        try:
            yield (server.pid, port), json.loads(filled.stdout.splitlines()[-1])
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
