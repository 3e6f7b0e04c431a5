"""Taking a bad run out of the statistics, and back in."""

import pytest
from django.utils import timezone

from tests.results.steps import analyse, measured, ministat_verdicts, upload
from webapp.accounts.models import User
from webapp.results.documents import Unprocessable
from webapp.results.models import Point, Run, Series
from webapp.results.services import restore_run, withdraw_run

pytestmark = pytest.mark.django_db


def the_run(revision: str = "r20") -> Run:
    return Run.objects.get(revision__name=revision)


def test_a_withdrawn_run_stays_visible_with_who_why_and_when() -> None:
    upload(measured("r20"))
    person = User.objects.create_user("ada")
    withdraw_run(run=the_run(), by=person, reason="  wrong kernel ")
    run = the_run()
    assert run.is_withdrawn
    assert (run.withdrawn_by, run.withdrawn_reason) == (person, "wrong kernel")
    assert run.withdrawn_at is not None
    assert (timezone.now() - run.withdrawn_at).total_seconds() < 60
    assert not Run.objects.counted().exists()


@pytest.mark.parametrize("reason", ["", "  \n"])
def test_a_run_is_not_withdrawn_without_a_reason(reason: str) -> None:
    upload(measured("r20"))
    with pytest.raises(Unprocessable, match="say why"):
        withdraw_run(run=the_run(), by=None, reason=reason)
    assert not the_run().is_withdrawn


def test_the_point_of_its_only_run_goes_and_comes_back() -> None:
    upload(measured("r10"), measured("r20"))
    withdraw_run(run=the_run(), by=None, reason="bad")
    assert [point.position for point in Point.objects.all()] == [10]
    restore_run(run=the_run())
    assert [point.position for point in Point.objects.order_by("position")] == [10, 20]


def test_only_its_own_samples_leave_a_pooled_point() -> None:
    upload(measured("r20"), bad := measured("r20", 0.5))
    withdraw_run(run=Run.objects.get(uuid=bad["uuid"]), by=None, reason="bad")
    point = Point.objects.get()
    assert (point.n, point.mean) == (5, 100.0)


def test_its_series_are_analysed_anew_from_there() -> None:
    upload(measured("r10"), measured("r20", 0.9), measured("r30"))
    analyse()
    withdraw_run(run=the_run(), by=None, reason="bad")
    assert Series.objects.get().dirty_from == 20
    analyse()
    assert ministat_verdicts() == {"r30": "cannot tell"}


def test_withdrawing_or_restoring_twice_changes_nothing_more() -> None:
    upload(measured("r20"))
    withdraw_run(run=the_run(), by=None, reason="first")
    version = Series.objects.get().version
    withdraw_run(run=the_run(), by=None, reason="second")
    assert (the_run().withdrawn_reason, Series.objects.get().version) == ("first", version)
    restore_run(run=the_run())
    restore_run(run=the_run())
    assert Series.objects.get().version == version + 1


def test_a_withdrawn_run_that_is_sent_again_stays_withdrawn() -> None:
    upload(document := measured("r20"))
    withdraw_run(run=the_run(), by=None, reason="bad")
    assert len(upload(document).known) == 1
    assert not Point.objects.exists()
