"""An instance with something on every page, and the way over links to each page."""

import re
from collections import defaultdict
from collections.abc import Mapping
from html import unescape
from urllib.parse import urldefrag, urljoin, urlsplit

from django.http import QueryDict
from django.test import Client
from django.urls import resolve
from django.utils import timezone

from tests import make
from tests.alerts.steps import arrive, runs_of
from tests.bisects import lab
from tests.events.steps import CALM, boots, canary, event, release
from tests.jobs.steps import request
from tests.kept import kept
from tests.profiles import boots_of, store
from tests.results.steps import analyse, apart, measured, mode, upload
from webapp.accounts.models import User
from webapp.accounts.services import save_view
from webapp.alerts.models import Alert
from webapp.analysis.queries import Side
from webapp.bisects.services import start_bisect
from webapp.experiments.services import keep_comparison
from webapp.notifications.mails.notices import ADDRESS_KIND, ask_address, asked_in
from webapp.notifications.queries import Target
from webapp.outbox.models import Endpoint, Mail
from webapp.results.models import NameAlias, Revision, Series
from webapp.results.services import AliasNames, add_alias

LINK = re.compile(r'(?:href|hx-get)="([^"#][^"]*)"')
NO_PAGE = re.compile(r"^/(?:admin|static)/|\.(?:svg|png|json|csv|txt|md|zip|folded)(?:\?|$)")
"""The admin's pages, and files: pictures take a third of a second each."""


@kept
def fill() -> User:
    """Something of every kind, a bisect that ended among it; the operator who reads it."""
    truth = lab.Truth(step_pct=-5.0)
    lab.measured_before(truth)
    places = {("Atom/T540", "forwarding"): {15: 1.2}, ("Xeon/T580", "pf"): {20: 0.9}}
    places |= {("Xeon/T580", "ipfw"): {20: 0.93}}
    documents = runs_of(places, first=5000)
    arrive(documents)
    analyse()
    for name, lookup in (("r5019", 300), ("r5020", 420)):
        its = (one for one in documents if one["revision"] == name)
        run = next(one for one in its if one["mode"]["workload"] == "pf")
        store(run["uuid"], boots_of(lookup=lookup))
    lab.work(truth, start_bisect(draft=lab.draft(truth), created_by=make.user("bob")))
    Revision.objects.update(subject='Don\'t "quote" <b>this</b> & that', author_name="O'Hara")
    machine, at = make.hardware("Atom/T540"), Revision.objects.order_by("position")[3]
    event("a <b>new</b> NIC", hardware=machine, tree=at.tree, first=at, last=at)
    watching = canary(at, hardware=machine)
    boots(watching, [*CALM, 80.0, 80.0])
    release("11.0 <beta>", at)
    release("11.1 <beta>", Revision.objects.get(name="r5020"))
    for value in (1, 2, 4):
        make.point(make.series(on=machine, in_mode=f"swept+queues={value}"), at)
    operator = make.user("ada", email="ada@example.org", role=User.Role.OPERATOR)
    make.subscription(operator, "losses <here>")
    save_view(owner=operator, name="new <here>", address="/alerts/?state=new")
    make.revisions(2, of=make.tree("stable"))
    sides = [Side("freebsd-head", lab.name(index)) for index in (0, truth.count)]
    keep_comparison(sides=sides, asof=timezone.now(), owner=operator)
    Endpoint.objects.create(name="ci <here>", url="https://ci.example.org/", created_by=operator)
    _for_people_to_decide(operator)
    for series in Series.objects.all():
        make.note(series)
    return operator


def _for_people_to_decide(operator: User) -> None:
    """Runs and samples in doubt, an alias, jobs, a dead mail, and a bisect that asks for boots."""
    doubt = {
        "label": "fbsd12-head.r303642",
        "label_revision": "r303642",
        "kernel_revision": "r309257",
    }
    warm = measured("r900", 1000, tree="people")
    warm["metrics"]["pps"]["validity"] = [{"sample": 4, "kind": "warm-up", "text": "5 % lower"}]
    unclear = measured("r303642", mode=mode("unclear"), evidence=doubt)
    beside = measured("r303642", mode=mode("beside"), evidence=doubt | {"label": "other.r303642"})
    upload(measured("r800", 1000, tree="people"), warm, unclear, beside)
    apart("r850", 1.2, 1.9, tree="people")
    analyse()
    alias = AliasNames("netlab", NameAlias.Kind.WORKLOAD, "fastforwarding", "forwarding")
    add_alias(names=alias, by=operator)
    request("r5001")
    now = timezone.now()
    ended = {"state": Mail.State.DEAD, "attempts": 3, "reason": "550 no", "ended_at": now}
    Mail.objects.create(recipient=operator, kind="alert.opened", about="alert:0", due=now, **ended)
    ask_address(user=operator, address="new@example.org")
    other = lab.Truth(hardware="Atom/T520", step_pct=-4.0)
    lab.measured_before(other)
    start_bisect(draft=lab.draft(other, manual=True), created_by=operator)


def corners(operator: User) -> list[str]:
    """Pages with forms that no link on the site leads to, or only one of many alike."""
    address = asked_in(Mail.objects.get(kind=ADDRESS_KIND))
    unsubscribe = Target(subscription=operator.subscriptions.get().pk).url
    return [
        *("/commits/people/r850/", "/commits/people/r900/", "/nothing/here/", "/sign-in/"),
        f"{Alert.objects.latest('pk').get_absolute_url()}?show=findings",
        *(urlsplit(one).path for one in (address.url, unsubscribe)),
    ]


def pages_from(reader: Client, *starts: str, of_each: int) -> dict[str, str]:
    """Each page that can be reached from ``starts``, ``of_each`` of every kind and all of these,
    as HTML.
    """
    seen, waiting = defaultdict(set), list(starts)
    pages: dict[str, str] = {}
    while waiting:
        address = waiting.pop(0)
        if address in pages:
            continue
        name = kind_of(address) if address not in starts else ""
        if address in seen[name] or (name and len(seen[name]) >= of_each):
            continue
        seen[name].add(address)
        answer = reader.get(address)
        if answer.headers.get("Content-Type", "").startswith("text/html"):
            pages[address] = answer.content.decode()
            found = (urljoin(address, unescape(one)) for one in LINK.findall(pages[address]))
            addresses = (urldefrag(one)[0] for one in found if one.startswith("/"))
            waiting += [one for one in addresses if not NO_PAGE.search(one)]
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
