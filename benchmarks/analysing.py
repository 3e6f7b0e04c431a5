"""Cost of analyses: `python -m benchmarks.analysing` (`--revisions N [N …]`).

An instance of its own whose worker stands still; 48 series (12 machines in four modes) of so many
revisions get one revision more, again and again, and one process analyses as the worker does. Of
each batch it prints processor time, time spent waiting for PostgreSQL, and statements. Half of the
machines lose a tenth of their rate, so that there are findings and alerts. JSON lines.
"""

import argparse
import importlib
import os

import django

from benchmarks._instance import running


def main() -> None:
    """Start the servers, become a process of that instance, measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--revisions", type=int, nargs="+", default=[60, 200])
    parser.add_argument("--profile", action="store_true", help="print where the time goes as well")
    options = parser.parse_args()
    with running() as instance:
        instance.control("stop", "worker", "beat")
        os.environ |= instance.variables()
        os.environ["DJANGO_SETTINGS_MODULE"] = "webapp.config.settings"
        django.setup()
        # Models can be imported only now.
        measured = importlib.import_module("benchmarks._analysing_measured")
        measured.run(options.revisions, with_profile=options.profile)


if __name__ == "__main__":
    main()
