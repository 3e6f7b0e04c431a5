from django.apps import AppConfig


class LauncherConfig(AppConfig):
    name = "webapp.launcher"
    label = "launcher"
