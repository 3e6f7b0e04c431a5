from importlib import import_module

from django.apps import AppConfig


class AlertsConfig(AppConfig):
    name = "webapp.alerts"
    label = "alerts"

    def ready(self) -> None:
        """Register our part of merging revisions and series."""
        import_module("webapp.alerts.services.merged_revisions")
        import_module("webapp.alerts.services.merged_series")
