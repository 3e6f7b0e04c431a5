"""Nothing that is typed into an address or a form gives a 500, now or on a later page.

Every page is asked, and every form sent, with each hostile value in each of its parameters, the
others good, so that the value gets as far as it can. `make test` takes one value for each, the next
one each time (of a form, `make long`), `make faults` two or three, `make fuzz` all.
"""

import inspect
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

import pytest
from django.db import transaction
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode

from tests import make
from tests.addresses import every_address
from tests.alerts.steps import arrive, runs_of
from tests.bisects import lab as bisect_lab
from tests.bisects.lab import Truth
from tests.events.steps import canary, event
from tests.fuzzing import is_whole, portions
from tests.kept import kept
from webapp.accounts.models import SavedView, User
from webapp.accounts.services import save_view
from webapp.alerts.models import Alert
from webapp.analysis.queries import Side
from webapp.bisects.models import Bisect
from webapp.events.models import Canary, LabEvent
from webapp.experiments.models import Experiment
from webapp.experiments.services import keep_comparison
from webapp.jobs.models import Job
from webapp.labs.models import Lab
from webapp.merging.services import make_name_alias
from webapp.notifications.models import Subscription
from webapp.notifications.queries import Target
from webapp.outbox.models import Endpoint, Mail
from webapp.pages.urls import urlpatterns
from webapp.results.models import Hardware, NameAlias, Revision
from webapp.results.services import AliasNames

pytestmark = [pytest.mark.django_db, pytest.mark.fuzz]

HOSTILE = (
    *("0001-01-01", "0001-01-01T00:00:00", "9999-12-31T23:59:59", "9999-12-31T23:59:59-23:59"),
    *("0001-01-01T00:00:00+23:59", "2026-13-41", "23:59:60", "-1", "0", str(2**31), str(2**63)),
    *(str(2**63 - 1), "9" * 400, "9" * 5000, "1e999", "-1e999", "nan", "inf", "1e308", "5e-324"),
    *("0x10", "1_000", "\u0661\u0662", "\x00", "a\x00b", "\x01", "\ufffe", "\ufffd", "\u202e"),
    *("\U0001f4a5" * 300, "%", "%00", "'", '"', "\\", "<a href=//x>", "x" * 5000, "../..", ":"),
    *("~", "freebsd-head:r1000~~", "freebsd-head:r1000~%7E%3A%00"),
    *("::::", "a:b:c:d:e:f", "@", "+", "\r\nX: y", "{{7}}", "[", "(" * 300, "r" + "9" * 60),
)
EACH = pytest.mark.parametrize("step", portions(test=len(HOSTILE), release=23, fuzz=1))
"""Of `HOSTILE` one value in so many, beginning with the next one for each parameter."""
Form = Mapping[str, str]
Places = Mapping[str, Any]

TREND = {"tree": "freebsd-head", "metric": "pps", "hardware": "Atom/T540", "mode": "pf"} | {
    "x": "time", "y": "percent", "whiskers": "ci", "last": "50", "from": "r1000", "to": "r1016",
    "pin": "1:r1000", "range": "1,2", "a": "1@r1000", "b": "1@r1016", "split": "mode",
    "view": "r1000..r1016", "hide": "7", "sort": "change", "asof": "2026-01-01T00:00:00Z",
}  # fmt: skip
EVENT = {"kind": "hardware", "text": "a new NIC", "hardware": "Atom/T540", "lab": ""} | {
    "tree": "freebsd-head", "happened_at": "2026-01-02T10:00", "first": "", "last": "",
    "begins_epoch": "on",
}  # fmt: skip
ALIAS = {"lab": "netlab", "kind": "workload", "name": "pf", "means": "ipfw"} | {
    "tree": "freebsd-head", "first": "r1000", "last": "r1016", "directory": "fbsd*",
}  # fmt: skip
SIDES = {"a": "freebsd-head:r1000", "b": "freebsd-head:r1016"}
ASKED = {"flavour": "2015", "confidence": "99", "width": "60", "bars": "shared", "plot": "no"} | {
    "comparison": "no", "names": "no", "asof": "2026-01-01T00:00:00Z",
}  # fmt: skip
QUERIES: Mapping[str, Form] = {
    "audit": {"table": "results_run", "row": "1", "since": "2026-01-01", "before": "9"},
    "overview": {"show": "changed"},
    "hardware_list": {"show": "silent"},
    "commit": {"part": "runs"},
    "hardware": {"tree": "freebsd-head", "days": "30", "metric": "pps"},
    "knob": {"tree": "freebsd-head", "metric": "pps", "revision": "r1000"},
    "trends": TREND,
    "trends_chosen": TREND,
    "trends_figure": TREND,
    "trends_svg": TREND | {"theme": "dark", "width": "540"},
    "compare_svg": SIDES | {"theme": "dark", "width": "540", "asof": "2026-01-01T00:00:00Z"},
    "alert_svg": {"theme": "dark", "width": "540", "asof": "2026-01-01T00:00:00Z"},
    "bisect_svg": {"theme": "dark", "width": "540"},
    "badge": {"tree": "freebsd-head", "hardware": "Atom/T540", "mode": "pf", "theme": "dark"},
    "commits": {"before": "1010", "all": "1"},
    "alerts": {"state": "open", "tree": "freebsd-head", "hardware": "Atom/T540", "mode": "pf"}
    | {"metric": "pps", "verdict": "worse", "assignee": "ada", "before": "9", "done": "1.1"}
    | {"order": "loss", "from": "30", "chosen": "1"},
    "alert": {"asof": "2026-01-01T00:00:00Z", "show": "findings"},
    "alert_evidence": {"here": "?state=all"},
    "quality": {"tree": "freebsd-head", "days": "30"},
    "waiting_runs": {"page": "1"},
    "events": {"tree": "freebsd-head", "hardware": "Atom/T540", "before": "9"},
    "event_new": {"tree": "freebsd-head", "hardware": "Atom/T540"},
    "aliases": {"lab": "netlab", "before": "9"},
    "alias_new": ALIAS,
    "thresholds": {"tree": "freebsd-head", "hardware": "Atom/T540", "mode": "pf", "days": "30"},
    "thresholds_dry_run": {"scope": "tree:freebsd-head", "percent": "2.5", "days": "30"},
    "job_new": {"series": "SERIES", "revision": "r1000", "next": "/agents/"},
    "bisects": {"state": "all", "tree": "freebsd-head", "before": "9"},
    "bisect_new": {"tree": "freebsd-head", "hardware": "Atom/T540", "mode": "pf", "metric": "pps"}
    | {"beside": "1", "picked": "1"}
    | {"good": "r1000", "bad": "r1016", "effect": "-2", "boots": "40", "hours": "20"}
    | {"deadline": "2030-01-01T00:00", "manual": "1", "alert": "1"},
    "bisect": {"version": "1"},
    "compare": SIDES | ASKED | {"order": "mode", "all": "1", "change": ""},
    "compare_row": SIDES | ASKED,
    "compare_suggestions": {"part": "revision", "revision": "r10", "of": "freebsd-head"},
    "compare_text": SIDES | ASKED,
    "experiments": {
        "state": "draft",
        "tree": "freebsd-head",
        "hardware": "Atom/T540",
        "before": "9",
    },
    "experiment": ASKED,
    "experiment_markdown": ASKED,
    "experiment_text": ASKED,
    "experiment_zip": ASKED,
    "experiment_svg": {"theme": "dark", "width": "540"},
    "compare_markdown": SIDES | ASKED,
    "picked_releases": SIDES | {"change": ""},
    "releases": {"asof": "2026-01-01T00:00:00Z", "order": "mode", "all": "1"},
    "search": {"q": "r1000"},
    "search_suggestions": {"q": "r1000"},
    "outbox": {"state": "waiting", "to": "a@example.org", "before": "9"},
    "webhook": {"before": "9"},
    "account_login": {"next": "/alerts/"},
}
RUN = "6c8f5d0e-5d0b-5b53-9d8f-3c5a2f1f1d11"
TRIAGE = {"version": "1", "reason": "because", "revision": "r104", "until": "2026-12-31"} | {
    "until_revision": "", "of": "1", "to": "1", "at": "r104", "finding": "1",
}  # fmt: skip
SUBSCRIPTION = {"name": "mine", "severity": "2", "direction": "", "author": "ada"} | {
    "tree": "", "hardware": "", "mode": "", "metric": "", "mine": "", "cadence": "at_once",
}  # fmt: skip
HOOK = {"name": "chat", "url": "https://198.51.100.7/x", "kinds": "", "allow_private": ""}
ACCOUNT = {"email": "ada@example.org", "aliases": "Ada\nada@x.org", "time_zone": "UTC"} | {
    "quiet_from": "22:00", "quiet_until": "06:00", "theme": "", "digest_hour": "7",
}  # fmt: skip
FORMS: Mapping[str, list[Form]] = {
    "alerts_act": [TRIAGE | {"act": "acknowledge", "alert": "1:1"}],
    "alert_act": [
        TRIAGE | {"act": act}
        for act in (
            *("acknowledge", "snooze", "duplicate", "merge", "move", "split", "fixed", "expected"),
            *("reopen", "undo"),
        )
    ]
    + [TRIAGE | {"act": "snooze", "until": "", "until_revision": "r140"}],
    "saved_views": [{"name": "new ones", "address": "/alerts/?state=new"}],
    "saved_view_act": [{"act": act} for act in ("share", "keep", "delete")],
    "waiting_runs_act": [
        {"which": which, "choice": choice, "example": RUN, "run": RUN}
        for which, choice in (("directory", "kernel"), ("ticked", "r1000"), ("alike", "none"))
    ]
    + [{"act": "reopen", "run": RUN}],
    "commit_samples": [
        {"act": act, "run": RUN, "metric": "pps", "decision": "1"}
        for act in ("count", "leave_out", "undo")
    ],
    "event_new": [EVENT, EVENT | {"happened_at": "", "first": "r1000", "last": "r1016"}],
    "event": [EVENT],
    "event_withdraw": [{"reason": "why"}],
    "alias_new": [ALIAS | {"act": "preview"}, ALIAS | {"act": "make"}],
    "alias_undo": [{}],
    "canary_act": [{"act": "stop"}],
    "thresholds_set": [
        {"scope": "tree:freebsd-head", "percent": "2.5", "reason": "noise", "next": "/thresholds/"}
    ],
    "thresholds_undo": [{"change": "1", "next": "/thresholds/"}],
    "lab_quota": [{"runs": "1000000", "trees": "5000", "series": ""}],
    "job_request": [
        {"tree": "freebsd-head", "hardware": "Atom/T540", "mode": "pf", "metric": "pps"}
        | {"revision": "r1003", "boots": "5", "purpose": "more_runs", "reason": "why"}
    ],
    "job_act": [{"act": act, "priority": "5", "reason": "x"} for act in ("priority", "cancel")],
    "bisect_new": [{**QUERIES["bisect_new"], "manual": "1"}],
    "bisect_act": [
        {"act": act, "reason": "why", "version": "1", "revision": "r1003"}
        for act in ("skip", "exclude", "pin", "pause", "resume", "allow")
    ],
    "bisect_paste": [{"revision": "r1003", "values": "1000000 1000100\n# a note\n999000"}],
    "experiment_keep": [
        {"side": SIDES["a"], "asof": ASKED["asof"], "question": "why"},
    ],
    "experiment_act": [{"act": act, "text": "so"} for act in ("note", "conclude", "give up")],
    "account": [ACCOUNT],
    "account_password": [
        {"old_password": "x", "new_password1": "a long one 17", "new_password2": "a long one 17"}
    ],
    "subscriptions": [SUBSCRIPTION],
    "subscription": [SUBSCRIPTION],
    "hardware_subscribe": [{"act": "on"}, {"act": "off"}],
    "subscription_act": [{"act": "pause"}],
    "unsubscribe": [{"act": "off"}],
    "outbox_act": [{"act": "retry", "mail": "1", "state": "", "to": ""}],
    "webhooks": [HOOK, {**HOOK, "url": "mmost://198.51.100.7/key"}],
    "webhook": [HOOK],
    "webhook_act": [{"act": "retry", "delivery": "1"}, {"act": "disable"}],
    "account_login": [{"username": "ada", "password": "no", "next": "/alerts/"}],
    "account_reset_password": [{"email": "ada@example.org"}],
    "mfa_login_webauthn": [{"credential": "{}", "next": "/alerts/"}],
}
WATCHED = (
    *(
        "overview",
        "alerts",
        "thresholds",
        "agents",
        "labs",
        "status",
        "bisects",
        "subscriptions",
        "webhooks",
    ),
    *("events", "trends", "aliases", "status"),
)
UNTRIED = {
    "outbox_test": "mails at once, to any address; see tests/outbox/test_test_mail.py",
}


@kept
def an_instance() -> User:
    """An operator of an instance with an alert, a bisect, its jobs, a mail and a webhook."""
    bisect_lab.start(Truth())
    arrive(runs_of({("Atom/T540", "ipfw"): {15: 0.9}}))
    ada = make.user("operator", role="operator", email="ada@example.org")
    make.subscription(ada)
    Endpoint.objects.create(name="hook", url="https://198.51.100.7/hook")
    assert Alert.objects.exists()
    assert Job.objects.exists()
    event(hardware=Hardware.objects.get(name="Atom/T540"))
    canary(Revision.objects.all()[0])
    names = AliasNames(lab="netlab", kind="workload", name="ipfw", means="ipfw2")
    make_name_alias(names=names, by=ada)
    Mail.objects.create(recipient=ada, kind="test", about="nothing", due=make.DAY_ONE)
    sides = [Side.parse(side) for side in SIDES.values()]
    keep_comparison(sides=sides, asof=timezone.now(), owner=ada)
    save_view(owner=ada, name="silent", address="/hardware/?show=silent")
    return ada


@pytest.fixture
def client() -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(an_instance())
    return client


@pytest.fixture
def places(client: Client) -> Places:
    """What stands in the path of each address that names something."""
    alert, bisect, job = Alert.objects.get(), Bisect.objects.get(), Job.objects.all()[0]
    mail, hook, subscription = Mail.objects.all()[0], Endpoint.objects.get(), _subscription()
    of = dict.fromkeys(("alert", "alert_act", "alert_evidence", "alert_svg"), alert)
    of |= {"job": job, "job_act": job, "outbox_mail": mail}
    of |= dict.fromkeys(("webhook", "webhook_act"), hook)
    of |= dict.fromkeys(("bisect", "bisect_act", "bisect_paste", "bisect_svg"), bisect)
    of |= dict.fromkeys(("event", "event_withdraw"), LabEvent.objects.get())
    experiments = ("experiment_markdown", "experiment_text", "experiment_zip", "experiment_svg")
    comparison = Experiment.objects.get()
    of |= dict.fromkeys(("experiment", "experiment_act", *experiments), comparison)
    of |= {"alias_undo": NameAlias.objects.get(), "lab_quota": Lab.objects.all()[0]}
    of |= {"canary": Canary.objects.get(), "canary_act": Canary.objects.get()}
    of |= dict.fromkeys(("subscription", "subscription_act"), subscription)
    of |= {"saved_view_act": SavedView.objects.get()}
    return {name: [row.pk] for name, row in of.items()} | {
        "subscription_preview": [alert.pk],
        **{key: ["Atom/T540"] for key in ("hardware", "hardware_subscribe")},
        "knob": ["Atom/T540", "hw.cxgbe.nXxq"],
        "commits": ["freebsd-head"],
        "releases": ["freebsd-head:r1000...freebsd-head:r1016"],
        "commit": ["freebsd-head", "r1000"],
        "commit_samples": ["freebsd-head", "r1000"],
        "tree_feed": ["freebsd-head"],
        "hardware_feed": ["Atom/T540"],
        "subscription_feed": [subscription.feed_token],
        "unsubscribe": [Target(subscription=subscription.pk).token],
    }


def _subscription() -> Subscription:
    return Subscription.objects.get()


def hostile(forms: Iterable[tuple[str, Form]], step: int) -> Iterator[tuple[str, Form, str, Form]]:
    """Of each form its name, itself, and hostile values in each field: what is sent, and all."""
    fields = ((name, form, field) for name, form in forms for field in form)
    for number, (name, form, field) in enumerate(fields):
        for value in HOSTILE[number % step :: step]:
            yield name, form, f"{field}={value[:30]!r}", {**form, field: value}


@EACH
def test_no_query_breaks_a_page(client: Client, places: Places, step: int) -> None:
    broken = []
    for name, _, sent, query in hostile(QUERIES.items(), step):
        address = reverse(name, args=places.get(name, []))
        with undone():
            if client.get(f"{address}?{urlencode(query)}").status_code >= 500:
                broken.append(f"{name} {sent}")
    assert not broken


@pytest.mark.parametrize(
    "address",
    [
        "/trends/?hide={}",
        "/trends.svg?hide={}",
        "/compare/?a=freebsd-head:r1000±{}&b=freebsd-head:r1016±{}",
    ],
)
def test_a_number_of_thousands_of_digits_breaks_no_page(client: Client, address: str) -> None:
    assert client.get(address.replace("{}", "9" * 5000)).status_code < 500


@pytest.mark.long
def test_no_form_breaks_its_page_or_stores_what_breaks_another(
    client: Client, places: Places
) -> None:
    broken = []
    forms = [(name, form) for name, forms in FORMS.items() for form in forms]
    for name, good, sent, form in hostile(forms, 1 if is_whole() else len(HOSTILE)):
        with undone():
            answer = client.post(reverse(name, args=places.get(name, [])), form)
            if answer.status_code >= 500:
                broken.append(f"{name} {good.get('act', '')} {sent}")
            elif answer.status_code == 302:
                broken += [f"{name} {sent} → {page}" for page in _broken(client, answer)]
    assert not broken


@EACH
def test_no_name_in_a_path_breaks_a_page(client: Client, step: int) -> None:
    broken = []
    paths = [one.path for one in every_address() if not one.is_admin or is_whole()]
    parts = [(path, part) for path in paths for part in re.findall(r"/(x|1)(?=[/.])", path)]
    for number, (path, part) in enumerate(parts):
        for value in HOSTILE[number % step :: step]:
            written = f"/{quote(value[:1000], safe='')}"
            with undone():
                if client.get(re.sub(rf"/{part}(?=[/.])", written, path)).status_code >= 500:
                    broken.append(f"{path}: {value[:30]!r}")
    assert not broken


def test_every_page_that_reads_anything_is_tried() -> None:
    """A new page fails here until its parameters stand above, or the reason why it has none."""
    reading = {name for name, view in _views() if re.search(r"request\.(GET|POST)|Form\(", view)}
    assert reading - QUERIES.keys() - FORMS.keys() - UNTRIED.keys() == set()


def _views() -> Iterator[tuple[str, str]]:
    """Each page by name, with the source of its view."""
    for pattern in urlpatterns:
        view = inspect.unwrap(pattern.callback)
        yield str(pattern.name), inspect.getsource(view)


def _broken(client: Client, answer: HttpResponse) -> list[str]:
    pages = {answer["Location"], *(reverse(name) for name in WATCHED if is_whole())}
    return [page for page in pages if client.get(page, follow=True).status_code >= 500]


@contextmanager
def undone() -> Iterator[None]:
    """What is stored within is taken back, so that each value meets the same world."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)
