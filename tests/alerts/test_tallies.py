"""How many series were compared at each commit of a list, and what is flagged there."""

import pytest

from tests import make
from webapp.alerts.queries import tallies_at
from webapp.analysis.models import Tally

pytestmark = pytest.mark.django_db


def test_each_commit_has_its_counts_and_whether_any_comparison_has_a_verdict() -> None:
    before, *commits, empty = make.revisions(5)
    changes = {"a": (-9.0, 0.0, -9.0), "b": (0.0, 0.0, 0.0), "c": (9.0,)}
    for mode, steps in changes.items():
        series, levels = make.series(in_mode=mode), [100.0]
        for step in steps:
            levels.append(levels[-1] * (1 + step / 100))
        make.history(series, [before, *commits][: len(levels)], levels, spread=0.001)
        if mode != "b":
            make.finding(series, before, commits[0], change_pct=steps[0])
    make.finding(make.series(in_mode="a"), commits[1], commits[2], state="one build")
    assert tallies_at([before.pk]) == {before.pk: Tally()}
    found = tallies_at([one.pk for one in (*commits, empty)])
    assert [found[one.pk] for one in commits] == [
        Tally(compared=3, regressed=1, improved=1, cannot_tell=False),
        Tally(compared=2, cannot_tell=True),
        Tally(compared=2, cannot_tell=False),
    ]
    assert found[empty.pk] == Tally()
