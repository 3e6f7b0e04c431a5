"""Alerts that four processes and a person write at the same moment."""

import time
from concurrent.futures import Future, ThreadPoolExecutor

import pytest
from django.db import connection, transaction
from django.utils import timezone

from tests import make
from tests.alerts.steps import open_alerts, revision_of, runs_of
from tests.alerts.test_four_workers import four_workers
from tests.results.steps import an_agent, upload
from tests.servers import LOCKS
from webapp.accounts.models import User
from webapp.alerts import services as alerts
from webapp.alerts.models import Alert, AlertHold
from webapp.alerts.services.triage import AlertChanged
from webapp.analysis.models import Finding
from webapp.analysis.services import mark_for_analysis
from webapp.results.models import Series
from webapp.results.services import forget_names

pytestmark = pytest.mark.django_db(transaction=True)
ROUNDS = 6
PLACES = {
    (hardware, f"load{i}"): {15: 0.9} for hardware in ("Atom/T540", "Xeon/T580") for i in range(6)
}


def wait_until_analysed() -> None:
    end = time.monotonic() + 60
    while Series.objects.dirty().exists():
        assert time.monotonic() < end, "the workers do not get done"
        time.sleep(0.02)


@pytest.mark.long
def test_one_commit_gets_one_alert_that_loses_no_finding() -> None:
    forget_names()
    an_agent()
    documents = runs_of(PLACES, count=24)
    upload(*[one for one in documents if revision_of(one) < 115])
    with four_workers():
        for revision in range(115, 124):
            upload(*[one for one in documents if revision_of(one) == revision])
        wait_until_analysed()
        everything = sorted(f"{hardware} {load} worse" for hardware, load in PLACES)
        assert open_alerts() == [("r115", "regression", "new", everything)]
        assert Alert.objects.count() == 1
        actor = User.objects.create_user("ada")
        acted = 0
        for _ in range(ROUNDS):
            mark_for_analysis(Series.objects.values_list("pk", flat=True))
            acted += _act_once(actor)
            wait_until_analysed()
    assert acted == ROUNDS
    assert Alert.objects.get().events.filter(actor=actor).count() == ROUNDS
    assert Finding.objects.filter(membership__alert=Alert.objects.get()).count() == len(PLACES)


def _act_once(actor: User) -> int:
    """A person acts while the workers do; one that comes too late looks again."""
    for _ in range(100):
        alert = Alert.objects.get()
        act = alerts.investigate if alert.state == "acknowledged" else alerts.acknowledge
        try:
            act(alert=alert.pk, actor=actor, version=alert.version)
        except AlertChanged:
            continue
        return 1
    return 0


def test_a_hold_that_begins_while_somebody_resolves_its_alert_waits_and_begins_ended() -> None:
    series, (after, last) = make.series(), [make.revision(name) for name in ("r100", "r105")]
    alert = make.alert(last, after=after)
    actor = make.user()

    def begin() -> str:
        try:
            with transaction.atomic():
                hold = alerts.begin_hold(
                    alert=alert.pk,
                    series=series,
                    after=after,
                    last=last,
                    is_loss=True,
                    now=timezone.now(),
                )
            return hold.reason
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as thread:
        with transaction.atomic():
            alerts.resolve(alert=alert.pk, actor=actor, version=1, resolution="expected")
            begun = thread.submit(begin)
            _wait_for_somebody_at_the_tree(begun)
        assert begun.result() == AlertHold.Reason.RESOLVED


def _wait_for_somebody_at_the_tree(begun: "Future[str]") -> None:
    end = time.monotonic() + 10
    while True:
        assert not begun.done(), "it did not wait"
        assert time.monotonic() < end, "nobody waits"
        with connection.cursor() as cursor:
            cursor.execute(f"{LOCKS} WHERE locktype = 'advisory' AND NOT granted")
            if cursor.fetchone():
                return
        time.sleep(0.01)
