"""Speed of the pages: server time and bytes on the wire, on a database of its own.

`python -m benchmarks.pages` starts an instance for itself, fills its database with 20 series of
200 revisions, and prints JSON lines. Server time is wall time from the request to the whole
compressed answer inside one process, without the network; the median of several.
"""

import importlib
import os

import django

from benchmarks._instance import running


def main() -> None:
    """Start the servers, become a process of that instance, measure."""
    with running() as instance:
        instance.control("stop", "worker", "beat")
        os.environ |= instance.variables()
        os.environ["DJANGO_SETTINGS_MODULE"] = "webapp.config.settings"
        django.setup()
        # Models can be imported only now.
        importlib.import_module("benchmarks._pages_measured").run()


if __name__ == "__main__":
    main()
