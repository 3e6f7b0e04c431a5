"""When each part of this instance was last seen at work, and which backups it made."""

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


class Backup(models.Model):
    """A scheduled backup: its ``file`` name and size, when restoring it was rehearsed, or what
    failed.
    """

    at = models.DateTimeField(unique=True)
    file = models.CharField(max_length=200)
    bytes = models.BigIntegerField(default=0)
    rehearsed_at = models.DateTimeField(null=True)
    failure = models.TextField(blank=True)

    class Meta:
        ordering = ["-at"]

    def __str__(self) -> str:
        return self.file
