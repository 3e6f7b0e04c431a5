from django.apps import AppConfig


class RegressionsConfig(AppConfig):
    name = "webapp.regressions"
    label = "regressions"
