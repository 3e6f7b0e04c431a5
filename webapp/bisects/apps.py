from django.apps import AppConfig


class BisectsConfig(AppConfig):
    name = "webapp.bisects"
    label = "bisects"
