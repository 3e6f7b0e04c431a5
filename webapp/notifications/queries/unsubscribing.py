"""Signed addresses that stop mails without signing in: who has the mail has the right."""

from dataclasses import dataclass
from typing import Self

from django.core.signing import BadSignature, Signer
from django.db.models import Q, QuerySet
from django.urls import reverse

from webapp.notifications.models import Subscription
from webapp.outbox.services import absolute

_signer = Signer(salt="driftline.unsubscribe")


class BadToken(ValueError):
    """The address was cut or made up; the message says what to do instead."""


@dataclass(frozen=True, slots=True)
class Target:
    """What a token stops: one subscription, or all of a person's of one cadence."""

    subscription: int = 0
    user: int = 0
    cadence: str = ""

    @classmethod
    def read(cls, token: str) -> Self:
        """Raises BadToken. A token does not run out: mails are kept for years."""
        try:
            one, user, cadence = _signer.unsign(token.replace("~", ":")).split(".")
        except (BadSignature, ValueError) as error:
            raise BadToken(
                "This address is not complete. Copy it whole, or sign in and switch the "
                "subscription off on its page."
            ) from error
        return cls(int(one), int(user), cadence)

    @property
    def token(self) -> str:
        """The signed text for the link; ``read`` reads it."""
        signed = _signer.sign(f"{self.subscription}.{self.user}.{self.cadence}")
        # A colon is allowed in a path, but some mail programs end the link there.
        return signed.replace(":", "~")

    @property
    def url(self) -> str:
        """The absolute link that stops the mails."""
        return absolute(reverse("unsubscribe", args=[self.token]))

    def subscriptions(self) -> QuerySet[Subscription]:
        """Those that it stops, as far as they still exist."""
        by_cadence = Q(user=self.user, cadence=self.cadence)
        return Subscription.objects.filter(
            Q(pk=self.subscription) if self.subscription else by_cadence
        )
