"""What the mails about alerts say: one file for the facts, one for the words, one a kind.

Importing it registers the composers with the outbox.
"""

from webapp.notifications.mails import alerts, digests

__all__ = ["alerts", "digests"]
