"""What the trend chart costs a reader: `python -m benchmarks.explorer [--before CHECKOUT]`.

Starts an instance, fills it (20 series of 200 revisions, and one of ``--points``), drives the
system's Chromium over HTTP, and prints a JSON object a line: the bytes of scripts, the time from a
cold and from a warm visit to an interactive chart, from a gesture to the finished redraw, and of
the figure of a part of the long series. With ``--before`` another checkout (its code, the packages
of this one) is measured first, in rows whose names begin with "before".
"""

import argparse
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import django

from benchmarks._instance import running

POINTS = 100_000
TIMES = 10


def main() -> None:
    """Start the servers, become a process of that instance, fill it, drive the browser."""
    parser = argparse.ArgumentParser(prog="benchmarks.explorer", description=__doc__)
    parser.add_argument("--points", type=int, default=POINTS)
    parser.add_argument("--times", type=int, default=TIMES, help="visits of each kind")
    parser.add_argument("--before", type=Path, help="a checkout that is measured first")
    parser.add_argument("--name", default="", help="what the name of each row begins with")
    asked = parser.parse_args()
    if asked.before:
        sizes = ("--points", str(asked.points), "--times", str(asked.times), "--name", "before, ")
        subprocess.run(
            [sys.executable, str(Path(__file__).resolve()), *sizes],
            cwd=asked.before,
            env=os.environ | {"PYTHONPATH": str(asked.before.resolve())},
            check=True,
        )
    with running() as instance:
        instance.control("stop", "worker", "beat")
        os.environ |= instance.variables()
        os.environ["DJANGO_SETTINGS_MODULE"] = "webapp.config.settings"
        # Playwright runs an event loop in this thread, where Django would refuse the database.
        os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
        django.setup()
        # Models can be imported only now; of this checkout, whichever is measured.
        path = Path(__file__).with_name("_explorer_measured.py")
        spec = importlib.util.spec_from_file_location("measured", path)
        assert spec is not None
        assert spec.loader is not None
        measured = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(measured)
        for row in measured.run(instance, points=asked.points, times=asked.times):
            print(json.dumps(row | {"name": f"{asked.name}{row['name']}"}), flush=True)


if __name__ == "__main__":
    main()
