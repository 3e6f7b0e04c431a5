"""What a visitor of the demonstration needs first: the account whose password everybody knows, and
addresses worth looking at.
"""

import ipaddress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit

from django import template
from django.conf import settings
from django.db.models import QuerySet
from django.urls import reverse

from webapp.accounts.models import User
from webapp.analysis.queries import READABLE, Side
from webapp.bisects.models import Bisect
from webapp.demo import published, simulated
from webapp.labs.models import Lab
from webapp.notifications.models import Subscription
from webapp.notifications.services import save_subscription
from webapp.results.models import Revision

NAME = "demo"
PASSWORD = "driftline-demo"  # noqa: S105 (published on purpose, see ensure_account)
ADDRESS = "demo@example.org"


def ensure_account(public_url: str) -> str:
    """Make the account unless it is there, and return the line to print about it.

    Only where pages are served to this machine alone: anywhere else a known password would hand
    the instance to strangers. An account whose password was changed is left alone. A new one is
    subscribed to everything, so that the mails of the demonstration go to it.
    """
    account = User.objects.filter(username=NAME).first()
    if account is None and not is_local(public_url):
        return (
            f"no demonstration account, because others can reach {public_url}: "
            f"make your own with `{settings.COMMANDS}python manage.py createsuperuser`"
        )
    if account is None:
        account = User.objects.create_superuser(NAME, email=ADDRESS, password=PASSWORD)
        save_subscription(subscription=Subscription(user=account, name="everything"))
    if not account.check_password(PASSWORD):
        return f"demonstration account: {NAME}, with the password that it was given since"
    return f"demonstration account: {NAME}, password {PASSWORD}"


def is_local(url: str) -> bool:
    """Whether only this machine can follow `url`."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


register = template.Library()


@dataclass(frozen=True, slots=True)
class SeedComparison:
    """One published ministat block as a comparison: `sides` of the compare page, the first is the
    base, and `query` what follows the question mark of its address."""

    block: int
    title: str
    label: str
    sides: tuple[str, ...]

    @property
    def query(self) -> str:
        """`a=…&b=…`, encoded."""
        names = ["a", *("b" for _ in self.sides[1:])]
        return urlencode(list(zip(names, self.sides, strict=True)), safe=READABLE)

    @property
    def url(self) -> str:
        """The compare page of the block."""
        return f"{reverse('compare')}?{self.query}"


@dataclass(frozen=True, slots=True)
class DemonstrationLink:
    """A published document and the comparisons that reproduce it."""

    title: str
    comparisons: tuple[SeedComparison, ...]


def _comparison(publication: published.Publication, block: published.Block) -> SeedComparison:
    sides = [
        Side(
            publication.tree, row.revision, publication.machine.name, row.mode, variant=row.variant
        )
        for row in block.rows
    ]
    return SeedComparison(
        block=block.number,
        title=publication.title,
        label=_label(block),
        sides=tuple(str(side) for side in sides),
    )


def _label(block: published.Block) -> str:
    """What the block is about: its traffic or workload, or how many modes it compares."""
    whats = {row.pktgen or row.cfg for row in block.rows}
    return whats.pop() if len(whats) == 1 else f"{len(block.rows)} modes"


LINKS = tuple(
    DemonstrationLink(
        publication.title, tuple(_comparison(publication, block) for block in publication.blocks)
    )
    for publication in published.PUBLICATIONS
)
SEED_COMPARISONS = tuple(comparison for link in LINKS for comparison in link.comparisons)


def demonstration_links() -> tuple[DemonstrationLink, ...]:
    """The published comparisons, or nothing where the demonstration is not loaded (one query)."""
    loaded = Lab.objects.filter(name=published.LAB, hardware__runs__isnull=False).exists()
    return LINKS if loaded else ()


@register.simple_tag
def demonstration() -> dict[str, Any]:
    """What templates show of the demonstration: its ``links``, the ``planted`` commits, the
    simulated ``bisect``, and whether its mails stay in a ``mailbox``.

    All but the last are functions, so that only a page that shows them asks the database.
    """
    return {
        "links": demonstration_links,
        "planted": planted_commits,
        "bisect": simulated_bisect,
        "mailbox": settings.MAILBOX is not None,
    }


def planted_commits() -> QuerySet[Revision]:
    """The commits of the simulated lab whose subject names what was planted, in their order."""
    return (
        Revision.objects.filter(tree__name=simulated.TREE, subject__startswith=simulated.PLANTED)
        .select_related("tree")
        .order_by("position")
    )


def simulated_bisect() -> Bisect | None:
    """The first bisect in the tree whose jobs simulated agents answer (one query)."""
    found = Bisect.objects.with_subjects().filter(series__tree__name=simulated.BISECT_TREE)
    return found.order_by("pk").first()
