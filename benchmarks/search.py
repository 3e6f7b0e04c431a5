"""Speed of the search among 300,000 commits: `python -m benchmarks.search` (`--commits N`).

An instance of its own; one process asks as the search box does, with what people type: whole and
half revisions, hashes, authors, words of all frequencies, machines and modes. JSON lines.
"""

import argparse
import importlib
import os

import django

from benchmarks._instance import running


def main() -> None:
    """Start the servers, become a process of that instance, measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--commits", type=int, default=300_000)
    options = parser.parse_args()
    with running() as instance:
        instance.control("stop", "worker", "beat")
        os.environ |= instance.variables()
        os.environ["DJANGO_SETTINGS_MODULE"] = "webapp.config.settings"
        django.setup()
        # Models can be imported only now.
        importlib.import_module("benchmarks._search_measured").run(options.commits)


if __name__ == "__main__":
    main()
