"""Whether the database has the tables of this version, or is on its way there."""

from typing import Any

from django.apps import AppConfig, apps
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.models.signals import post_migrate


class MergingConfig(AppConfig):
    name = "webapp.merging"
    label = "merging"

    def ready(self) -> None:
        # Django signals only apps with models of their own
        post_migrate.connect(_adopt_rules, sender=apps.get_app_config("results"))


def _adopt_rules(**migrated: Any) -> None:
    """Rules that come with the program file stored runs, once all tables are as this version has
    them: a step of a migration would work with tables that later ones change.
    """
    from webapp.merging.apps import are_of_this_version  # noqa: PLC0415
    from webapp.merging.services import adopt_builtin_rules  # noqa: PLC0415 (models are not ready)

    if "plan" not in migrated or are_of_this_version():
        adopt_builtin_rules()


def are_of_this_version() -> bool:
    """Whether every migration is applied: `migrate` may be asked to stop at an earlier one."""
    loader = MigrationLoader(connection)
    return set(loader.graph.nodes) <= set(loader.applied_migrations)
