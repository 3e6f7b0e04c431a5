from django.apps import AppConfig


class BisectsConfig(AppConfig):
    name = "webapp.bisects"
    label = "bisects"

    def ready(self) -> None:
        """Import for the side effect: the ends of jobs are heard, and the mail has its words."""
        from webapp.bisects import letters, queue  # noqa: F401, PLC0415
