"""Commits whose build is their parent's."""

from typing import Any

import pytest

from tests import make
from tests.bisects import lab
from tests.bisects.lab import Truth
from webapp.accounts.models import User
from webapp.bisects.deciding import replay
from webapp.bisects.draft import BisectError
from webapp.bisects.models import Bisect
from webapp.bisects.question import Circumstances, subjects_of
from webapp.bisects.services import act_on_bisect, advance_bisect
from webapp.bisects.view import view_of
from webapp.results.models import Run

pytestmark = pytest.mark.django_db
ONE, OTHER = "1" * 64, "2" * 64


@pytest.fixture
def truth() -> Truth:
    return Truth()


@pytest.fixture
def bisect(truth: Truth) -> Bisect:
    return lab.start(truth)


def built(truth: Truth, bisect: Bisect, **digests: Any) -> Bisect:
    """Runs of r1003 and so on that report these digests, and the step that follows."""
    for name, digest in digests.items():
        index = int(name[1:]) - lab.FIRST
        document = lab.document(truth, index, boots=2)
        lab.upload([document | {"facts": {"kernel_sha256": digest}}])
    advance_bisect(bisect=bisect.pk)
    return Bisect.objects.with_subjects().get(pk=bisect.pk)


def kinds_of(bisect: Bisect) -> list[tuple[str, int | None]]:
    return list(bisect.acts.values_list("kind", "index"))


def test_a_commit_built_as_its_parent_is_ruled_out_whatever_the_boots_show(
    truth: Truth, bisect: Bisect
) -> None:
    bisect = built(truth, bisect, r1009=ONE)
    assert kinds_of(bisect) == []
    bisect = built(truth, bisect, r1008=ONE, r1010=OTHER)
    assert kinds_of(bisect) == [("same", 9)]
    view = view_of(bisect)
    assert view.chances[9] == 0
    assert [act.reason for act in view.acts] == [
        "its kernel and that of its parent are one, SHA-256 111111111111…"
    ]
    before, *_, after = replay(bisect, [one.name for one in view.revisions])
    assert 9 in dict(before.figures["chances"])
    assert 9 not in dict(after.figures["chances"])
    assert not advance_bisect(bisect=bisect.pk)


def test_boots_of_one_kernel_count_as_those_of_one_build(truth: Truth, bisect: Bisect) -> None:
    bisect = built(truth, bisect, r1007=OTHER, r1008=ONE, r1009=ONE)
    rows, acts = list(bisect.boots.all()), list(bisect.acts.all())
    names = [one.name for one in view_of(bisect).revisions]

    known, before = (
        subjects_of(bisect, names, rows, done, Circumstances(bisect.created_at))[0].evidence.boots
        for done in (acts, ())
    )

    assert {boot.build for boot in known if boot.index in (8, 9)} == {"8:build of r1008"}
    assert len({boot.build for boot in before if boot.index in (8, 9)}) == 2
    assert {boot.build for boot in known if boot.index == 7} == {"7:build of r1007"}


def test_a_fact_that_is_no_digest_rules_nothing_out(truth: Truth, bisect: Bisect) -> None:
    bisect = built(truth, bisect, r1003="unknown", r1004="unknown", r1005=7, r1006=7, r1007=None)
    assert kinds_of(bisect) == []


def test_a_withdrawn_run_shows_no_digest(truth: Truth, bisect: Bisect) -> None:
    lab.upload([lab.document(truth, 3) | {"facts": {"kernel_sha256": ONE}}])
    Run.objects.filter(facts__kernel_sha256=ONE).update(
        withdrawn_at=bisect.created_at, withdrawn_reason="wrong kernel"
    )
    assert kinds_of(built(truth, bisect, r1004=ONE)) == []


def test_a_person_can_take_it_back(truth: Truth, bisect: Bisect) -> None:
    bisect = built(truth, bisect, r1008=ONE, r1009=ONE)
    ada = User.objects.get(username="ada")
    act_on_bisect(
        bisect=bisect.pk,
        kind="allow",
        actor=ada,
        reason="the digest leaves a module out",
        revision=lab.revision(9),
    )
    advance_bisect(bisect=bisect.pk)
    assert kinds_of(bisect) == [("same", 9), ("allow", 9)]
    assert view_of(bisect).chances[9] > 0


def test_where_every_build_is_the_same_nobody_is_blamed() -> None:
    truth = Truth(count=3, first_bad=2)
    bisect = lab.start(truth)
    bisect = built(truth, bisect, r1000=ONE, r1001=ONE, r1002=ONE, r1003=ONE)
    assert bisect.state == "paused"
    ((kind, index),) = kinds_of(bisect)
    assert (kind, index) == ("pause", None)
    assert "look at the machine" in bisect.acts.get().reason


def test_nobody_can_set_it_by_hand(bisect: Bisect) -> None:
    with pytest.raises(BisectError, match="Choose what to do"):
        act_on_bisect(
            bisect=bisect.pk,
            kind="same",
            actor=make.user("bob"),
            reason="I believe so",
            revision=lab.revision(4),
        )
