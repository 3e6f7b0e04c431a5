"""Every form of the site does what it promises, sent as a browser sends what the page holds.

The browser reads each page and gives the fields that it would send for each button. Whoever adds a
form finds it here without a promise, and a button that no page shows any more fails as well. The
pages that follow are searched for forms in turn, so that what can be undone is undone.
"""

import fnmatch
import glob
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from typing import Any, NamedTuple
from urllib.parse import urlencode, urljoin

import pytest
from django.apps import apps
from django.db import connection, transaction
from django.http import QueryDict
from django.test import Client
from django.test.signals import template_rendered
from playwright.sync_api import Browser, Page

from tests import make
from tests.bisects import lab
from tests.experiments.steps import imported, of_directory
from tests.pages.conftest import words
from tests.places import PROJECT
from tests.test_every_address import OPEN, RIGHTS, SECRET, may
from tests.whole_site import corners, fill, kind_of, pages_from
from webapp.accounts.models import User

pytestmark = [pytest.mark.browser, pytest.mark.django_db]
DEEP = 5
"""How many forms are pressed one after the other, each on the page that followed the one before."""

FORMS = """html => {
  const page = new DOMParser().parseFromString(html, "text/html");
  const label = one => one.name ? `${one.name}=${one.value}` : (one.value || one.textContent);
  const plain = text => text.trim().replace(/\\s+/g, " ");
  return [...page.forms].flatMap(form => {
    const controls = [...form.elements];
    const buttons = controls.filter(one => one.type === "submit" && !one.disabled);
    const typed = controls.some(one => /^(text|email|search|number)$/.test(one.type));
    return (buttons.length ? buttons : [null]).map(button => ({
      method: form.method,
      action: form.getAttribute("action") ?? "",
      button: button ? plain(label(button)) : "",
      fields: [...new FormData(form, button)].map(([name, value]) => [name, String(value)]),
      hidden: [...new Set(controls.filter(one => one.type === "hidden").map(one => one.name))]
        .filter(name => !["csrfmiddlewaretoken", "version", "next"].includes(name)).sort(),
      boxes: controls.filter(one => one.type === "checkbox" && !one.checked)
        .map(one => [one.name, one.value]),
      on_enter: typed && buttons.length > 1 ? plain(label(buttons[0])) : "",
    }));
  });
}"""
TABLE = "SELECT '{0}', md5(string_agg(md5(t::text), '' ORDER BY md5(t::text))) FROM {0} AS t"
WRITES = "SELECT relname, n_tup_ins + n_tup_upd + n_tup_del FROM pg_stat_xact_user_tables"
"""How many rows the transaction wrote, those of what was rolled back among them."""


class Promise(NamedTuple):
    """What the page that follows ``shows``; which tables have changed by then. ``typed``: what a
    person enters before; nothing unless a field is required.
    """

    shows: str
    changes: str = ""
    typed: Mapping[str, str] = {}
    ticked: bool = False

    def fits(self, changed: Collection[str]) -> bool:
        """Whether exactly the tables that it names have ``changed``."""
        named = self.changes.split()
        return all(fnmatch.filter(changed, one) for one in named) and all(
            any(fnmatchcase(table, one) for one in named) for table in changed
        )


class Press(NamedTuple):
    """A button of a form on the page at ``address``, and what it sends where."""

    address: str
    target: str
    method: str
    button: str
    fields: Sequence[tuple[str, str]]
    hidden: Sequence[str]
    boxes: Sequence[tuple[str, str]]
    on_enter: str

    @property
    def short(self) -> str:
        """``alert_act act=acknowledge``: the view and the button."""
        return f"{kind_of(self.target)} {self.button}".strip()

    @property
    def key(self) -> str:
        """With what the form names in hidden fields: ``alerts_act act=acknowledge (alert)``."""
        return f"{self.short} ({', '.join(self.hidden)})" if self.hidden else self.short


AUDIT = "accounts_auditentry"
REASON = {"reason": "because"}
NEW = ("new_password1", "new_password2")
HOOK = "https://8.8.8.8/hook"
ALERT, BISECT = "alerts_alert alerts_alertevent", "bisects_bisect bisects_bisectact"
MEMBERS = f"{ALERT} alerts_alertfinding alerts_assignment"
STARTED = "bisects_* jobs_job jobs_jobevent"
BISECTED = {
    "tree": "freebsd-head",
    "hardware": lab.HARDWARE,
    "mode": lab.MODE,
    "metric": "pps",
    "good": "r1000",
    "bad": "r1016",
    "effect": "-5",
}
MOVED = {"text": "moved", "hardware": "Atom/T540", "happened_at": "2026-01-02T10:00"}
SUBSCRIPTION = "notifications_subscription"
POOLED = "results_point results_series"
SAMPLES = f"{POOLED} results_measurement results_sampledecision"
WAITING = "results_run results_waitingrun"
FILED = f"{WAITING} results_hourlyruns"
PLACED = "results_placeproposal results_revision results_revisionalias"
KEPT = "experiments_cell experiments_experiment experiments_experimentevent experiments_side"
OF_A_SERIES = "alerts_mineffectchange analysis_seriessettings"
OF_A_TREE = f"{ALERT} alerts_alertfinding alerts_mineffect alerts_mineffectchange"
HARMLESS = ("", "act=", "act=preview", "act=undo")
"""What Enter in a field may press, where a form has several buttons."""

BY_HAND = {
    f"pages/account/{name}.html"
    for name in (
        *("sign_in_code", "sign_in_again", "new_password", "_key_form"),
        *("factor_app", "factor_codes", "factor_key"),
    )
}
"""Behind a password, a code or a mail, which tests/browser/test_signing_in.py gives."""

TEMPLATES = PROJECT / "webapp" / "templates"
BUTTON = re.compile(r"<button\b[^>]*>")
PROMISES: Mapping[str, Promise | Sequence[Promise]] = {
    # Lists and what narrows them
    "search": Promise("Search"),
    "search Search": Promise("Search"),
    "alerts Show": Promise("3 new alerts"),
    "trends Show": Promise("r5020"),
    "profile_functions Show the marked": Promise("cost over revisions"),
    "profile_diff Show the difference": Promise("r5020 against r5019"),
    "bisects Show": Promise("Bisects"),
    "experiments Show": Promise("Reports"),
    "experiment Show": Promise("ministat"),
    "events Show": Promise("Events of the labs"),
    "quality Show": Promise("how good the alerts are"),
    "aliases Show": Promise("Names that stand for others"),
    "thresholds Show": Promise("Alert thresholds"),
    "outbox Show": Promise("Outbox"),
    "audit Show": Promise("Audit log"),
    "hardware Filter": Promise("Atom"),
    "commits Filter": Promise("Commits of"),
    "compare Print": Promise("ministat"),
    "compare Compare (pick)": (
        Promise("name the option to compare with", typed={"option": ""}),
        Promise("queues", typed={"option": "queues=2"}),
    ),
    "picked_releases Compare": (
        Promise("known are freebsd-head:11.0 <beta>", typed={"a": "11.0 <beta>", "b": "12.0"}),
        Promise("11.1 <beta> against 11.0 <beta>", typed={"a": "11.0 <beta>", "b": "11.1 <beta>"}),
    ),
    "thresholds_dry_run Dry run": (
        Promise("scope: nothing is called “”"),
        Promise(
            "20 % for tree freebsd-head", typed={"scope": "tree:freebsd-head", "percent": "20"}
        ),
    ),
    # Who reads
    "account_logout Sign out": Promise("Sign in"),
    "mfa_login_webauthn Sign in with a passkey": Promise("This field is required."),
    "account_login Sign in": (
        Promise("This field is required."),
        Promise("ada", "accounts_user", {"username": "ada", "password": "a long password"}),
    ),
    "account Save": Promise("Saved."),
    "account_password Change": (
        Promise("This field is required."),
        Promise(
            "changed",
            "accounts_user outbox_mail",
            {"old_password": "a long password"} | dict.fromkeys(NEW, "another long one"),
        ),
    ),
    "account_address Send them there": Promise("Done: mails to ada", "accounts_user outbox_mail"),
    "saved_views Save this view (address)": (
        Promise("The view was not saved. Name: give one"),
        Promise("Saved as “mine”.", "accounts_savedview", {"name": "mine"}),
    ),
    "saved_view_act act=share": Promise("Stop sharing", "accounts_savedview"),
    "saved_view_act act=keep": Promise("Share", "accounts_savedview"),
    "saved_view_act act=delete": Promise("Saved views", "accounts_savedview"),
    # Mails
    "unsubscribe act=off": Promise("Done. It can be undone here", SUBSCRIPTION),
    "unsubscribe act=on": Promise("Done.", SUBSCRIPTION),
    "hardware_subscribe act=on": Promise("You are mailed of every change", SUBSCRIPTION),
    "hardware_subscribe act=off": Promise("No more mails about this machine", SUBSCRIPTION),
    "subscription_act act=off": Promise("Switch on", SUBSCRIPTION),
    "subscription_act act=on": Promise("Switch off", SUBSCRIPTION),
    "subscription_act act=delete": Promise("Subscriptions", SUBSCRIPTION),
    "subscription Save": Promise("Saved.", SUBSCRIPTION),
    "subscriptions Subscribe": (
        Promise("This field is required."),
        Promise("Subscribed.", SUBSCRIPTION, {"name": "mine"}),
    ),
    "outbox_act act=": Promise("Choose one mail or more."),
    "outbox_act act=retry": (
        Promise("Choose one mail or more."),
        Promise("Sent again: 1.", "outbox_mail", ticked=True),
    ),
    "outbox_act act=drop": (
        Promise("Choose one mail or more."),
        Promise("Dropped: ", "outbox_mail", ticked=True),
    ),
    "outbox_act act=retry-all": Promise("Sent again: 1.", "outbox_mail"),
    "outbox_test Send a test mail": Promise("The test mail to ada@example.org left."),
    "webhooks Add": (
        Promise("A name of 1 to 100 characters is needed."),
        Promise("which is shown this once", "outbox_endpoint", {"name": "new", "url": HOOK}),
    ),
    "webhook Save": Promise("Saved.", "outbox_endpoint", {"url": HOOK}),
    "webhook_act act=": Promise("ci <here>"),
    "webhook_act act=ping": Promise("is on its way", "outbox_hookdelivery"),
    "webhook_act act=disable": Promise(
        "It hears of nothing", "outbox_endpoint outbox_hookdelivery"
    ),
    "webhook_act act=enable": Promise("It hears of events from now on.", "outbox_endpoint"),
    "webhook_act act=delete": Promise("is deleted.", "outbox_endpoint outbox_hookdelivery"),
    "webhook_act act=renew-secret": Promise("which is shown this once", "outbox_endpoint"),
    "webhook_act act=retry": Promise("Sent again: 0."),
    # Alerts
    "alerts_act act=": Promise("Choose one alert or more."),
    "alerts_act act=snooze": (
        Promise("Choose one alert or more."),
        Promise("Give a day", ticked=True),
        Promise("snoozed", ALERT, {"until_revision": "r99999"}, ticked=True),
    ),
    "alerts_act act=*": (
        Promise("Choose one alert or more."),
        Promise("Undo", ALERT, ticked=True),
    ),
    "alerts_act act= (alert)": Promise("Choose what to do."),
    "alerts_act act=acknowledge (alert)": Promise("Alert 3 acknowledged", ALERT),
    "alerts_act act=expected (alert)": Promise("Alert 3 resolved", ALERT),
    "alerts_act act=not-real (alert)": Promise("Alert 3 resolved", ALERT),
    "alerts_act act=snooze-week (alert)": Promise("Alert 3 snoozed", ALERT),
    "alerts_act act=undo (alert)": Promise("Alerts 3, 2, 1 new", ALERT),
    "alert_act act=": Promise("Choose what to do."),
    "alert_act act=acknowledge": Promise("is acknowledged.", ALERT),
    "alert_act act=undo": Promise("is new.", ALERT),
    "alert_act act=expected": Promise("is resolved.", ALERT),
    "alert_act act=not-real": Promise("is resolved.", ALERT),
    "alert_act act=wont-fix": Promise("is resolved.", ALERT),
    "alert_act act=investigate": Promise("is investigating.", ALERT),
    "alert_act act=snooze-week": Promise("is snoozed.", ALERT),
    "alert_act act=snooze": (
        Promise("Give a day"),
        Promise("is snoozed.", ALERT, {"until_revision": "r99999"}),
    ),
    "alert_act act=fixed": (
        Promise("No revision “” is known"),
        Promise("is resolved.", ALERT, {"revision": "r5029"}),
    ),
    "alert_act act=backed-out": (
        Promise("No revision “” is known"),
        Promise("is resolved.", ALERT, {"revision": "r5029"}),
    ),
    "alert_act act=duplicate": (
        Promise("Duplicate of: name the other alert"),
        Promise("is resolved.", ALERT, {"of": "1"}),
    ),
    "alert_act act=move": (
        Promise("Move to: name the other alert"),
        Promise("Choose findings that alert 3 holds.", typed={"to": "1"}),
        Promise("is resolved.", MEMBERS, {"to": "1"}, ticked=True),
    ),
    "alert_act act=split": Promise("Choose findings that alert 3 holds."),
    "alert_act act=merge": (
        Promise("Merge into: name the other alert"),
        Promise("is resolved.", MEMBERS, {"of": "1"}),
    ),
    "alert_act act=reopen": Promise("is reopened.", ALERT),
    # Jobs and bisects
    "job_request *": Promise("Queued: job", "jobs_job jobs_jobevent"),
    "job_act act=": Promise("Choose what to do."),
    "job_act act=cancel": (
        Promise("Reason: say why the job is cancelled."),
        Promise("cancelled", "jobs_job jobs_jobevent", REASON),
    ),
    "job_act act=priority": (
        Promise("Job"),
        Promise("priority", "jobs_job jobs_jobevent", {"priority": "7"}),
    ),
    "job_act act=retry": Promise("queued", "jobs_job jobs_jobevent"),
    "bisect_new Show the forecast": (
        Promise("Start a bisect"),
        Promise("Forecast About", typed=BISECTED),
    ),
    "bisect_new Start the bisect*": Promise("Which of the 16 commits", STARTED),
    "bisect_act act=": Promise("Choose what to do."),
    "bisect_act act=pause": Promise("paused by", BISECT, REASON),
    "bisect_act act=resume": Promise("resume", "bisects_*", REASON),
    "bisect_act act=cancel": Promise("cancelled", BISECT, REASON),
    "bisect_act act=*": (
        Promise("Reason: give one"),
        Promise("Revision: name one from r1000 to r1016.", typed=REASON),
        Promise("because", "bisects_*", REASON | {"revision": "r1004"}),
    ),
    "bisect_paste Take in": (
        Promise("Nothing was pasted"),
        Promise("1 boot taken in.", "bisects_*", {"revision": "r1000", "values": "1000000"}),
    ),
    # What a commit's runs mean
    "commit_runs act=together": Promise(
        "The runs count together.", f"{POOLED} results_poolingdecision"
    ),
    "commit_runs act=undo": Promise("Undone:", f"{POOLED} results_poolingdecision"),
    "commit_samples act=count": Promise("The marked samples count.", SAMPLES),
    "commit_samples act=leave_out": Promise(
        "The marked samples are left out.", "results_sampledecision"
    ),
    "commit_samples act=leave_out (decision, metric, run)": Promise("are left out.", SAMPLES),
    "commit_samples act=undo": Promise("Undone:", SAMPLES),
    "waiting_runs_act choice=kernel": Promise("2 runs filed by the kernel.", FILED),
    "waiting_runs_act choice=r309257": Promise("1 run filed: r309257.", FILED),
    "waiting_runs_act choice=r303642": Promise("1 run filed: r303642.", f"{PLACED} {FILED}"),
    "waiting_runs_act choice=none": Promise("1 run left out.", WAITING),
    "waiting_runs_act act=reopen": Promise("1 run waits again.", FILED),
    # Experiments, events, canaries
    "experiment_keep Keep as report": Promise("Conclude", KEPT),
    "experiment_act act=margin": Promise("Set margin"),
    "experiment_act act=baseline": Promise("Compare with it"),
    "experiment_act act=combine (sibling)": Promise("X + X.D1", KEPT),
    "experiment_act act=*": (
        Promise("Choose what to do, and write a text."),
        Promise("because", "experiments_experiment*", {"text": "because"}),
    ),
    "event_new Record": (
        Promise("This field is required."),
        Promise("Recorded", "events_labevent", MOVED),
    ),
    "event Save": Promise("Saved.", "events_labevent"),
    "event_withdraw Withdraw": (
        Promise("reason: say why it is withdrawn"),
        Promise("Withdrawn.", "events_labevent", REASON),
    ),
    "canary_act act=stop": Promise("Stopped.", "events_canary"),
    "canary_act act=start": Promise("Started.", "events_canary"),
    # What operators set
    "alias_undo Take back": Promise("Taken back:", "results_namealias"),
    "alias_new act=preview": (
        Promise("This field is required."),
        Promise("Make it", typed={"name": "unclear", "means": "forwarding"}),
    ),
    "alias_new act=make": Promise("1 stored run was filed so", "results_*"),
    "lab_quota Set": (
        Promise("Quota of netlab: default runs a day"),
        Promise("7 runs a day", "labs_labquota", {"runs": "7"}),
    ),
    "thresholds_set Set 2 %": Promise("not set, now 2 %", OF_A_SERIES),
    "thresholds_set Set 20 %": Promise("not set, now 20 %", OF_A_TREE),
    "thresholds_undo Undo": Promise("20 %, now not set", OF_A_TREE),
}


UNKNOWN = Promise("a promise of the new form: add it to PROMISES")


def promises_of(press: Press) -> Sequence[Promise]:
    keys = (press.key, press.short)
    found = next((PROMISES[key] for key in keys if key in PROMISES), None)
    found = found or next(
        (one for name, one in PROMISES.items() if fnmatchcase(press.short, name)), ()
    )
    return [found] if isinstance(found, Promise) else found


class Visitor:
    """Somebody who presses each button once, and what went wrong."""

    def __init__(self, page: Page, user: User | None, corners: Sequence[str]) -> None:
        self.page, self.user, self.corners = page, user, corners
        self.signed_in = Client()
        if user is not None:
            self.signed_in.force_login(user)
        self.digests = Digests()
        self.pressed: dict[str, Press] = {}
        self.wrong: list[str] = []

    def client(self) -> Client:
        client = Client()
        client.cookies.load(self.signed_in.cookies.output(header="", sep=";"))
        return client

    def pages(self, of_each: int = 1) -> Mapping[str, str]:
        """What links lead to from the front page and from the `corners`, by its address."""
        return pages_from(self.client(), "/", *self.corners, of_each=of_each)

    def press_all(self, address: str, html: str, depth: int = 1) -> None:
        """Whatever the page holds that was not pressed before, each undone afterwards."""
        for press in self.find(address, html):
            for promise in self.promises(press):
                with self.digests.undone():
                    self.press(press, promise, depth)

    def find(self, address: str, html: str) -> Iterator[Press]:
        """The buttons of the page that were not found before."""
        for form in self.page.evaluate(FORMS, html):
            target = urljoin(address, form.pop("action") or address).partition("#")[0]
            press = Press(address=address, target=target, **form)
            if press.on_enter not in HARMLESS:
                self.wrong.append(f"{press.key}: Enter in a field presses {press.on_enter}")
            if press.key not in self.pressed:
                self.pressed[press.key] = press
                yield press

    def promises(self, press: Press) -> Sequence[Promise]:
        if self.user is None and press.method == "post":
            needed = RIGHTS[kind_of(press.target)]
            if needed not in (OPEN, SECRET):
                return [Promise("Sign in")]
        return promises_of(press) or [UNKNOWN]

    def press(self, press: Press, promise: Promise, depth: int) -> None:
        client, before = self.client(), self.digests()
        answer = send(client, press, promise)
        changed = {name for name, digest in self.digests().items() if digest != before[name]}
        html = answer.content.decode()
        is_logged = AUDIT in changed
        changed.discard(AUDIT)
        if self.user and changed and not is_logged:
            self.wrong.append(f"{press.key} changed {sorted(changed)} without an entry in the log")
        if promise.shows not in words(html) or not promise.fits(changed):
            found = f"changed {sorted(changed)}, answered {answer.status_code} {answers_on(html)}"
            self.wrong.append(f"{press.key} on {press.address} {found}; expected {promise}")
        if press.method == "post" and self.user and self.user.role == User.Role.OPERATOR:
            again = send(client, press, promise).status_code
            if again not in (200, 400):
                self.wrong.append(f"{press.key}, pressed twice: {again}")
        if depth < DEEP and answer.headers["Content-Type"].startswith("text/html"):
            self.press_all(answer.request["PATH_INFO"], html, depth + 1)


def send(client: Client, press: Press, promise: Promise) -> Any:
    """The form with what a person typed and ticked, and the page that follows."""
    fields = [(name, promise.typed.get(name, value)) for name, value in press.fields]
    if promise.ticked:
        fields += press.boxes
    sent = QueryDict(urlencode([one for one in fields if one[0] != "csrfmiddlewaretoken"]))
    if press.method == "get":
        return client.get(press.target.partition("?")[0], sent, follow=True)
    return client.post(press.target, dict(sent.lists()), follow=True)


def answers_on(html: str) -> list[str]:
    """What the page answers who pressed."""
    messages = re.finditer(
        r'(?s)<(\w+)[^>]* (?:role="(?:status|alert)"|class="errorlist).*?</\1>', html
    )
    return [words(one[0]) for one in messages]


class Digests:
    """What each table holds, as a digest; those that nothing was written to are not read again."""

    def __init__(self) -> None:
        models = apps.get_models(include_auto_created=True)
        self._names = {model._meta.db_table for model in models} - {"django_session"}
        self._writes: Mapping[str, int] = {}
        self._digests: Mapping[str, str] = {}

    def __call__(self) -> Mapping[str, str]:
        writes = self._count()
        old = {name for name in self._digests if writes[name] == self._writes[name]}
        if stale := sorted(self._names - old):
            with connection.cursor() as cursor:
                cursor.execute(" UNION ALL ".join(TABLE.format(name) for name in stale))
                self._digests = {**self._digests, **dict(cursor.fetchall())}
        self._writes = writes
        return self._digests

    @contextmanager
    def undone(self) -> Iterator[None]:
        """What is written inside is rolled back."""
        before = self()
        with transaction.atomic():
            yield
            transaction.set_rollback(True)
        self._digests, self._writes = before, self._count()

    def _count(self) -> Mapping[str, int]:
        with connection.cursor() as cursor:
            cursor.execute(WRITES)
            return dict(cursor.fetchall())


def templates_with_forms() -> set[str]:
    """Of the pages; the admin has tests of its own."""
    found = [path for path in TEMPLATES.glob("pages/**/*.html") if "<form" in path.read_text()]
    return {str(path.relative_to(TEMPLATES)) for path in found}


def buttons_of_templates() -> set[str]:
    """``name=value`` of the buttons whose name and value stand in a template."""
    texts = [path.read_text() for path in TEMPLATES.glob("pages/**/*.html")]
    tags = [" ".join(tag.split()) for text in texts for tag in BUTTON.findall(text)]
    found = [re.search(r'name="(\w+)" value="([^{"]*)"', tag) for tag in tags]
    return {f"{one[1]}={one[2]}" for one in found if one}


@pytest.fixture
def reading(browser: Browser) -> Iterator[Page]:
    """A page of its own, which reads what the tests give it and asks no server."""
    page = browser.new_page()
    yield page
    page.close()


def test_every_form_does_what_it_promises(reading: Page) -> None:
    """Pressed by an operator, who is shown nearly all; what others are shown is found."""
    used: set[str] = set()
    template_rendered.connect(note := lambda template, **_: used.add(template.name))
    operator, *others = visitors(reading)
    for address, html in operator.pages(of_each=2).items():
        operator.press_all(address, html)
    for visitor in others:
        for address, html in visitor.pages().items():
            visitor.wrong += [
                f"{press.key}: {UNKNOWN.shows}"
                for press in visitor.find(address, html)
                if not promises_of(press)
            ]
    template_rendered.disconnect(note)
    everybody = [operator, *others]
    wrong = [f"{one.user}: {line}" for one in everybody for line in one.wrong]
    pressed = [press for one in everybody for press in one.pressed.values()]
    wrong += [
        f"no page has the form of {one}" for one in sorted(templates_with_forms() - used - BY_HAND)
    ]
    shown = {press.button for press in pressed}
    wrong += [f"no page has the button {one}" for one in sorted(buttons_of_templates() - shown)]
    keys = {key for press in pressed for key in (press.key, press.short)}
    gone = [
        one for one in PROMISES if not fnmatch.filter(keys, glob.escape(one).replace("[*]", "*"))
    ]
    wrong += [f"no form keeps the promise {one}" for one in gone]
    assert not wrong, "\n".join(wrong)

    for number, visitor in enumerate(others, start=1):
        for other in everybody[:number]:
            assert refused_to(visitor, other) == []


@pytest.mark.long
def test_every_form_keeps_its_promise_to_triagers_and_strangers(reading: Page) -> None:
    for visitor in visitors(reading)[1:]:
        for address, html in visitor.pages().items():
            visitor.press_all(address, html)
        assert not visitor.wrong, "\n".join(visitor.wrong)


def visitors(reading: Page) -> list[Visitor]:
    """An operator, a triager and a stranger before an instance with something on every page."""
    operator = fill()
    triager = make.user("tess", email="tess@example.org", role=User.Role.TRIAGER)
    make.subscription(triager, "losses")
    beside = imported(runs=of_directory("X", "tx", "", "r1003"), source="bench/nic/tx/X")
    imported(runs=of_directory("X.D1", "tx", "D1", "r1003"), source="bench/nic/tx/X.D1")
    corner = [*corners(operator), beside.get_absolute_url()]
    return [Visitor(reading, user, corner) for user in (operator, triager, None)]


def refused_to(visitor: Visitor, other: Visitor) -> list[str]:
    """What ``visitor`` sent of what only the ``other`` is shown, and was not refused."""
    right = visitor.user.role if visitor.user else "stranger"
    found = []
    for key in other.pressed.keys() - visitor.pressed.keys():
        press = other.pressed[key]
        needed = RIGHTS[kind_of(press.target)]
        if press.method != "post" or may(
            right, needed if isinstance(needed, str) else needed[1], public=True
        ):
            continue
        client, before = visitor.client(), visitor.digests()
        answer = client.post(press.target, dict(press.fields))
        if answer.status_code != (403 if visitor.user else 302) or visitor.digests() != before:
            found.append(key)
    return found
