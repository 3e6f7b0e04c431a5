"""The mail to operators about what turned wrong in the instance, and what is right again."""

from django.template.loader import render_to_string
from django.urls import reverse

from webapp.notifications.mails.phrases import PREFIX, SUBJECT_MAX, one_line
from webapp.notifications.models import Problem
from webapp.outbox.models import Mail
from webapp.outbox.services import Message, NothingToSay, absolute


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
