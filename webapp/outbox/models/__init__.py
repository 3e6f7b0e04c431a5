"""What is to leave, and what became of it."""

from webapp.outbox.models.hooks import Endpoint, HookDelivery
from webapp.outbox.models.items import Backlog
from webapp.outbox.models.mails import Mail, MailServer, data_with

__all__ = ["Backlog", "Endpoint", "HookDelivery", "Mail", "MailServer", "data_with"]
