from django.apps import AppConfig


class BisectsConfig(AppConfig):
    name = "webapp.bisects"
    label = "bisects"

    def ready(self) -> None:
        """Import for the side effect: a job that ended queues the next step of its bisect."""
        from webapp.bisects import tasks  # noqa: F401, PLC0415
