"""Post what is to leave, and send it: one file per step."""

from webapp.outbox.services.hooks import send_due_delivery
from webapp.outbox.services.mailing import send_due_mails
from webapp.outbox.services.posting import post_event, post_mails

__all__ = ["post_event", "post_mails", "send_due_delivery", "send_due_mails"]
