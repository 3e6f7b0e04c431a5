"""LNT in an environment of its own (benchmarks/lnt.txt), for `benchmarks.beside_lnt`.

    python lnt_worker.py fill INSTANCE < REPORTS      a report a line, in LNT's format, version 2
    gunicorn --env LNT_INSTANCE=… lnt_worker:application()

Imports nothing of this project.
"""

import json
import os
import sys
import tempfile
from typing import Any

from lnt.server.ui.app import App  # type: ignore[import-not-found]
from lnt.util import ImportData  # type: ignore[import-not-found]

SUITE, DATABASE = "nts", "default"


def application() -> Any:
    """The WSGI application of the instance."""
    return App.create_standalone(config_path=os.environ["LNT_INSTANCE"])


def fill(instance: str) -> None:
    """Store the reports of standard input; print the numbers by which pages are addressed."""
    config = App.create_standalone(config_path=instance).old_config
    database = config.get_database(DATABASE)
    session = database.make_session()
    for report in sys.stdin:
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write(report)
            file.flush()
            # Without the text for a mail, which the pages do not need.
            stored = (config, DATABASE, database, session, file.name, "<auto>", SUITE)
            done = ImportData.import_and_report(*stored, disable_email=True, disable_report=True)
        if not done["success"]:
            raise SystemExit(f"LNT refused a report: {done['error']}")
    suite = database.testsuite[SUITE]
    names = [field.name for field in suite.sample_fields]
    numbers = {
        "field": names.index("execution_time"),
        "runs": [row.id for row in session.query(suite.Run).order_by(suite.Run.id)],
        "orders": [row.id for row in session.query(suite.Order).order_by(suite.Order.id)],
        "tests": [row.id for row in session.query(suite.Test).order_by(suite.Test.name)],
        "machines": [row.id for row in session.query(suite.Machine).order_by(suite.Machine.id)],
    }
    print(json.dumps(numbers))


if __name__ == "__main__":
    fill(sys.argv[2])
