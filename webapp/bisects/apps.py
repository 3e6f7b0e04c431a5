from django.apps import AppConfig


class BisectsConfig(AppConfig):
    name = "webapp.bisects"
    label = "bisects"

    def ready(self) -> None:
        """Import for the side effect: jobs, merges and alerts ask, the mail has its words."""
        from webapp.bisects import following, holding, letters, queue  # noqa: F401, PLC0415
