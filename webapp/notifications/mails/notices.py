"""Mails that are not about alerts: to operators about what turned wrong in the instance and what is
right again; to a person about the account, which is a new address, a link to a new password and
what was changed about signing in; to a lab whose runs were not replaced.

A signed link is mailed to a new address; who opens the link and presses the button has its mail.
Till then mails go where they went. So nobody sends the mails of this instance to a stranger, by a
slip or on purpose. Operators, who make the accounts, set addresses in the admin without that.

Mails about signing in go to the address that the account has when they are posted, at once, quiet
hours or not.
"""

import uuid
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Self

from allauth.account.utils import user_pk_to_url_str
from django.conf import settings
from django.contrib.auth.tokens import default_token_generator
from django.core.signing import BadSignature, SignatureExpired, TimestampSigner
from django.db import transaction
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone

from webapp.accounts.models import User
from webapp.labs.models import Agent
from webapp.notifications.mails.phrases import PREFIX, SUBJECT_MAX, one_line
from webapp.notifications.models import Problem
from webapp.outbox import services as outbox
from webapp.outbox.models import Mail, data_with
from webapp.results.models import RefusedReplacement

ADDRESS_KIND = "account.address"
TAKEN = "taken"
"""In the mail's data: its link was used."""

LASTS = timedelta(days=7)
MOST_A_DAY = 5
"""Links for one person: an address that somebody else reads is not to be flooded."""

_signer = TimestampSigner(salt="driftline.address")

NEW_PASSWORD, CHANGED = "account.password", "account.changed"
"""Links for one person. Each holds for a day, so whoever asks for them all keeps nobody out: one
that holds lies in the person's mailbox."""


class AddressNotTaken(ValueError):
    """The address cannot be set; the message has why and what to do instead."""


@dataclass(frozen=True, slots=True)
class NewAddress:
    """That a person's mails are to go to ``address`` instead of ``former``, as ``mail`` asks."""

    user: int
    former: str
    address: str
    mail: int

    @classmethod
    def read(cls, token: str) -> Self:
        """Raises AddressNotTaken for a token that was cut, made up, or has run out."""
        again = "Give the address anew on the page of your account."
        try:
            signed = _signer.unsign_object(token.replace("~", ":"), max_age=LASTS)
        except SignatureExpired as error:
            raise AddressNotTaken(f"This link is older than {LASTS.days} days. {again}") from error
        except BadSignature as error:
            raise AddressNotTaken(f"This link is not complete. Copy it whole. {again}") from error
        return cls(*signed)

    @property
    def token(self) -> str:
        """The signed text for the link; ``read`` reads it."""
        # A colon is allowed in a path, but some mail programs end the link there.
        return _signer.sign_object([self.user, self.former, self.address, self.mail]).replace(
            ":", "~"
        )

    @property
    def url(self) -> str:
        """The absolute link that confirms the address."""
        return outbox.absolute(reverse("account_address", args=[self.token]))


@transaction.atomic
def ask_address(*, user: User, address: str) -> None:
    """Mail the link to ``address``. Raises AddressNotTaken when too many were asked for."""
    User.objects.select_for_update(no_key=True).get(pk=user.pk)
    since = timezone.now() - timedelta(days=1)
    if Mail.objects.filter(recipient=user, kind=ADDRESS_KIND, due__gt=since).count() >= MOST_A_DAY:
        raise AddressNotTaken(
            f"{MOST_A_DAY} links were sent within a day; look for them, or try again tomorrow."
        )
    new = outbox.NewMail(
        recipient=user.pk,
        kind=ADDRESS_KIND,
        about=f"address:{uuid.uuid4()}",
        due=timezone.now(),
        data={outbox.OTHER_ADDRESS: address, "former": user.email},
    )
    outbox.post_mails([new])


def asked_address(user: User) -> str:
    """The address that was asked last and has not answered yet; empty when none is."""
    asked = Mail.objects.filter(recipient=user, kind=ADDRESS_KIND, due__gt=timezone.now() - LASTS)
    last = asked.order_by("-pk").first()
    if last is None or TAKEN in last.data or last.data["former"] != user.email:
        return ""
    address: str = last.data[outbox.OTHER_ADDRESS]
    return address


@transaction.atomic
def take_address(new: NewAddress) -> User:
    """Have mails go there. Raises AddressNotTaken if the address was changed since the link, also
    when it was changed by it and back: who holds the link of a wrong address has it for days.
    """
    user = User.objects.select_for_update(no_key=True).filter(pk=new.user, is_active=True).first()
    if user is None or user.email not in {new.former, new.address}:
        raise AddressNotTaken("The address was changed after this link was sent.")
    asked = Mail.objects.filter(pk=new.mail, recipient=user)
    if user.email != new.address and asked.filter(data__has_key=TAKEN).exists():
        raise AddressNotTaken("This link was used, and the address was changed after that.")
    asked.update(data=data_with(**{TAKEN: True}))
    user.email = new.address
    user.save(update_fields=["email"])
    return user


def asked_in(mail: Mail) -> NewAddress:
    """What the stored ``mail`` asks."""
    return NewAddress(
        mail.recipient_id, mail.data["former"], mail.data[outbox.OTHER_ADDRESS], mail.pk
    )


@transaction.atomic
def ask_new_password(*, user: User) -> None:
    """Mail ``user`` a link to set a new password; nothing where ``MOST_A_DAY`` still hold."""
    User.objects.select_for_update(no_key=True).get(pk=user.pk)
    since = timezone.now() - timedelta(seconds=settings.PASSWORD_RESET_TIMEOUT)
    sent = Mail.objects.filter(recipient=user, kind=NEW_PASSWORD, due__gt=since)
    if sent.count() < MOST_A_DAY:
        _post(user, NEW_PASSWORD)


def notify_of_change(*, user: User, what: str) -> None:
    """Mail ``user`` ``what`` was changed about signing in; nothing without an address."""
    if user.email:
        _post(user, CHANGED, what=what)


def _post(user: User, kind: str, **data: str) -> None:
    data[outbox.OTHER_ADDRESS] = user.email
    outbox.post_mails(
        [outbox.NewMail(user.pk, kind, f"account:{uuid.uuid4()}", timezone.now(), data=data)]
    )


RUNS_SHOWN = 10


def changed(mail: Mail) -> outbox.Message:
    """What changed. Raises NothingToSay where what was wrong ended before the mail could go."""
    still = set(Problem.objects.values_list("name", flat=True))
    wrong = [each for each in mail.data["wrong"] if each[0] in still]
    right = [name for name in mail.data["right"] if name not in still]
    if not wrong and not right:
        raise outbox.NothingToSay("What changed had changed back before the mail could be sent.")
    context = {"wrong": wrong, "right": right, "page": outbox.absolute(reverse("status"))}
    subject = render_to_string("emails/status.changed-subject.txt", context)
    return outbox.Message(
        subject=one_line(f"{PREFIX} {subject}", SUBJECT_MAX),
        text=render_to_string("emails/status.changed.txt", context).strip() + "\n",
        html=render_to_string("emails/status.changed.html", context),
    )


def address(mail: Mail) -> outbox.Message:
    """The message with the link."""
    context = {"person": mail.recipient, "new": asked_in(mail), "days": LASTS.days}
    return outbox.Message(
        subject="[driftline] Is this your address?",
        text=render_to_string("emails/account.address.txt", context).strip() + "\n",
        html=render_to_string("emails/account.address.html", context),
    )


def refused(mail: Mail) -> outbox.Message:
    """What an agent tried on the runs of a lab in a day. Raises NothingToSay when it is gone."""
    since = datetime.fromisoformat(mail.data["day"]).replace(tzinfo=UTC)
    lines = RefusedReplacement.objects.filter(
        agent=mail.data["agent"],
        run__hardware__lab=mail.data["lab"],
        last_at__range=(since, since + timedelta(days=1)),
    ).select_related("run__hardware__lab", "run__revision__tree", "run__mode")
    found = list(lines.order_by("first_at", "pk"))
    if not found:
        raise outbox.NothingToSay("No such attempt is on record.")
    context = _context(found, Agent.objects.select_related("lab").get(pk=mail.data["agent"]))
    return outbox.Message(
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
        "runs": [
            (run, outbox.absolute(run.revision.get_absolute_url())) for run in runs[:RUNS_SHOWN]
        ],
        "more": max(len(runs) - RUNS_SHOWN, 0),
    }


def new_password(mail: Mail) -> outbox.Message:
    """The link to a new password. It is made when the mail is sent, for the password and the
    address of that moment. Raises NothingToSay when it would go to a former address.
    """
    person = mail.recipient
    if person.email != mail.data[outbox.OTHER_ADDRESS] or not person.has_usable_password():
        raise outbox.NothingToSay("The account has another address now, or no password.")
    named = {
        "uidb36": user_pk_to_url_str(person),
        "key": default_token_generator.make_token(person),
    }
    path = reverse("account_reset_password_from_key", kwargs=named)
    context = {"url": outbox.absolute(path), "hours": settings.PASSWORD_RESET_TIMEOUT // 3600}
    return _message(mail, "A new password", context)


def sign_in_changed(mail: Mail) -> outbox.Message:
    """What was changed about signing in."""
    context = {"what": mail.data["what"], "at": mail.due}
    context["url"] = outbox.absolute(reverse("account_reset_password"))
    return _message(mail, mail.data["what"], context)


def _message(mail: Mail, subject: str, context: dict[str, Any]) -> outbox.Message:
    context["person"] = mail.recipient
    return outbox.Message(
        subject=f"[driftline] {subject}",
        text=render_to_string(f"emails/{mail.kind}.txt", context).strip() + "\n",
        html=render_to_string(f"emails/{mail.kind}.html", context),
    )
