"""What the trend chart costs a reader: `python -m benchmarks.explorer [--points 100000]`.

Starts an instance, fills it (20 series of 200 revisions, and one of ``--points``), drives the
system's Chromium over HTTP, and prints a JSON object a line: the bytes of scripts, the time from a
cold first visit to a drawn chart, from a click to an interactive chart of 20 series, and the time
of frames while a long series is panned and zoomed.
"""

import argparse
import importlib
import json
import os

import django

from benchmarks._instance import running

POINTS = 100_000
TIMES = 10


def main() -> None:
    """Start the servers, become a process of that instance, fill it, drive the browser."""
    parser = argparse.ArgumentParser(prog="benchmarks.explorer", description=__doc__)
    parser.add_argument("--points", type=int, default=POINTS)
    parser.add_argument("--times", type=int, default=TIMES, help="visits of each kind")
    asked = parser.parse_args()
    with running() as instance:
        instance.control("stop", "worker", "beat")
        os.environ |= instance.variables()
        os.environ["DJANGO_SETTINGS_MODULE"] = "webapp.config.settings"
        # Playwright runs an event loop in this thread, where Django would refuse the database.
        os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
        django.setup()
        # Models can be imported only now.
        measured = importlib.import_module("benchmarks._explorer_measured")
        for row in measured.run(instance, points=asked.points, times=asked.times):
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
