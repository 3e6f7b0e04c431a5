from django.apps import AppConfig


class ResultsConfig(AppConfig):
    name = "webapp.results"
    label = "results"

    def ready(self) -> None:
        from webapp.results.services import revisions  # noqa: F401, PLC0415  receives a signal
