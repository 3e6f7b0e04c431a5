"""What a table counts."""

import numpy as np
import pytest
from scipy import stats

from webapp.stats.compare.comparing import Verdict, compare
from webapp.stats.compare.sweep import Headline, Outcome

WORSE, BETTER = Verdict.WORSE, Verdict.BETTER
CANNOT_TELL = Verdict.CANNOT_TELL


def test_what_differs_is_counted_with_what_chance_alone_would_show() -> None:
    found = Headline((WORSE, *[CANNOT_TELL] * 8), (WORSE, BETTER, *[CANNOT_TELL] * 7))
    assert found.counts == {WORSE: 1, CANNOT_TELL: 8}
    assert found.differing == 2
    assert found.text == "2 of 9 differ at 95 %, about 0.45 expected by chance"
    proven, alone, *rest = found.outcomes
    assert (proven, alone, set(rest)) == (
        Outcome.PROVEN,
        Outcome.BY_ITSELF,
        {Outcome.CANNOT_TELL},
    )


def test_nothing_is_no_headline() -> None:
    assert Headline((), ()).counts == {}


def test_the_p_value_of_a_comparison_is_that_of_its_interval() -> None:
    # the example of docs/statistics.md: Welch's t on logarithms, 50.7 with 5.40 degrees of freedom
    a = [635734, 625167, 629014, 636936.5, 641688]
    b = [1207046, 1150867, 1139815.5, 1138692, 1146448]
    reference = stats.ttest_ind(np.log(a), np.log(b), equal_var=False)
    assert compare(a, b).change.p == pytest.approx(reference.pvalue, rel=1e-6)
    assert compare([1], [2]).change.p == 1.0
    assert compare([1] * 5, [2] * 5).change.p == pytest.approx(2 / 252)


def test_runs_that_disagree_are_distinguished_from_builds_that_differ() -> None:
    side, other = [100.0, 101, 99, 100.5, 99.5], [50.0, 51, 49, 50.5, 49.5]
    found = compare(side, other, runs_disagree=True)
    assert (found.verdict, found.why) == (CANNOT_TELL, "runs_disagree")
    assert not found.builds_differ
    assert compare(side, other).verdict == WORSE
