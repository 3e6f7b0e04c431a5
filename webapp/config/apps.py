"""Wires what must be in place in every process that runs Django."""

import gc

from django.apps import AppConfig, apps
from django.db.models.signals import post_migrate


class WiringConfig(AppConfig):
    """Makes our Celery application the current one, and registers the system checks."""

    name = "webapp.config"
    label = "wiring"

    def ready(self) -> None:
        """Import for the side effect: without it `task.delay()` would look for a broker on AMQP."""
        from webapp.config import audited, celery, checks, web_role  # noqa: F401, PLC0415

        audited.connect_signals()
        # Sent for apps with models only, and once all tables are there
        accounts = apps.get_app_config("accounts")
        post_migrate.connect(audited.install_triggers, sender=accounts, dispatch_uid="audit")
        post_migrate.connect(web_role.grant_to_web_role, sender=accounts, dispatch_uid="web role")

        # The settings switched it off. What was imported stays: it need not be looked through.
        gc.freeze()
        gc.enable()
