from importlib import import_module

from django.apps import AppConfig


class RegressionsConfig(AppConfig):
    name = "webapp.regressions"
    label = "regressions"

    def ready(self) -> None:
        """Register what layers below call: our letters, and our part of merging."""
        import_module("webapp.regressions.letters")
        import_module("webapp.regressions.services.merged_revisions")
        import_module("webapp.regressions.services.merged_series")
