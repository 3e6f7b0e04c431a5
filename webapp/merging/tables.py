"""Whether the database has the tables of this version, or is on its way there."""

from django.db import connection
from django.db.migrations.loader import MigrationLoader


def are_of_this_version() -> bool:
    """Whether every migration is applied: `migrate` may be asked to stop at an earlier one."""
    loader = MigrationLoader(connection)
    return set(loader.graph.nodes) <= set(loader.applied_migrations)
