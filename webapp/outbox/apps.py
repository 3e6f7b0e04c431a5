from django.apps import AppConfig


class OutboxConfig(AppConfig):
    name = "webapp.outbox"
    label = "outbox"

    def ready(self) -> None:
        """Import for the side effect: a mail of its own has its words."""
        from webapp.outbox import confirming  # noqa: F401, PLC0415
