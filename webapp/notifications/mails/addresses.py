"""The mail that asks whether an address is its person's."""

from django.template.loader import render_to_string

from webapp.notifications.addresses import LASTS, asked_in
from webapp.outbox.models import Mail
from webapp.outbox.services import Message


def address(mail: Mail) -> Message:
    """The message with the link."""
    context = {"person": mail.recipient, "new": asked_in(mail), "days": LASTS.days}
    return Message(
        subject="[driftline] Is this your address?",
        text=render_to_string("emails/account.address.txt", context).strip() + "\n",
        html=render_to_string("emails/account.address.html", context),
    )
