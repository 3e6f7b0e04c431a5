"""When each part of this instance was last seen at work, and which backups it made."""

from django.db import models


class Heartbeat(models.Model):
    """A part in `webapp.readiness.heartbeats.PARTS` on one host, by the database's clock.

    In the database, because nothing may live in Redis alone: a Redis that was emptied has not
    stopped a worker.
    """

    part = models.CharField(max_length=20)
    host = models.TextField()
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["part", "host"], name="one_heartbeat_of_a_host")
        ]

    def __str__(self) -> str:
        return f"{self.part} on {self.host} at {self.at}"


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
