from django.apps import AppConfig


class BisectsConfig(AppConfig):
    name = "webapp.bisects"
    label = "bisects"

    def ready(self) -> None:
        """Import for the side effect: alerts ask what is held, jobs tell of their ends."""
        from webapp.bisects import holding, signals  # noqa: F401, PLC0415
