from django.apps import AppConfig


class NotificationsConfig(AppConfig):
    name = "webapp.notifications"
    label = "notifications"
