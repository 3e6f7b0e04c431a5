"""When each part of this instance was last seen at work."""

from django.db import models


class Heartbeat(models.Model):
    """A row for each part in `webapp.readiness.heartbeats.PARTS`, by the database's clock.

    In the database, because nothing may live in Redis alone: a Redis that was emptied has not
    stopped a worker.
    """

    part = models.CharField(max_length=20, primary_key=True)
    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.part} at {self.at}"
