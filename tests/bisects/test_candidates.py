"""Candidates are measured once more where the tree allows it."""

import pytest

from tests import make
from tests.bisects import lab
from tests.bisects.lab import Truth
from tests.kept import kept
from tests.results.steps import an_agent, analyse
from webapp.analysis.models import Finding
from webapp.bisects.models import BisectSettings
from webapp.bisects.services.automatic import confirm_candidates
from webapp.jobs.models import Job
from webapp.jobs.services import PollRequest, Serves, capabilities_of, claim

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
@kept
def candidate() -> Finding:
    """The newest of seventeen revisions lost 5 %."""
    lab.measured_before(Truth(step_pct=0.0))
    lab.upload(lab.documents(Truth(first_bad=0, step_pct=-5.0), [24]))
    analyse()
    return Finding.objects.get(state=Finding.State.CANDIDATE)


def settings(*, confirm: bool) -> None:
    BisectSettings.objects.create(tree=make.tree(), confirm_candidates=confirm)


def claimed() -> Job:
    job = lab.poll()
    assert job is not None
    return job


def test_one_boot_of_it_and_of_the_revision_before_it_is_asked_for_once() -> None:
    settings(confirm=True)
    lab.poll()
    assert confirm_candidates() == 2
    jobs = Job.objects.order_by("revision__position")
    assert [(job.revision.name, job.boots, job.purpose) for job in jobs] == [
        ("r1023", 1, "confirm"),
        ("r1024", 1, "confirm"),
    ]
    assert "candidate at r1024: −5." in jobs[0].reason
    assert confirm_candidates() == 0
    lab.answer(Truth(first_bad=0, step_pct=-5.0), claimed())
    lab.answer(Truth(first_bad=0, step_pct=-5.0), claimed())
    assert confirm_candidates() == 0


def test_nothing_is_asked_for_unless_the_tree_allows_it_and_somebody_measures() -> None:
    lab.poll()
    assert confirm_candidates() == 0
    settings(confirm=False)
    assert confirm_candidates() == 0


def test_what_nobody_measures_is_not_piled_up() -> None:
    settings(confirm=True)
    assert confirm_candidates() == 0


def test_candidates_too_small_for_an_alert_are_left(candidate: Finding) -> None:
    settings(confirm=True)
    lab.poll()
    Finding.objects.update(change_pct=-1.0)
    assert confirm_candidates() == 0


def test_candidates_that_nobody_can_measure_hold_up_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings(confirm=True)
    monkeypatch.setattr("webapp.bisects.services.automatic.REQUESTED_AT_ONCE", 1)
    rows = lab.documents(Truth(step_pct=0.0), [*range(-8, 1), *range(16, 24)])
    rows += lab.documents(Truth(first_bad=0, step_pct=-5.0), [24])
    lab.upload([row | {"hardware": "Xeon/T540"} for row in rows])
    analyse()
    who = PollRequest(agent=an_agent(), worker="rig-2", serves=[Serves(hardware="Xeon/T540")])
    claim(request=who, capabilities=capabilities_of(who))
    assert confirm_candidates() == 2
    assert {job.hardware.name for job in Job.objects.all()} == {"Xeon/T540"}
