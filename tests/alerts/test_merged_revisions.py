"""Merging revisions keeps what was concluded and noted about them."""

import pytest
from django.test import Client

from tests import make
from tests.alerts.steps import Place, Steps, arrive, log, revision_of, runs_of, series_of
from tests.results.steps import analyse
from webapp.alerts import services as alerts
from webapp.alerts.models import Alert, AlertEvent
from webapp.analysis.models import Finding
from webapp.merging.services import merge_revisions
from webapp.results.models import Revision
from webapp.results.services import forget_names

pytestmark = pytest.mark.django_db
ATOM, XEON = "Atom/T540", "Xeon/T580"
PF: dict[Place, Steps] = {(ATOM, "pf"): {15: 0.9}}


@pytest.fixture(autouse=True)
def names_forgotten() -> None:
    forget_names()


def merge(source: str, into: str) -> None:
    merge_revisions(source=Revision.objects.get(name=source), into=Revision.objects.get(name=into))
    analyse()


def test_an_alert_keeps_its_number_its_state_and_its_log_when_its_revision_is_merged() -> None:
    arrive([run for run in runs_of(PF) if revision_of(run) != 116])
    alert = Alert.objects.get()
    alerts.acknowledge(alert=alert.pk, actor=make.user(), version=alert.version, reason="mine")
    finding = Finding.objects.get()
    make.revision("r116")
    Alert.objects.update(named=alert.revision, named_probability=0.99)
    merge("r115", "r116")
    alert.refresh_from_db()
    assert alert.named == alert.revision
    finding.refresh_from_db()
    assert (alert.revision.name, alert.state, alert.is_active) == ("r116", "acknowledged", True)
    assert (finding.state, finding.revision.name, finding.membership.alert) == (
        "confirmed",
        "r116",
        alert,
    )
    assert log(alert)[:4] == ["opened", "joined", "acknowledged", "moved"]
    assert finding.events.exists()


def test_two_alerts_of_what_is_one_commit_become_one_with_both_logs() -> None:
    runs = runs_of({(ATOM, "pf"): {15: 0.9}, (XEON, "pf"): {17: 0.9}})
    absent = {(ATOM, 116), (XEON, 115)}
    arrive([run for run in runs if (run["hardware"], revision_of(run)) not in absent])
    first, second = Alert.objects.order_by("revision__position")
    assert (first.revision.name, second.revision.name) == ("r115", "r117")
    alerts.acknowledge(alert=first.pk, actor=make.user(), version=first.version, reason="mine")
    merge("r115", "r117")
    alert = Alert.objects.get()
    assert alert.pk == second.pk
    assert series_of(alert) == [f"{ATOM} pf worse", f"{XEON} pf worse"]
    assert AlertEvent.objects.filter(alert=alert, reason="mine").exists()
    joined = AlertEvent.objects.filter(alert=alert, kind="joined", reason__contains="one commit")
    assert [Alert.objects.numbered(n).get() for n in (first.pk, second.pk)] == [alert, alert]
    assert not Alert.objects.numbered(second.pk + 1).exists()
    page = Client().get(f"/alerts/{first.pk}/", follow=True)
    assert page.redirect_chain == [(f"/alerts/{second.pk}/", 302)]
    assert f"Alert {first.pk} is part of this one" in page.content.decode()
    assert Client().get(f"/api/v1/alerts/{first.pk}").json()["number"] == second.pk
    moved = Finding.objects.get(membership__alert=alert, series__hardware__name=ATOM)
    assert joined.get().findings == [moved.pk]


def test_a_change_between_the_two_is_gone_and_the_log_of_its_alert_stays() -> None:
    arrive(runs_of(PF, count=18))
    alert = Alert.objects.get()
    finding = Finding.objects.get()
    assert (finding.previous.name, finding.revision.name) == ("r114", "r115")
    merge("r115", "r114")
    alert.refresh_from_db()
    assert "opened" in log(alert)
    assert not Finding.objects.filter(pk=finding.pk).exists()
