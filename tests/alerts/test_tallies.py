"""How many series were compared at each commit of a list, and what is flagged there."""

import pytest

from tests import make
from webapp.alerts.queries import tallies_at
from webapp.analysis.models import Flag, Tally, Verdict

pytestmark = pytest.mark.django_db


def test_each_commit_has_its_counts_and_whether_any_comparison_has_a_verdict() -> None:
    before, *commits, empty = make.revisions(5)
    rows = {
        (0, "a"): (Verdict.WORSE, Flag.REGRESSED),
        (0, "b"): (Verdict.CANNOT_TELL, Flag.NONE),
        (0, "c"): (Verdict.BETTER, Flag.IMPROVED),
        (1, "a"): (Verdict.CANNOT_TELL, Flag.NONE),
        (1, "b"): (Verdict.CANNOT_TELL, Flag.NONE),
        (2, "a"): (Verdict.EQUIVALENT, Flag.NONE),
        (2, "b"): (Verdict.CANNOT_TELL, Flag.NONE),
    }
    series = {mode: make.series(in_mode=mode) for mode in "abc"}
    for (at, mode), (verdict, flag) in rows.items():
        make.comparison(series[mode], before, commits[at], verdict=verdict, flag=flag)
    found = tallies_at([one.pk for one in (*commits, empty)])
    assert [found[one.pk] for one in commits] == [
        Tally(compared=3, regressed=1, improved=1, cannot_tell=False),
        Tally(compared=2, cannot_tell=True),
        Tally(compared=2, cannot_tell=False),
    ]
    assert found[empty.pk] == Tally()
