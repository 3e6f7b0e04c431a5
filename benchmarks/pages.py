"""Speed of the pages: server time and bytes on the wire, on a database of its own.

`python -m benchmarks.pages` starts PostgreSQL and Redis for itself, fills a database with 20
series of 200 revisions, and prints JSON lines. Server time is wall time from the request to the
whole compressed answer inside one process, without the network; the median of several.
"""

import importlib

import django


def main() -> None:
    """Start the servers (importing their module does that), then measure."""
    importlib.import_module("tests.servers")
    django.setup()
    # Models can be imported only now.
    importlib.import_module("benchmarks._pages_measured").run()


if __name__ == "__main__":
    main()
