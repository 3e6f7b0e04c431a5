"""What a headline may tell of many verdicts."""

from itertools import repeat

import numpy as np
import pytest
from scipy import stats

from webapp.stats.compare.comparing import Verdict, compare
from webapp.stats.compare.headline import Look, headline_of

WORSE, BETTER = Verdict.WORSE, Verdict.BETTER
EQUIVALENT, CANNOT_TELL = Verdict.EQUIVALENT, Verdict.CANNOT_TELL


def test_one_cell_alone_tells_its_own_verdict() -> None:
    assert headline_of([Look(WORSE, 0.049)]).verdicts == (WORSE,)


def test_of_many_only_what_passes_is_told_and_the_rest_is_counted() -> None:
    # 9 cells: the first needs p ≤ 0.05 · 1/9 = 0.0056, with both p ≤ 0.05 · 2/9 = 0.0111
    cells = [Look(WORSE, 0.005), Look(BETTER, 0.03), *repeat(Look(CANNOT_TELL, 0.4), 7)]
    found = headline_of(cells)
    assert found.counts == {WORSE: 1, CANNOT_TELL: 8}
    assert found.differing == 2
    assert found.text == "2 of 9 differ at 95 %, about 0.45 expected by chance"


def test_two_that_agree_carry_each_other() -> None:
    cells = [Look(WORSE, 0.01), Look(WORSE, 0.011), *repeat(Look(CANNOT_TELL, 0.4), 7)]
    assert headline_of(cells).counts == {WORSE: 2, CANNOT_TELL: 7}


def test_what_is_equivalent_claims_no_difference_and_needs_no_gate() -> None:
    cells = [Look(EQUIVALENT, 0.04), Look(EQUIVALENT, 0.9)]
    assert headline_of(cells).counts == {EQUIVALENT: 2}


def test_nothing_is_no_headline() -> None:
    assert headline_of([]).verdicts == ()


def test_the_p_value_of_a_comparison_is_that_of_its_interval() -> None:
    # the example of docs/statistics.md: Welch's t on logarithms, 50.7 with 5.40 degrees of freedom
    a = [635734, 625167, 629014, 636936.5, 641688]
    b = [1207046, 1150867, 1139815.5, 1138692, 1146448]
    reference = stats.ttest_ind(np.log(a), np.log(b), equal_var=False)
    assert compare(a, b).change.p == pytest.approx(reference.pvalue, rel=1e-6)
    assert compare([1], [2]).change.p == 1.0
    assert compare([1] * 5, [2] * 5).change.p == pytest.approx(2 / 252)


def test_runs_that_disagree_are_told_from_builds_that_differ() -> None:
    side, other = [100.0, 101, 99, 100.5, 99.5], [50.0, 51, 49, 50.5, 49.5]
    found = compare(side, other, runs_disagree=True)
    assert (found.verdict, found.why) == (CANNOT_TELL, "runs_disagree")
    assert not found.builds_differ
    assert compare(side, other).verdict == WORSE
