from django.apps import AppConfig


class MergingConfig(AppConfig):
    name = "webapp.merging"
    label = "merging"
