from django.apps import AppConfig


class LabsConfig(AppConfig):
    name = "webapp.labs"
    label = "labs"
