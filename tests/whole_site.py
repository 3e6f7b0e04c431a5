"""An instance with something on every page, and the way over links to each page."""

import re
from collections import defaultdict
from collections.abc import Mapping
from html import unescape
from urllib.parse import urldefrag, urljoin

from django.http import QueryDict
from django.test import Client
from django.urls import resolve
from django.utils import timezone

from tests import make
from tests.alerts.steps import arrive, runs_of
from tests.bisects import lab
from tests.events.steps import CALM, boots, canary, event, release
from tests.results.steps import analyse
from webapp.accounts.models import User
from webapp.analysis.queries import Side
from webapp.bisects.services import start_bisect
from webapp.experiments.services import keep_comparison
from webapp.outbox.models import Endpoint
from webapp.results.models import Revision
from webapp.results.services import forget_names

LINK = re.compile(r'(?:href|hx-get)="([^"#][^"]*)"')


def fill() -> User:
    """Something of every kind, a bisect that ended among it; the operator who reads it."""
    forget_names()
    truth = lab.Truth(step_pct=-5.0)
    lab.measured_before(truth)
    places = {("Atom/T540", "forwarding"): {15: 1.2}, ("Xeon/T580", "pf"): {20: 0.9}}
    arrive(runs_of(places, first=5000))
    analyse()
    lab.work(truth, start_bisect(draft=lab.draft(truth), created_by=make.user("bob")))
    Revision.objects.update(subject='Don\'t "quote" <b>this</b> & that', author_name="O'Hara")
    machine, at = make.hardware("Atom/T540"), Revision.objects.order_by("position")[3]
    event("a <b>new</b> NIC", hardware=machine, tree=at.tree, first=at, last=at)
    watching = canary(at, hardware=machine)
    boots(watching, [*CALM, 80.0, 80.0])
    release("11.0 <beta>", at)
    for value in (1, 2, 4):
        make.point(make.series(on=machine, in_mode=f"swept+queues={value}"), at)
    operator = make.user("ada", email="ada@example.org", role=User.Role.OPERATOR)
    make.subscription(operator, "losses <here>")
    make.revisions(2, of=make.tree("stable"))
    sides = [Side("freebsd-head", lab.name(index)) for index in (0, truth.count)]
    keep_comparison(sides=sides, asof=timezone.now(), owner=operator)
    Endpoint.objects.create(name="ci <here>", url="https://ci.example.org/", created_by=operator)
    return operator


def pages_from(reader: Client, start: str, *, of_each: int) -> dict[str, str]:
    """Each page that can be reached from ``start``, ``of_each`` of every kind, as HTML."""
    seen, waiting = defaultdict(set), [start]
    pages: dict[str, str] = {}
    while waiting:
        address = waiting.pop(0)
        name = kind_of(address)
        if address in seen[name] or len(seen[name]) >= of_each or name.startswith("admin:"):
            continue
        seen[name].add(address)
        answer = reader.get(address)
        if answer.headers.get("Content-Type", "").startswith("text/html"):
            pages[address] = answer.content.decode()
            found = (urljoin(address, unescape(one)) for one in LINK.findall(pages[address]))
            waiting += [
                urldefrag(one)[0]
                for one in found
                if one.startswith("/") and not one.startswith("/static/")
            ]
    return pages


def linked_from(pages: Mapping[str, str]) -> list[str]:
    """The addresses that ``pages`` lead to or fetch parts from, one of each view and each set of
    parameters; the admin's and files left out.
    """
    found: dict[tuple[str, frozenset[str]], str] = {}
    for page, html in pages.items():
        for text in [page, *LINK.findall(html)]:
            address = urldefrag(urljoin(page, unescape(text)))[0]
            if address.startswith("/") and not address.startswith(("/static/", "/admin/")):
                parameters = frozenset(QueryDict(address.partition("?")[2]))
                found.setdefault((kind_of(address), parameters), address)
    return list(found.values())


def kind_of(address: str) -> str:
    """The name of the view that answers for an address."""
    return resolve(address.partition("?")[0]).view_name
