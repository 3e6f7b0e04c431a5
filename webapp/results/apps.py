from importlib import import_module

from django.apps import AppConfig


class ResultsConfig(AppConfig):
    name = "webapp.results"
    label = "results"

    def ready(self) -> None:
        """Register our mail with the outbox, which stands below."""
        import_module("webapp.results.refusal_mail")
