from importlib import import_module

from django.apps import AppConfig


class JobsConfig(AppConfig):
    name = "webapp.jobs"
    label = "jobs"

    def ready(self) -> None:
        from webapp.jobs.models import Job  # noqa: PLC0415 (models are not ready before)
        from webapp.results.services.following import goes_over  # noqa: PLC0415

        import_module("webapp.jobs.superseded")
        goes_over(Job, "revision")
