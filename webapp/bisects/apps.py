from django.apps import AppConfig


class BisectsConfig(AppConfig):
    name = "webapp.bisects"
    label = "bisects"

    def ready(self) -> None:
        """Import for the side effect: jobs' ends and merges are heard, the mail has its words."""
        from webapp.bisects import following, letters, queue  # noqa: F401, PLC0415
