"""The mail on how a bisect ended."""

from typing import Any

from django.template.loader import render_to_string

from webapp.bisects.models import Bisect
from webapp.bisects.sentences import chance_text
from webapp.bisects.view import BisectView, view_of
from webapp.notifications.models import Subscription
from webapp.notifications.queries import Target
from webapp.notifications.services import one_line
from webapp.outbox.models import Mail
from webapp.outbox.services import CHANNEL, Message, NothingToSay, absolute

SUBJECT_MAX = 180
SUSPECTS_SHOWN = 12


def compose_done(mail: Mail) -> Message:
    """What came of the bisect that ``mail`` is about. Raises NothingToSay when it is gone."""
    number = mail.about.removeprefix("bisect:")
    bisect = Bisect.objects.with_subjects().filter(pk=number, state=Bisect.State.DONE).first()
    if bisect is None:
        raise NothingToSay(f"there is no bisect {number} that is done")
    stops = _stops(mail)
    context = _context(view_of(bisect)) | {
        "unsubscribe_url": stops,
        "is_channel": CHANNEL in mail.data,
    }
    subject = render_to_string("emails/bisect_done-subject.txt", context)
    return Message(
        subject=one_line(subject, SUBJECT_MAX),
        text=render_to_string("emails/bisect_done.txt", context).strip() + "\n",
        html=render_to_string("emails/bisect_done.html", context),
        unsubscribe_url=stops,
    )


def _context(view: BisectView) -> dict[str, Any]:
    bisect = view.bisect
    suspects = view.suspects
    links = [("Bisect", bisect.get_absolute_url())]
    if bisect.culprit is not None:
        links.append(("Commit", bisect.culprit.get_absolute_url()))
    if bisect.alert is not None:
        links.append(("Alert", bisect.alert.get_absolute_url()))
    return {
        "view": view,
        "bisect": bisect,
        "answer": view.sentence.removesuffix("."),
        "text": view.latest.text if view.latest else "",
        "suspects": [(one, chance_text(one.chance)) for one in suspects[:SUSPECTS_SHOWN]],
        "more": max(len(suspects) - SUSPECTS_SHOWN, 0),
        "ministat": view.ministat(),
        "links": [(name, absolute(path)) for name, path in links],
    }


def _stops(mail: Mail) -> str:
    """The address that stops such mails; empty for who started the bisect.

    Raises NothingToSay when they were stopped since.
    """
    number = mail.data.get("subscription")
    if number is None:
        return ""
    one = Subscription.objects.heard().filter(pk=number).first()
    if one is None:
        raise NothingToSay("The subscription was switched off.")
    return Target(one.pk, one.user_id, one.cadence).url
