"""What the files that commits touch show of suspects, before anything is measured."""

from typing import Any

import pytest
from django.core.exceptions import ValidationError

from tests import make
from tests.bisects import lab
from tests.bisects.lab import Truth
from webapp.bisects.deciding import replay
from webapp.bisects.draft import BisectError, forecast_of
from webapp.bisects.models import BisectSettings
from webapp.bisects.prior import UNLIKELY
from webapp.bisects.question import Circumstances, subjects_of
from webapp.bisects.services import act_on_bisect, start_bisect
from webapp.bisects.view import view_of
from webapp.results.models import Revision

pytestmark = pytest.mark.django_db
PATTERNS = "# none of these is part of the kernel\nshare/man/\n*.md\n/tests/\n"


def touch(index: int, *paths: str, count: int | None = None) -> None:
    count = len(paths) if count is None else count
    Revision.objects.filter(name=lab.name(index)).update(paths=list(paths), path_count=count)


def settle(**fields: Any) -> BisectSettings:
    return BisectSettings.objects.create(tree=make.tree(), **fields)


@pytest.fixture
def truth() -> Truth:
    truth = Truth()
    lab.measured_before(truth)
    return truth


def test_a_commit_that_touches_only_what_cannot_matter_has_little_weight(truth: Truth) -> None:
    settle(unlikely_paths=PATTERNS)
    touch(0, "share/man/good.4")
    touch(3, "share/man/man4/em.4", "README.md")
    touch(4)
    touch(5, "share/man/man4/em.4", "sys/dev/em.c")
    touch(6, "share/man/a", count=300)
    draft = lab.draft(truth)
    weights = [1.0] * truth.count
    weights[2] = weights[3] = UNLIKELY
    assert draft.bisect.weights == weights
    at_hand = Circumstances(draft.bisect.created_at)
    (subject,) = subjects_of(draft.bisect, draft.names, draft.boots, (), at_hand)
    assert subject.plan.weights == tuple(weights)
    assert [(one.revision.name, one.why) for one in draft.unlikely] == [
        ("r1003", "only share/man/, *.md"),
        ("r1004", "no file"),
    ]
    assert draft.prior_sentence.startswith("2 of 16 commits touch only what cannot matter")


def test_without_patterns_or_paths_all_are_as_likely(truth: Truth) -> None:
    touch(3, "share/man/man4/em.4")
    assert lab.draft(truth).bisect.weights is None
    settle(unlikely_paths="doc/")
    assert lab.draft(truth).bisect.weights is None
    assert lab.draft(truth).prior_sentence == ""


def test_patterns_are_checked_by_the_form_and_again_where_they_are_used(truth: Truth) -> None:
    settings = settle(unlikely_paths="doc/\n!sys/")
    with pytest.raises(ValidationError) as caught:
        settings.full_clean()
    assert caught.value.message_dict["unlikely_paths"] == [
        "Line 2: exceptions (!) are not understood; list only what cannot matter."
    ]
    with pytest.raises(BisectError, match="bisect settings: Line 2"):
        lab.draft(truth)


def test_the_forecast_knows_the_weights(truth: Truth) -> None:
    """With fifteen of sixteen commits out of the way other bisects are simulated."""
    before = forecast_of(lab.draft(truth)).document
    assert forecast_of(lab.draft(truth)).document == before
    settle(unlikely_paths=PATTERNS)
    for index in range(1, truth.count + 1):
        if index != truth.first_bad:
            touch(index, "README.md")
    assert forecast_of(lab.draft(truth)).document != before


def test_weights_stay_as_they_were_at_the_start_and_decisions_can_be_made_again(
    truth: Truth,
) -> None:
    settings = settle(unlikely_paths=PATTERNS)
    for index in (2, 3, 7, 8, 10):
        touch(index, "README.md")
    bisect = start_bisect(draft=lab.draft(truth), created_by=make.user("ada"))
    settings.delete()
    touch(2, "sys/kernel.c")
    bisect = lab.work(truth, bisect)
    assert (bisect.outcome, bisect.culprit) == ("single", lab.revision(truth.first_bad))
    view = view_of(bisect)
    assert [one.revision.name for one in view.unlikely] == [
        lab.name(index) for index in (2, 3, 7, 8, 10)
    ]
    again = replay(bisect, [revision.name for revision in view.revisions])
    assert [row.text for row in again] == [row.text for row in view.decisions]


def test_a_culprit_that_looked_harmless_is_found_all_the_same() -> None:
    truth = Truth(count=8, first_bad=5)
    lab.measured_before(truth)
    settle(unlikely_paths=PATTERNS)
    touch(5, "README.md")
    draft = lab.draft(truth)
    bisect = lab.work(truth, start_bisect(draft=draft, created_by=make.user("ada")))
    assert (bisect.outcome, bisect.culprit) == ("single", lab.revision(5))


def test_a_person_can_make_one_as_likely_as_any_other(truth: Truth) -> None:
    settle(unlikely_paths=PATTERNS)
    touch(3, "README.md")
    ada = make.user("ada")
    bisect = start_bisect(draft=lab.draft(truth), created_by=ada)
    before = view_of(bisect).chances
    assert before[3] < before[4] / 10
    act_on_bisect(
        bisect=bisect.pk,
        kind="allow",
        actor=ada,
        reason="the build reads it",
        revision=lab.revision(3),
    )
    after = view_of(bisect).chances
    assert after[3] == pytest.approx(after[4], rel=0.01)
