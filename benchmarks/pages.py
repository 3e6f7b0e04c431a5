"""What the pages cost: statements, processor time of web server and PostgreSQL, time, bytes.

`python -m benchmarks.pages --series 20 200 1000` starts an instance for each size, fills it (20
modes a machine, 200 revisions each, a tenth lost by every series at one commit), asks for each page
over HTTP one after the other, and prints a JSON line a page and a table in Markdown at the end.
Beside them stands a page of fixed work (signing in), which shows what the machine is worth.
"""

import argparse
import importlib
import json
import os
import subprocess
import sys

import django

from benchmarks._instance import PROJECT, running

SIZES = (20, 200, 1000)
REVISIONS = 200
MODES = 20
TIMES = 30
HEADS = ("page", "statements", "web ms", "PostgreSQL ms", "p50 ms", "kB")


def main() -> None:
    """Each size in a process and an instance of its own, then the table."""
    asked = _arguments()
    if asked.one:
        _measure(asked)
        return
    for size in asked.series:
        names = ("revisions", "times", "modes", "singles")
        more = [word for name in names for word in (f"--{name}", str(getattr(asked, name)))]
        command = [sys.executable, "-m", "benchmarks.pages", "--one", str(size), *more]
        done = subprocess.run(command, cwd=PROJECT, stdout=subprocess.PIPE, text=True, check=True)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        for row in rows:
            print(json.dumps(row))
        print(_table(size, asked.revisions, rows))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.pages", description=__doc__)
    parser.add_argument("--series", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--revisions", type=int, default=REVISIONS)
    parser.add_argument("--times", type=int, default=TIMES, help="requests a page")
    parser.add_argument("--modes", type=int, default=MODES, help="with a history, a machine")
    parser.add_argument("--singles", type=int, default=0, help="modes of one revision, a machine")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    return parser.parse_args()


def _measure(asked: argparse.Namespace) -> None:
    """Start the servers, become a process of that instance, fill it, ask."""
    with running() as instance:
        instance.control("stop", "worker", "beat")
        os.environ |= instance.variables()
        os.environ["DJANGO_SETTINGS_MODULE"] = "webapp.config.settings"
        django.setup()
        # Models can be imported only now.
        measured = importlib.import_module("benchmarks._pages_measured")
        for row in measured.run(
            instance,
            series=asked.one,
            revisions=asked.revisions,
            modes=asked.modes,
            singles=asked.singles,
            times=asked.times,
        ):
            print(json.dumps(row), flush=True)


def _table(series: int, revisions: int, rows: list[dict[str, object]]) -> str:
    heads = [f"{series} series × {revisions} revisions: {HEADS[0]}", *HEADS[1:]]
    lines = [" | ".join(heads), " | ".join(["---"] * len(heads))]
    lines += [" | ".join(str(row[head]) for head in HEADS) for row in rows]
    return "\n".join(f"| {line} |" for line in lines)


if __name__ == "__main__":
    main()
