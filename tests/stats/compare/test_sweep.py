"""What may be stated of modes over machines: levels by hand, and simulated truth."""

from dataclasses import replace
from math import log1p, sqrt

import pytest
from scipy import stats

from webapp.stats.compare import Across, Estimate, Evidence, Look, Verdict, across_machines
from webapp.stats.compare.sweep import FOR_MODES, LEVEL, PASSED_ON, mean_over, named_modes

WORSE, BETTER = Verdict.WORSE, Verdict.BETTER
EQUIVALENT, UNSURE = Verdict.EQUIVALENT, Verdict.CANNOT_TELL
ERROR, DF = 0.01, 8.0


def cell(change: float, error: float = ERROR, df: float = DF, build: str | None = "") -> Evidence:
    """A machine that changed by ``change`` on logarithms, judged as a comparison judges."""
    p = 2 * float(stats.t.sf(abs(change) / error, df))
    reach = float(stats.t.isf(0.025, df)) * error
    verdict = UNSURE
    if -log1p(0.02) <= change - reach and change + reach <= log1p(0.02):
        verdict = EQUIVALENT
    elif p < LEVEL:
        verdict = WORSE if change < 0 else BETTER
    builds = None if build is None else frozenset({build} if build else ())
    return Evidence(Look(verdict, p), Estimate(change, error, df), builds)


def still(machines: int = 2) -> list[Evidence]:
    return [cell(0.0)] * machines


def test_the_mean_of_machines_with_builds_of_their_own_by_hand() -> None:
    """-4 and -2 %, 1 % each: -3 ± t·√2/2 with 16 degrees of freedom."""
    found = mean_over([cell(-0.04, build="a"), cell(-0.02, build="b")])
    assert found is not None
    assert (found.machines, found.df) == (2, pytest.approx(16))
    t = -0.03 / (ERROR * sqrt(2) / 2)
    assert found.p == pytest.approx(2 * stats.t.sf(-t, 16))
    assert log1p(found.percent / 100) == pytest.approx(-0.03)
    reach = stats.t.isf(0.025, 16) * ERROR * sqrt(2) / 2
    assert log1p(found.low / 100) == pytest.approx(-0.03 - reach)
    assert log1p(found.high / 100) == pytest.approx(-0.03 + reach)


@pytest.mark.parametrize("builds", [("a", "a"), (None, "a"), (None, None)])
def test_builds_on_both_machines_or_unknown_ones_stray_together(
    builds: tuple[str | None, str | None],
) -> None:
    """The error of the mean is then no smaller than that of one, with its degrees of freedom."""
    found = mean_over([cell(-0.04, build=builds[0]), cell(-0.02, build=builds[1])])
    assert found is not None
    assert found.df == pytest.approx(DF)
    assert found.p == pytest.approx(2 * stats.t.sf(3, DF))


def test_the_same_build_on_both_sides_cancels_and_strays_with_nothing() -> None:
    found = mean_over([cell(-0.04), cell(-0.02)])
    assert found is not None
    assert found.df == pytest.approx(2 * DF)


def test_noise_from_histories_has_the_degrees_of_freedom_of_one() -> None:
    found = mean_over([replace(cell(-0.04, build=name), from_history=True) for name in "ab"])
    assert found is not None
    assert found.df == pytest.approx(DF)


def test_what_proves_nothing_is_in_no_mean() -> None:
    open_one = replace(cell(-0.5), is_open=True)
    found = mean_over([cell(-0.04), cell(-0.02), open_one, replace(cell(0.0), estimate=None)])
    assert found is not None
    assert found.machines == 2
    assert mean_over([cell(-0.04), open_one]) is None
    assert mean_over([cell(-0.04), replace(cell(-0.04), better="less")]) is None


def test_a_loss_that_no_machine_proves_alone_is_reported_of_the_mode() -> None:
    """Each t = 2.2 with 8 degrees of freedom, p = 0.06; of six √6 times that."""
    lost, *others = across_machines([[cell(-0.022)] * 6, still(6), still(6)])
    assert lost.verdict == WORSE
    assert lost.counts == {UNSURE: 6}
    assert lost.named == (WORSE,)
    assert not lost.differs
    assert [one.named for one in others] == [(), ()]


def test_gains_and_losses_are_reported_of_machines_and_not_of_their_mean() -> None:
    (found,) = across_machines([[cell(-0.1), cell(0.1)]])
    assert found.verdict == UNSURE
    assert found.verdicts == (WORSE, BETTER)
    assert found.named == (WORSE, BETTER)


def test_sizes_that_differ_are_reported_of_a_mode_that_is_named() -> None:
    apart = [cell(-0.3), cell(-0.1)]
    assert across_machines([apart])[0].differs
    balanced = [cell(-0.011), cell(0.011)]
    assert not across_machines([balanced])[0].differs


def test_a_mean_within_the_margin_is_no_news() -> None:
    (found,) = across_machines([[cell(-0.01, 0.001)] * 2])
    assert found.verdict == UNSURE
    assert found.counts == {EQUIVALENT: 2}


def test_more_is_worse_where_less_is_better() -> None:
    slower = replace(cell(0.1), better="less", look=Look(WORSE, 1e-5))
    assert across_machines([[slower, slower]])[0].named == (WORSE,)


def test_levels_by_hand() -> None:
    """0.04 / 3 for the first; half of it goes to the two others: 0.0167; then 0.0267 for one."""
    assert (FOR_MODES, PASSED_ON) == (0.04, 0.5)
    assert named_modes([0.0133, 0.5, 0.5]) == [True, False, False]
    assert named_modes([0.0134, 0.0134, 0.0134]) == [False, False, False]
    assert named_modes([0.0166, 0.001, 0.5]) == [True, True, False]
    assert named_modes([0.0168, 0.001, 0.5]) == [False, True, False]
    assert named_modes([0.0266, 0.001, 0.0166]) == [True, True, True]
    assert named_modes([]) == []


@pytest.mark.parametrize("modes", range(1, 30))
def test_levels_grow_and_never_sum_to_more_than_the_whole(modes: int) -> None:
    """With r named: what the others may use, and what the named ones kept for their machines."""
    before = 0.0
    for rank in range(modes):
        level = _level_of_the_next(modes, rank)
        assert level >= before
        kept = rank * (1 - PASSED_ON) * FOR_MODES / modes
        assert (modes - rank) * level + kept == pytest.approx(FOR_MODES)
        before = level


def _level_of_the_next(modes: int, rank: int) -> float:
    """The largest p-value at which another mode is named, where ``rank`` are."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        named = named_modes([0.0] * rank + [middle] + [1.0] * (modes - rank - 1))
        low, high = (middle, high) if named[rank] else (low, middle)
    return low


def test_one_pair_alone_has_its_own_verdict() -> None:
    for one in (cell(-0.025), cell(0.0, 0.001), cell(0.0, 0.1), cell(0.1)):
        verdict = one.look.verdict
        assert across_machines([[one]]) == [Across(verdict, (verdict,), None, None, differs=False)]
    assert across_machines([]) == []


def test_modes_of_one_machine_are_reported_by_their_own_verdicts_at_stricter_levels() -> None:
    """p = 0.024 of one in ten is what is expected of chance, and 2 % with t = 3 is not."""
    lost, sharp = cell(-0.0276), cell(-0.1)
    same, nearly = cell(0.0, 0.002), cell(0.0, 0.0084)
    assert (lost.look.verdict, nearly.look.verdict) == (WORSE, EQUIVALENT)
    found = across_machines([[one] for one in (lost, sharp, same, nearly, *still(6))])
    assert [one.verdict for one in found[:4]] == [UNSURE, WORSE, EQUIVALENT, UNSURE]
    assert [one.verdicts for one in found[:4]] == [(one.verdict,) for one in found[:4]]


def test_single_machines_share_a_hundredth() -> None:
    """Of 2 · 5 cells each has 0.001: t = 5.04 with 8 degrees of freedom."""
    found = across_machines([[cell(-0.0503), cell(-0.0506), *still(3)], still(5)])[0]
    assert found.verdicts == (UNSURE, WORSE, UNSURE, UNSURE, UNSURE)


def test_equal_values_are_equivalent_in_no_company() -> None:
    """Without scatter no chance of an error is known."""
    equal = Evidence(Look(EQUIVALENT, 1.0), None)
    assert across_machines([[equal]])[0].verdict == EQUIVALENT
    assert across_machines([[equal, cell(0.0)]])[0].verdicts[0] == UNSURE
