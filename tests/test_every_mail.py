"""Each kind of mail, composed from real content, reads as approved, without trace of its templates.

A new kind fails here until ``KINDS`` has how one comes about.
"""

import re
from collections.abc import Callable, Mapping
from datetime import timedelta

import pytest
from django.conf import settings
from django.utils import timezone

from tests import make
from tests.alerts.steps import arrive, runs_of
from tests.alerts.test_one_build import PF_SLOWER, run, the_pair, times
from tests.approved import Approvals, read_mail
from tests.bisects import lab
from tests.remains import remains, remains_in_html
from tests.results.steps import analyse, measured, upload
from webapp.alerts.models import Alert, AlertEvent, AlertFinding
from webapp.alerts.queries.findings import findings_of
from webapp.analysis.models import Finding
from webapp.bisects.services import draft_bisect, start_bisect
from webapp.notifications.mails.notices import ask_address, ask_new_password, notify_of_change
from webapp.notifications.models import Problem
from webapp.notifications.services import post_digests
from webapp.outbox.messages import compose
from webapp.outbox.models import Mail
from webapp.results.documents import Forbidden
from webapp.results.models import Revision
from webapp.results.services import forget_names

pytestmark = pytest.mark.django_db
AWKWARD = 'Don\'t "quote" <b>this</b> & that'


@pytest.fixture(autouse=True)
def names_forgotten() -> None:
    forget_names()


def opened() -> Mail:
    """A loss on two machines, at a commit whose subject is awkward to print."""
    make.subscription(name=AWKWARD)
    arrive(runs_of({("Atom/T540", "pf"): {15: 0.88}, ("Xeon/T580", "pf"): {}}))
    Revision.objects.update(subject=AWKWARD, author_name="O'Hara <o@example.org>")
    return Mail.objects.get(kind="alert.opened")


def following(kind: str) -> Mail:
    first = opened()
    now = timezone.now()
    Mail.objects.update(state="sent", composed_at=now - timedelta(hours=1))
    return Mail.objects.create(
        recipient=first.recipient,
        kind=kind,
        about=first.about,
        data={**first.data, "at": now.isoformat()},
        due=now,
    )


def confirmed() -> Mail:
    """One build a side, and then another that agrees."""
    make.subscription(name=AWKWARD)
    arrive(the_pair())
    Revision.objects.update(subject=AWKWARD, author_name="O'Hara <o@example.org>")
    assert not remains(compose(Mail.objects.get(kind="alert.opened")).text)
    Mail.objects.update(state="sent", composed_at=timezone.now() - timedelta(hours=1))
    arrive([run(303643, times(PF_SLOWER, 1.01), build=1)])
    return Mail.objects.get(kind="alert.confirmed")


def moved() -> Mail:
    mail = following("alert.moved")
    alert = Alert.objects.get()
    AlertEvent.objects.create(
        alert=alert, at=timezone.now(), kind="moved", version=2, reason="from r113 to r115"
    )
    return mail


def recovered() -> Mail:
    mail = following("alert.recovered")
    Finding.objects.update(state="recovered", recovered_by=make.revision("r129"))
    return mail


def retracted() -> Mail:
    mail = following("alert.retracted")
    held = list(AlertFinding.objects.values_list("finding", flat=True))
    AlertFinding.objects.all().delete()
    Finding.objects.update(state=Finding.State.RETRACTED)
    Alert.objects.update(is_active=False, state="resolved", resolution="retracted")
    AlertEvent.objects.create(
        alert=Alert.objects.get(), at=timezone.now(), kind="left", version=2, findings=held
    )
    return mail


def digest(cadence: str) -> Mail:
    first = opened()
    make.subscription(first.recipient, "a digest", cadence=cadence)
    post_digests(now=timezone.now() + timedelta(days=8))
    return Mail.objects.filter(kind=f"digest.{cadence}").latest("pk")


def bisected() -> Mail:
    """That of a bisect of an alert, which ended with one commit."""
    truth = lab.Truth(step_pct=-5.0)
    lab.measured_before(truth)
    analyse()
    Revision.objects.update(subject=AWKWARD)
    alert = Alert.objects.get()
    worst = findings_of([alert]).with_subjects()[0]
    draft = draft_bisect(
        series=worst.series,
        good=alert.after,
        bad=alert.revision,
        effect_pct=worst.change_pct or 0,
        alert=alert,
    )
    lab.work(truth, start_bisect(draft=draft, created_by=make.user(email="ada@example.org")))
    return Mail.objects.get(kind="bisect.done")


def address() -> Mail:
    ask_address(user=make.user("O'Hara"), address="o'hara@example.org")
    return Mail.objects.get(kind="account.address")


def new_password() -> Mail:
    ask_new_password(user=make.user("O'Hara", email="o'hara@example.org"))
    return Mail.objects.get(kind="account.password")


def account_changed() -> Mail:
    user = make.user("O'Hara", email="o'hara@example.org")
    notify_of_change(user=user, what="A key was added to your account.")
    return Mail.objects.get(kind="account.changed")


def refused() -> Mail:
    """That of an agent which tried to replace another lab's run."""
    make.user("O'Hara", role="operator", email="ohara@example.org")
    document = measured("r20")
    upload(document)
    theirs = measured("r20", 0.5, uuid=document["uuid"], hardware="evil/nic")
    with pytest.raises(Forbidden):
        upload(theirs, lab="evil", replace=True)
    return Mail.objects.get(kind="lab.refused")


def changed() -> Mail:
    """A disk that is nearly full, and results that arrive again."""
    Problem.objects.create(name="Disk", since=timezone.now())
    wrong = [["Disk", "1.2 of 80 GB free where /srv/driftline lies", "Free space there."]]
    return Mail.objects.create(
        recipient=make.user("op", role="operator", email="op@lab.example"),
        kind="status.changed",
        about="status:1",
        data={"wrong": wrong, "right": ["Results"]},
        due=timezone.now(),
    )


KINDS: Mapping[str, Callable[[], Mail]] = {
    "alert.opened": opened,
    "alert.confirmed": confirmed,
    "alert.moved": moved,
    "alert.recovered": recovered,
    "alert.returned": lambda: following("alert.returned"),
    "alert.retracted": retracted,
    "digest.daily": lambda: digest("daily"),
    "digest.weekly": lambda: digest("weekly"),
    "bisect.done": bisected,
    "account.address": address,
    "account.password": new_password,
    "account.changed": account_changed,
    "lab.refused": refused,
    "status.changed": changed,
}


def test_every_kind_of_mail_is_tried_here() -> None:
    assert settings.MAIL_COMPOSERS.keys() == KINDS.keys()


@pytest.mark.parametrize("kind", KINDS)
def test_a_mail_reads_as_approved_and_shows_nothing_that_its_template_left(
    approved: Approvals, kind: str
) -> None:
    message = compose(KINDS[kind]())
    assert remains(message.subject) == []
    assert remains(message.text) == []
    assert remains_in_html(message.html) == []
    approved(f"mails/{kind}", read_mail(message.subject, message.text, message.html))
    if kind in ("bisect.done", "alert.opened"):
        line = next(line for line in message.text.splitlines() if "N           Min" in line)
        assert line in message.html
        assert "Difference at 95.0% confidence" in message.html


def test_no_template_prints_a_variable_that_django_itself_sets() -> None:
    """Inside ``{% block %}`` the name ``block`` is Django's: it would print the node."""
    folder = settings.BASE_DIR / "webapp" / "templates"
    wrong = [
        f"{path.name}: {found}"
        for path in folder.rglob("*.*")
        for found in re.findall(r"\{[{%][^}]*\bblock\b(?!\.super)[^}]*\}", path.read_text())
        if not re.match(r"\{%\s*(end)?block\b", found) and not re.search(r"\.block\b", found)
    ]
    assert wrong == []
