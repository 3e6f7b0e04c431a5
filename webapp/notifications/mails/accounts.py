"""The mails to a person about signing in."""

from typing import Any

from allauth.account.utils import user_pk_to_url_str
from django.conf import settings
from django.contrib.auth.tokens import default_token_generator
from django.template.loader import render_to_string
from django.urls import reverse

from webapp.outbox.models import Mail
from webapp.outbox.services import OTHER_ADDRESS, Message, NothingToSay, absolute


def new_password(mail: Mail) -> Message:
    """The link to a new password. It is made when the mail is sent, for the password and the
    address of that moment. Raises NothingToSay when it would go to a former address.
    """
    person = mail.recipient
    if person.email != mail.data[OTHER_ADDRESS] or not person.has_usable_password():
        raise NothingToSay("The account has another address now, or no password.")
    named = {
        "uidb36": user_pk_to_url_str(person),
        "key": default_token_generator.make_token(person),
    }
    path = reverse("account_reset_password_from_key", kwargs=named)
    context = {"url": absolute(path), "hours": settings.PASSWORD_RESET_TIMEOUT // 3600}
    return _message(mail, "A new password", context)


def changed(mail: Mail) -> Message:
    """What was changed about signing in."""
    context = {"what": mail.data["what"], "at": mail.due}
    context["url"] = absolute(reverse("account_reset_password"))
    return _message(mail, mail.data["what"], context)


def _message(mail: Mail, subject: str, context: dict[str, Any]) -> Message:
    context["person"] = mail.recipient
    return Message(
        subject=f"[driftline] {subject}",
        text=render_to_string(f"emails/{mail.kind}.txt", context).strip() + "\n",
        html=render_to_string(f"emails/{mail.kind}.html", context),
    )
