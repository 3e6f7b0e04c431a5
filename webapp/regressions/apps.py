from importlib import import_module

from django.apps import AppConfig


class RegressionsConfig(AppConfig):
    name = "webapp.regressions"
    label = "regressions"

    def ready(self) -> None:
        """Register the composers of our mails with the outbox."""
        import_module("webapp.regressions.letters")
