"""Where the checkout is, and what outlives a run. Importing this starts nothing."""

import os
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
# Compressing takes seconds, so collected static files outlive a run.
STATIC = PROJECT / ".run-tests" / "static"
# Data directories with a migrated and otherwise empty database, of which each process of a run
# clones its own.
MIGRATED = STATIC.with_name("migrated")
TEMPLATE = "migrated"
MIGRATED_DATA = "TESTS_MIGRATED_DATA"
"""The variable that names the data directory of this run."""
# Those of the instances that this process starts: two that start at once must not collect into one
# folder.
STATIC_OF_INSTANCES = STATIC.with_name(f"static-{os.environ.get('PYTEST_XDIST_WORKER', 'alone')}")
