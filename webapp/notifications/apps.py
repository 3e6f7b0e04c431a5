from importlib import import_module

from django.apps import AppConfig


class NotificationsConfig(AppConfig):
    name = "webapp.notifications"
    label = "notifications"

    def ready(self) -> None:
        """Register the composers of our mails with the outbox."""
        import_module("webapp.notifications.mails")
