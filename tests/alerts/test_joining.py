"""Of two alerts of what is one commit nothing that people wrote or wait for is lost."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from tests import make
from tests.alerts.steps import arrive, log, revision_of, runs_of
from tests.kept import kept
from tests.results.steps import analyse
from webapp.accounts.models import User
from webapp.alerts import services as alerts
from webapp.alerts.models import Alert
from webapp.merging.services import merge_revisions
from webapp.outbox.models import Mail
from webapp.results.models import Revision

pytestmark = pytest.mark.django_db
ATOM, XEON = "Atom/T540", "Xeon/T580"


@pytest.fixture
def ada() -> User:
    return make.user("ada")


@pytest.fixture
@kept
def pair() -> tuple[Alert, Alert]:
    """Alerts at r115 and r117, which turn out to be one commit."""
    runs = runs_of({(ATOM, "pf"): {15: 0.9}, (XEON, "pf"): {17: 0.9}})
    absent = {(ATOM, 116), (XEON, 115)}
    arrive([run for run in runs if (run["hardware"], revision_of(run)) not in absent])
    first, second = Alert.objects.order_by("revision__position")
    return first, second


def seen(alert: Alert, actor: User) -> dict[str, Any]:
    alert.refresh_from_db()
    return {"alert": alert.pk, "actor": actor, "version": alert.version}


def join() -> Alert:
    names = {row.name: row for row in Revision.objects.filter(name__in=["r115", "r117"])}
    merge_revisions(source=names["r115"], into=names["r117"])
    analyse()
    return Alert.objects.get(revision__name="r117")


def third(beside: Alert, **fields: Any) -> Alert:
    """An alert of a later commit of the same tree."""
    return Alert.objects.create(
        tree=beside.tree,
        revision=Revision.objects.get(name="r120"),
        after=Revision.objects.get(name="r119"),
        likeliest=Revision.objects.get(name="r120"),
        verdict="regression",
        opened_at=beside.opened_at,
        updated_at=beside.opened_at,
        **fields,
    )


def test_what_a_person_noted_of_one_holds_for_both(pair: tuple[Alert, Alert], ada: User) -> None:
    alerts.investigate(**seen(pair[0], ada))
    alert = join()
    assert (alert.pk, alert.state, alert.triaged) == (pair[1].pk, "investigating", True)


def test_what_waits_goes_on_waiting(pair: tuple[Alert, Alert], ada: User) -> None:
    alerts.resolve(**seen(pair[1], ada), resolution="not real")
    alert = join()
    assert (alert.state, alert.resolution, alert.triaged) == ("new", "", False)


def test_a_duplicate_of_the_other_is_as_open_as_that_was(
    pair: tuple[Alert, Alert], ada: User
) -> None:
    alerts.mark_duplicate(**seen(pair[1], ada), of=pair[0].pk)
    alert = join()
    assert (alert.state, alert.duplicate_of, alert.is_active) == ("new", None, True)


def test_two_that_were_closed_stay_closed(pair: tuple[Alert, Alert], ada: User) -> None:
    alerts.resolve(**seen(pair[0], ada), resolution="expected")
    alerts.resolve(**seen(pair[1], ada), resolution="not real")
    alert = join()
    assert (alert.state, alert.resolution) == ("resolved", "not real")


def test_one_that_findings_were_merged_away_from_stands_as_the_other_did(
    pair: tuple[Alert, Alert], ada: User
) -> None:
    alerts.merge(**seen(pair[1], ada), into=pair[0].pk)
    alerts.acknowledge(**seen(pair[0], ada))
    alert = join()
    assert (alert.state, alert.is_active, "standing" in log(alert)) == ("acknowledged", True, False)


@pytest.mark.parametrize("of_one_build", [0, 1])
def test_builds_that_confirm_one_confirm_both(pair: tuple[Alert, Alert], of_one_build: int) -> None:
    Alert.objects.filter(pk=pair[of_one_build].pk).update(one_build=True)
    source, into = Revision.objects.filter(name__in=["r115", "r117"]).order_by("position")
    merge_revisions(source=source, into=into)
    assert not Alert.objects.get(revision=into).one_build


def test_it_was_opened_when_the_first_of_the_two_was(pair: tuple[Alert, Alert], ada: User) -> None:
    early = pair[0].opened_at - timedelta(days=3)
    Alert.objects.filter(pk=pair[0].pk).update(opened_at=early)
    assert join().opened_at == early


def test_an_undo_restores_a_duplicate_of_the_one_that_stays(
    pair: tuple[Alert, Alert], ada: User
) -> None:
    other = third(pair[0], is_active=False)
    alerts.mark_duplicate(**seen(other, ada), of=pair[0].pk)
    alerts.reopen(**seen(other, ada))
    kept = join()
    alerts.undo(**seen(other, ada))
    other.refresh_from_db()
    assert (other.resolution, other.duplicate_of) == ("duplicate", kept)


def test_an_undo_restores_the_revision_that_stays(pair: tuple[Alert, Alert], ada: User) -> None:
    by = make.revision("r140")
    alerts.resolve(**seen(pair[0], ada), resolution="fixed", revision=by)
    alerts.reopen(**seen(pair[0], ada))
    into = make.revision("r141")
    merge_revisions(source=by, into=into)
    alerts.undo(**seen(pair[0], ada))
    pair[0].refresh_from_db()
    assert (pair[0].resolution, pair[0].resolution_revision) == ("fixed", into)


def test_the_number_of_the_one_that_went_names_the_other_in_acts(
    pair: tuple[Alert, Alert], ada: User
) -> None:
    other = third(pair[0])
    kept = join()
    alerts.reopen(**seen(other, ada))
    alerts.mark_duplicate(**seen(other, ada), of=pair[0].pk)
    other.refresh_from_db()
    assert other.duplicate_of == kept
    with pytest.raises(alerts.TriageError, match="no other alert"):
        alerts.mark_duplicate(**seen(kept, ada), of=pair[0].pk)
    with pytest.raises(alerts.TriageError, match="no other alert"):
        alerts.merge(**seen(kept, ada), into=pair[0].pk)


def test_a_page_of_the_one_that_went_acts_on_nothing(
    pair: tuple[Alert, Alert], client: Client, ada: User
) -> None:
    kept = join()
    client.force_login(make.user("grace", role="triager"))
    form = {"act": "acknowledge", "version": kept.version}
    answer = client.post(f"/alerts/{pair[0].pk}/act/", form, follow=True)
    kept.refresh_from_db()
    assert kept.state == "new"
    assert "look again" in answer.content.decode()


def test_a_link_of_a_mail_leads_on_with_its_moment(
    pair: tuple[Alert, Alert], client: Client
) -> None:
    kept = join()
    answer = client.get(f"/alerts/{pair[0].pk}/?asof=2026-01-02T03:04:05Z")
    assert answer["Location"] == f"/alerts/{kept.pk}/?asof=2026-01-02T03:04:05Z"


@pytest.mark.parametrize("dropped", [False, True])
def test_who_was_notified_of_one_is_not_notified_of_the_other(
    pair: tuple[Alert, Alert], dropped: bool
) -> None:
    Mail.objects.all().delete()
    subscription = make.subscription()
    mails = {"recipient": subscription.user, "kind": "alert.opened", "due": timezone.now()}
    data = {"subscription": subscription.pk, "alert": pair[0].pk}
    Mail.objects.create(**mails, about=f"alert:{pair[0].pk}", data=data)
    if dropped:
        ended = {"state": "dropped", "ended_at": timezone.now()}
        Mail.objects.create(**mails, about=f"alert:{pair[1].pk}", **ended)
    kept = join()
    mail = Mail.objects.get()
    assert (mail.about, mail.data) == (f"alert:{kept.pk}", data | {"alert": kept.pk})
