"""Tell people what they asked to be told."""

from webapp.notifications.services.digests import post_digests
from webapp.notifications.services.notifying import notify_events

__all__ = ["notify_events", "post_digests"]
