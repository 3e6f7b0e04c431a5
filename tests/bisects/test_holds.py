"""While a bisect measures boot by boot, its alert neither closes nor opens a second time."""

from datetime import timedelta

import pytest
from django.utils import timezone

from tests import make
from tests.bisects import lab
from tests.bisects.lab import Truth
from tests.kept import kept
from tests.results.steps import analyse
from webapp.accounts.models import User
from webapp.alerts.models import Alert, AlertHold
from webapp.alerts.queries.dry_runs import dry_run
from webapp.alerts.queries.findings import findings_of
from webapp.alerts.queries.min_effects import Scope
from webapp.alerts.services import merge, reconcile_trees, reopen, resolve, undo
from webapp.analysis.models import Finding
from webapp.bisects.models import Bisect
from webapp.bisects.services import act_on_bisect, advance_bisect, draft_bisect, start_bisect
from webapp.outbox.models import Mail

pytestmark = pytest.mark.django_db
TRUTH = Truth(step_pct=-5.0)


def started() -> Bisect:
    """Of a loss of 5 % that any of 16 commits may have made; ada was mailed about its alert."""
    reader = make.user("ada", email="ada@example.org")
    make.subscription(reader)
    lab.measured_before(TRUTH)
    analyse()
    Mail.objects.update(state=Mail.State.SENT)
    return _bisect(Alert.objects.get(), reader)


@pytest.fixture
@kept
def bisect() -> Bisect:
    return started()


@pytest.fixture
@kept
def reproduced() -> Bisect:
    return lab.work(TRUTH, started())


def _bisect(alert: Alert, by: User) -> Bisect:
    series = findings_of([alert]).with_subjects()[0].series
    draft = draft_bisect(
        series=series, good=alert.after, bad=alert.revision, effect_pct=-5.0, alert=alert
    )
    return start_bisect(draft=draft, created_by=by)


def ada() -> User:
    """Who started the bisect."""
    return User.objects.get(username="ada")


def reconcile() -> Alert:
    """All alerts of the tree, of which there is to be one."""
    reconcile_trees([make.tree().pk])
    return Alert.objects.get()


def end(bisect: Bisect) -> None:
    version = Bisect.objects.get(pk=bisect.pk).version
    act_on_bisect(bisect=bisect.pk, kind="cancel", actor=ada(), reason="enough", version=version)


def test_an_estimate_below_the_threshold_does_not_close_it(bisect: Bisect) -> None:
    Finding.objects.update(change_pct=-1.9)
    assert reconcile().is_active
    end(bisect)
    assert not Alert.objects.get().is_active


def test_a_dry_run_knows_that_no_threshold_closes_it(bisect: Bisect) -> None:
    scope = Scope.named(f"mode:{lab.MODE}")
    since = timezone.now() - timedelta(days=1)
    assert not dry_run(scope, 50, since=since).gone
    end(bisect)
    assert len(dry_run(scope, 50, since=since).gone) == 1


def test_a_finding_that_is_gone_for_a_while_does_not_close_it(bisect: Bisect) -> None:
    Finding.objects.update(state=Finding.State.RETRACTED)
    assert reconcile().is_active
    end(bisect)
    assert Alert.objects.get().resolution == Alert.Resolution.RETRACTED


def test_a_new_finding_in_its_interval_is_its_own(bisect: Bisect) -> None:
    Finding.objects.update(state=Finding.State.RETRACTED)
    reconcile()
    make.finding(bisect.series, lab.revision(7), lab.revision(8), change_pct=-1.5)
    alert = reconcile()
    assert (alert.is_active, alert.revision) == (True, lab.revision(8))
    assert not Mail.objects.filter(kind="alert.moved").exists()


@pytest.mark.parametrize(
    ("change", "where"), [(4.0, (7, 8)), (-4.0, (17, 18))], ids=["a gain", "elsewhere"]
)
def test_another_change_opens_an_alert_of_its_own(
    bisect: Bisect, change: float, where: tuple[int, int]
) -> None:
    Finding.objects.update(state=Finding.State.RETRACTED)
    first, last = (lab.revision(index) for index in where)
    make.finding(bisect.series, first, last, change_pct=change)
    reconcile_trees([make.tree().pk])
    assert Alert.objects.filter(is_active=True).count() == 2


def test_what_a_bisect_reproduced_stands_until_somebody_resolves_it(
    reproduced: Bisect,
) -> None:
    assert reproduced.outcome == Bisect.Outcome.SINGLE
    Finding.objects.update(state=Finding.State.RETRACTED)
    alert = reconcile()
    assert alert.is_active
    resolve(alert=alert.pk, actor=ada(), version=alert.version, resolution="expected", reason="")
    assert not reconcile().is_active


def test_analyses_in_between_change_neither_the_alert_nor_its_mails(bisect: Bisect) -> None:
    for _ in range(60):
        if lab.work(TRUTH, bisect, most=1).has_ended:
            break
        analyse()
        assert Alert.objects.get().is_active
    kinds = Mail.objects.values_list("kind", flat=True)
    assert sorted(kinds) == ["alert.opened", "bisect.done"]
    assert Alert.objects.get().likeliest == lab.revision(9)


def test_a_bisect_that_reproduces_nothing_lets_go_for_good(bisect: Bisect) -> None:
    now = timezone.now()
    while job := lab.poll(now=(now := now + timedelta(hours=3))):
        lab.fail(job, "lab", "switch unreachable", now=now)
        advance_bisect(bisect=bisect.pk, now=now)
    done = Bisect.objects.get()
    assert done.outcome == Bisect.Outcome.LAB_FAILED
    assert _hold_of(done).reason == AlertHold.Reason.OUTCOME
    alert = Alert.objects.get()
    resolve(alert=alert.pk, actor=ada(), version=alert.version, resolution="not real")
    alert.refresh_from_db()
    reopen(alert=alert.pk, actor=ada(), version=alert.version)
    assert _hold_of(done).reason == AlertHold.Reason.OUTCOME


def test_a_paused_bisect_holds_on_and_a_cancelled_one_lets_go(bisect: Bisect) -> None:
    act_on_bisect(bisect=bisect.pk, kind="pause", actor=ada(), reason="the lab is busy")
    assert _hold_of(bisect).reason == ""
    end(bisect)
    assert _hold_of(bisect).reason == AlertHold.Reason.CANCELLED


def test_what_was_reproduced_is_held_again_when_the_resolution_is_undone(
    reproduced: Bisect,
) -> None:
    alert = Alert.objects.get()
    closed = resolve(alert=alert.pk, actor=ada(), version=alert.version, resolution="expected")
    assert _hold_of(reproduced).reason == AlertHold.Reason.RESOLVED
    undo(alert=alert.pk, actor=ada(), version=closed.version)
    Finding.objects.update(state=Finding.State.RETRACTED)
    assert reconcile().is_active


def test_one_of_two_bisects_holds_on_when_the_other_ends(bisect: Bisect) -> None:
    narrower = draft_bisect(
        series=bisect.series,
        good=bisect.good,
        bad=lab.revision(15),
        effect_pct=-5.0,
        alert=bisect.alert,
    )
    other = start_bisect(draft=narrower, created_by=ada())
    end(bisect)
    Finding.objects.update(state=Finding.State.RETRACTED)
    assert reconcile().is_active
    end(other)
    assert not Alert.objects.get().is_active


def _hold_of(bisect: Bisect) -> AlertHold:
    return AlertHold.objects.get(bisect=bisect)


def _elsewhere(first: int, last: int) -> Finding:
    """A loss on other hardware, which no bisect measures."""
    other = make.series(on=make.hardware("Xeon/CX4"), in_mode=lab.MODE)
    return make.finding(other, lab.revision(first), lab.revision(last), change_pct=-9.0)


def test_its_finding_stays_with_it_where_another_keeps_the_alert_at_its_commit(
    bisect: Bisect,
) -> None:
    _elsewhere(12, lab.index_of(bisect.bad))
    number = reconcile().pk
    first, last = lab.revision(4), lab.revision(6)
    Finding.objects.filter(series=bisect.series).update(
        change_pct=-1.8, after=first, last=last, revision=last, position=last.position
    )
    alert = reconcile()
    assert (alert.pk, alert.revision) == (number, bisect.bad)
    assert alert.findings.count() == 2
    assert Mail.objects.filter(kind="alert.opened").count() == 1


@pytest.mark.parametrize("state", ["bisect", "reproduced"])
def test_people_may_merge_it_all_the_same(request: pytest.FixtureRequest, state: str) -> None:
    request.getfixturevalue(state)
    analyse()
    alert = Alert.objects.get()
    elsewhere = _elsewhere(18, 19)
    reconcile_trees([make.tree().pk])
    other = Alert.objects.get(memberships__finding=elsewhere)
    merged = merge(alert=alert.pk, actor=ada(), version=alert.version, into=other.pk)
    assert (merged.is_active, merged.duplicate_of) == (False, other)
    assert other.findings.count() == 2
    reconcile_trees([make.tree().pk])
    undone = undo(alert=merged.pk, actor=ada(), version=merged.version)
    assert (undone.is_active, undone.findings.count()) == (True, 1)
