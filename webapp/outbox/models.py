"""What is to leave, and what became of it."""

from django.db import models

from webapp.accounts.models import User


class Mail(models.Model):
    """One mail to one person, written in the transaction of what it tells."""

    class State(models.TextChoices):
        WAITING = "waiting", "waiting"
        CLAIMED = "claimed", "being sent"
        SENT = "sent", "sent"
        DROPPED = "dropped", "nothing left to say"
        DEAD = "dead", "given up"

    recipient = models.ForeignKey(User, on_delete=models.CASCADE, related_name="mails")
    kind = models.CharField(max_length=40)
    about = models.CharField(max_length=80)
    thread = models.CharField(max_length=80, blank=True)
    data = models.JSONField(default=dict, blank=True)
    state = models.CharField(max_length=8, choices=State, default=State.WAITING)
    due = models.DateTimeField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["recipient", "kind", "about"], name="mail_once_for_a_person_kind_and_thing"
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} to {self.recipient_id} about {self.about}"
