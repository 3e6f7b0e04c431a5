from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class ReadinessConfig(AppConfig):
    name = "webapp.readiness"
    label = "readiness"

    def ready(self) -> None:
        post_migrate.connect(_forget, sender=self)


def _forget(**_: Any) -> None:
    """An instance migrates when it starts: what its last life did proves nothing of this one."""
    from webapp.readiness.models import Heartbeat  # noqa: PLC0415 (models are not ready before)

    Heartbeat.objects.all().delete()
