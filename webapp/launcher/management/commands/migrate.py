from typing import Any

from django.core.management.commands import migrate
from django.db import DEFAULT_DB_ALIAS, connections

from webapp.readiness.services import heartbeats

LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('driftline-migrate', 0))"


class Command(migrate.Command):
    help = "Bring the database's schema up to date; of several machines that start, one at a time."

    def handle(self, *args: Any, **options: Any) -> None:
        """Migrate once no other machine does."""
        connection = connections[options.get("database") or DEFAULT_DB_ALIAS]
        with connection.wrap_database_errors:
            own = heartbeats.connect(connection.settings_dict)
        # A transaction's lock on a connection of its own: a pooler leaves that to it until the end.
        with own, own.transaction():
            own.execute(LOCK)
            super().handle(*args, **options)
