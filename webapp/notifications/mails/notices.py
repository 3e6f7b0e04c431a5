"""Mails that are not about alerts: to operators about what turned wrong in the instance and what is
right again, to a person about signing in and about an address that is to be confirmed, to a lab
whose runs were not replaced.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

from allauth.account.utils import user_pk_to_url_str
from django.conf import settings
from django.contrib.auth.tokens import default_token_generator
from django.template.loader import render_to_string
from django.urls import reverse

from webapp.labs.models import Agent
from webapp.notifications.account_mails import LASTS, asked_in
from webapp.notifications.mails.phrases import PREFIX, SUBJECT_MAX, one_line
from webapp.notifications.models import Problem
from webapp.outbox.models import Mail
from webapp.outbox.services import OTHER_ADDRESS, Message, NothingToSay, absolute
from webapp.results.models import RefusedReplacement

RUNS_SHOWN = 10


def changed(mail: Mail) -> Message:
    """What changed. Raises NothingToSay where what was wrong ended before the mail could go."""
    still = set(Problem.objects.values_list("name", flat=True))
    wrong = [each for each in mail.data["wrong"] if each[0] in still]
    right = [name for name in mail.data["right"] if name not in still]
    if not wrong and not right:
        raise NothingToSay("What changed had changed back before the mail could be sent.")
    context = {"wrong": wrong, "right": right, "page": absolute(reverse("status"))}
    subject = render_to_string("emails/status.changed-subject.txt", context)
    return Message(
        subject=one_line(f"{PREFIX} {subject}", SUBJECT_MAX),
        text=render_to_string("emails/status.changed.txt", context).strip() + "\n",
        html=render_to_string("emails/status.changed.html", context),
    )


def address(mail: Mail) -> Message:
    """The message with the link."""
    context = {"person": mail.recipient, "new": asked_in(mail), "days": LASTS.days}
    return Message(
        subject="[driftline] Is this your address?",
        text=render_to_string("emails/account.address.txt", context).strip() + "\n",
        html=render_to_string("emails/account.address.html", context),
    )


def refused(mail: Mail) -> Message:
    """What an agent tried on the runs of a lab in a day. Raises NothingToSay when it is gone."""
    since = datetime.fromisoformat(mail.data["day"]).replace(tzinfo=UTC)
    lines = RefusedReplacement.objects.filter(
        agent=mail.data["agent"],
        run__hardware__lab=mail.data["lab"],
        last_at__range=(since, since + timedelta(days=1)),
    ).select_related("run__hardware__lab", "run__revision__tree", "run__mode")
    found = list(lines.order_by("first_at", "pk"))
    if not found:
        raise NothingToSay("No such attempt is on record.")
    context = _context(found, Agent.objects.select_related("lab").get(pk=mail.data["agent"]))
    return Message(
        subject=" ".join(render_to_string("emails/lab.refused-subject.txt", context).split()),
        text=render_to_string("emails/lab.refused.txt", context).strip() + "\n",
        html=render_to_string("emails/lab.refused.html", context),
    )


def _context(lines: list[RefusedReplacement], agent: Agent) -> dict[str, object]:
    runs = [line.run for line in lines]
    return {
        "agent": agent,
        "lab": runs[0].hardware.lab,
        "count": len(runs),
        "last_at": max(line.last_at for line in lines),
        "runs": [(run, absolute(run.revision.get_absolute_url())) for run in runs[:RUNS_SHOWN]],
        "more": max(len(runs) - RUNS_SHOWN, 0),
    }


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


def sign_in_changed(mail: Mail) -> Message:
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
