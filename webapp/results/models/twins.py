"""What operators said of modes that look like one in two spellings."""

from django.db import models

from webapp.accounts.models import User
from webapp.results.modes import NAME_MAX


class DismissedTwins(models.Model):
    """Two modes that are two things, whatever their names look like: they are not suggested again.

    By their names, ``one`` before ``other``: a mode that goes and comes back is the same.
    """

    one = models.CharField(max_length=NAME_MAX)
    other = models.CharField(max_length=NAME_MAX)
    dismissed_by = models.ForeignKey(
        User, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    dismissed_at = models.DateTimeField()

    class Meta:
        ordering = ["one", "other"]
        verbose_name_plural = "dismissed twins"
        constraints = [
            models.UniqueConstraint(fields=["one", "other"], name="twins_dismissed_once")
        ]

    def __str__(self) -> str:
        return f"{self.one} and {self.other}"
