"""Post what is to leave, and send it: one file per step."""

from webapp.outbox.services.correcting import correct_pauses, correct_times
from webapp.outbox.services.delivering import are_deliveries_due, send_due_deliveries
from webapp.outbox.services.mailing import are_mails_due, send_due_mails
from webapp.outbox.services.posting import post_event, post_mails
from webapp.outbox.services.renaming import move_mails

__all__ = [
    "are_deliveries_due",
    "are_mails_due",
    "correct_pauses",
    "correct_times",
    "move_mails",
    "post_event",
    "post_mails",
    "send_due_deliveries",
    "send_due_mails",
]
