"""Bisects of what an operator merges."""

import pytest

from tests import make
from tests.bisects import lab
from tests.bisects.lab import Truth
from webapp.bisects.deciding import replay
from webapp.bisects.models import Bisect
from webapp.bisects.services import advance_bisect
from webapp.bisects.view import BisectView, view_of
from webapp.merging.services import merge_hardware, merge_modes, merge_revisions
from webapp.results.documents import Unprocessable
from webapp.results.models import Hardware

pytestmark = pytest.mark.django_db


def view(bisect: Bisect) -> BisectView:
    return view_of(Bisect.objects.with_subjects().get(pk=bisect.pk))


def replayed_alike(bisect: Bisect) -> bool:
    """By their figures: the words name what was merged by the name that is left."""
    now = view(bisect)
    again = replay(now.bisect, [one.name for one in now.revisions])
    return [row.figures["chances"] for row in again] == [
        row.figures["chances"] for row in now.decisions
    ]


def test_a_bisect_goes_over_to_what_its_mode_and_revisions_were_merged_into() -> None:
    bisect = lab.start(Truth())
    other = make.series(on=bisect.series.hardware, in_mode="pf-renamed")
    merge_modes(source=bisect.series.mode, into=other.mode)
    merge_revisions(source=lab.revision(9), into=make.revision("r5009", position=1500))
    advance_bisect(bisect=bisect.pk)
    assert view(bisect).bisect.series == other
    assert view(bisect).revisions[9].name == "r5009"


@pytest.mark.parametrize(
    ("source", "into"),
    [
        (1, 0),
        (10, 9),
        *(pytest.param(*pair, marks=pytest.mark.long) for pair in ((16, 15), (5, 6))),
    ],
)
def test_two_neighbours_that_are_one_commit_count_as_one(source: int, into: int) -> None:
    truth = Truth()
    bisect = lab.start(truth)
    lab.upload(lab.documents(truth, (1, 5, 6, 9, 15), boots=2))
    advance_bisect(bisect=bisect.pk)
    merge_revisions(source=lab.revision(source), into=lab.revision(into))
    done = lab.work(truth, bisect)
    assert done.culprit == lab.revision(9)
    assert view(done).acts[0].kind == "same"
    assert replayed_alike(done)


def test_a_bisect_whose_order_was_wrong_pauses() -> None:
    bisect = lab.start(Truth())
    merge_revisions(source=lab.revision(5), into=lab.revision(8))
    advance_bisect(bisect=bisect.pk)
    bisect.refresh_from_db()
    assert bisect.state == Bisect.State.PAUSED
    assert "r1005 and r1008" in bisect.acts.get().reason


def test_the_two_ends_of_a_bisect_stay_two() -> None:
    bisect = lab.start(Truth())
    with pytest.raises(Unprocessable, match=f"bisect {bisect.pk} compared r1000 with r1016"):
        merge_revisions(source=lab.revision(0), into=lab.revision(16))


def test_what_was_measured_before_on_merged_hardware_is_no_effort() -> None:
    rows = lab.documents(Truth(), range(-3, 1))
    lab.upload([row | {"hardware": "Atom/T540-2"} for row in rows])
    into = Hardware.objects.get()
    bisect = lab.start(Truth())
    merge_hardware(source=bisect.series.hardware, into=into)
    advance_bisect(bisect=bisect.pk)
    now = view(bisect)
    assert now.bisect.series.hardware == into
    assert len(now.boots) > 20
    assert now.measured_for_it == 0
    assert replayed_alike(bisect)
