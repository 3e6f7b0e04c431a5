from django.apps import AppConfig


class BisectsConfig(AppConfig):
    name = "webapp.bisects"
    label = "bisects"

    def ready(self) -> None:
        """Import for the side effect: jobs tell of their ends."""
        from webapp.bisects import signals  # noqa: F401, PLC0415
