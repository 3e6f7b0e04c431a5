"""A machine is written one way wherever people read: by its display name.

Its identifier stands where people copy or type it: in code, fields, addresses and exports.
"""

import re
from collections.abc import Iterator
from html.parser import HTMLParser

import pytest
from django.db.models import CharField, F, Value
from django.db.models.functions import Concat
from django.test import Client

from tests import make
from tests.approved import ALONE
from tests.whole_site import corners, fill, linked_from, pages_from
from webapp.accounts.models import User
from webapp.alerts.models import Alert
from webapp.notifications.mails.alerts import preview
from webapp.results.models import Hardware

pytestmark = pytest.mark.django_db

COPIED = {"code", "pre", "kbd", "script", "style", "template", "textarea", "datalist"}
"""What stands in these is copied, typed or never shown."""

SPOKEN = ("aria-label", "alt")
MARKED_UP = {"text/html", "image/svg+xml", "application/atom+xml"}
PLAIN = {"text/markdown", "text/plain"}
"""What people read; other files are exports."""

EXPORT = re.compile(r"\.(?:png|json|csv|zip|folded)(?:\?|$)")
"""Of these a picture is drawn, or a file packed, that is not read here."""

NO_PAGE = "/nothing/here/"
MACHINES = "a=freebsd-head:r1000:Atom/T540:pf:pps&b=freebsd-head:r1000:Atom/T520:pf:pps"
RANGES = "a=freebsd-head:r995..r1008:Atom/T540:pf:pps&b=freebsd-head:r1009..r1016:Atom/T540:pf:pps"
UNLINKED = (
    *("/search/?q=t540", "/search/?q=pf+atom", "/badge.svg?hardware=Atom/T540"),
    *(f"/compare{end}?{sides}" for end in ("/", ".md", ".txt") for sides in (MACHINES, RANGES)),
)
"""What people open by what they type."""

ADDRESS = re.compile(r"https?://\S+|\]\([^)]*\)")


class Shown(HTMLParser):
    """The text of each element that readers are shown or a screen reader speaks."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.copied: list[str] = []
        self.texts: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.texts += [value for name, value in attrs if name in SPOKEN and value]
        if tag not in ALONE and (self.copied or tag in COPIED):
            self.copied.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self.copied and tag not in ALONE:
            self.copied.pop()

    def handle_data(self, data: str) -> None:
        if not self.copied:
            self.texts.append(" ".join(data.split()))


def test_no_reader_is_shown_the_identifier_of_a_machine_that_has_a_display_name() -> None:
    operator = fill()
    Hardware.objects.update(display_name=Concat(Value("Bench "), F("pk"), output_field=CharField()))
    reader = Client()
    reader.force_login(operator)
    texts = [*read_by(reader, operator), *mails()]
    names = "|".join(re.escape(name) for name in Hardware.objects.values_list("name", flat=True))
    printed = re.compile(f".{{0,40}}(?:{names}).{{0,40}}")
    wrong = {f"{at}: {found[0]}" for at, text in texts if (found := printed.search(text))}
    assert "\n".join(sorted(wrong)) == ""
    assert any("Bench " in text for _, text in texts)


def read_by(reader: Client, operator: User) -> Iterator[tuple[str, str]]:
    """Each text of the pages, and of the parts, pictures, reports and feeds that they lead to."""
    alerts = [alert.get_absolute_url() for alert in Alert.objects.all()]
    starts = [one for one in corners(operator) if one != NO_PAGE]
    pages = pages_from(reader, "/", *starts, *alerts, of_each=2)
    for address, html in pages.items():
        yield from ((address, ADDRESS.sub("", text)) for text in Shown(html).texts)
    linked = [one for one in linked_from(pages) if one not in pages and not EXPORT.search(one)]
    for address in (*UNLINKED, *linked):
        answer = reader.get(address)
        assert answer.status_code == 200 or address not in UNLINKED, answer.content
        kind = answer.headers.get("Content-Type", "").partition(";")[0]
        if kind in MARKED_UP or kind in PLAIN:
            content = answer.content.decode()
            found = Shown(content).texts if kind in MARKED_UP else content.splitlines()
            yield from ((address, ADDRESS.sub("", text)) for text in found)


def mails() -> Iterator[tuple[str, str]]:
    """Each text of the mail about each alert."""
    subscription = make.subscription(make.user("reads-mail", email="reads@example.org"))
    for alert in Alert.objects.filter(is_active=True):
        mail = preview(alert, subscription)
        for text in (mail.subject, *mail.text.splitlines(), *Shown(mail.html).texts):
            yield f"the mail about alert {alert.pk}", ADDRESS.sub("", text)
