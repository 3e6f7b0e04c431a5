import math
from functools import partial
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tests.stats.series import worlds
from webapp.stats import OutOfRangeError
from webapp.stats.compare.comparing import BuildNoise, Samples, Verdict, compare
from webapp.stats.compare.significance import visible_shift
from webapp.stats.power import (
    Durations,
    NoiseLevels,
    Plan,
    plan_for,
    provable_change,
)

counts = st.integers(1, 6)
plans = st.builds(Plan, counts, counts, counts)


def measured(random, plan: Plan, noise: NoiseLevels, shift: float = 0) -> Samples:
    build = np.repeat(random.normal(0, noise.build / 100, plan.builds), plan.boots * plan.runs)
    boot = np.repeat(random.normal(0, noise.boot / 100, plan.all_boots), plan.runs)
    run = random.normal(0, noise.run / 100, plan.all_runs)
    builds = np.repeat(np.arange(plan.builds), plan.boots * plan.runs)
    boots = np.repeat(np.arange(plan.all_boots), plan.runs)
    values = 100 * np.exp(shift + build + boot + run)
    return Samples(values, boots=boots.tolist(), builds=builds.tolist())


@pytest.mark.parametrize(
    ("plan", "noise"),
    worlds(
        (Plan(1, 5, 1), NoiseLevels(2)),
        (Plan(1, 4, 3), NoiseLevels(2, boot=1)),
        (Plan(3, 2, 2), NoiseLevels(1, boot=1, build=2)),
        (Plan(1, 5, 1), NoiseLevels(1, build=2, build_df=40)),
    ),
    ids=["runs", "boots", "builds", "one build and its history"],
)
def test_what_a_plan_can_prove_is_proven_four_times_in_five(plan, noise) -> None:
    random = np.random.default_rng(7)
    percent = provable_change(plan, noise)
    shift = math.log1p(percent / 100)
    trials, seen = 800, 0
    for _ in range(trials):
        known = None
        if plan.builds == 1 and noise.build:
            spread = math.sqrt(random.chisquare(noise.build_df) / noise.build_df)
            known = BuildNoise(noise.build * spread, noise.build_df)
        a, b = measured(random, plan, noise), measured(random, plan, noise, shift)
        seen += compare(a, b, margin=0, build_noise=known).verdict is Verdict.BETTER
    assert seen / trials == pytest.approx(0.8, abs=0.05)


def test_five_runs_of_one_percent_prove_two_percent() -> None:
    # non-centrality at the 2·4·5/6 degrees of freedom to expect, times 1 % · sqrt(2/5)
    expected = 100 * math.expm1(visible_shift(40 / 6, 95) * 0.01 * math.sqrt(0.4))
    assert expected == pytest.approx(2.1, abs=0.05)
    assert provable_change(Plan(1, 5, 1), NoiseLevels(1)) == pytest.approx(expected, rel=1e-4)


def test_runs_of_one_build_reach_a_floor_that_builds_break() -> None:
    noise = NoiseLevels(1, build=2)
    floor = 100 * math.expm1(2.8 * 0.02 * math.sqrt(2))
    assert provable_change(Plan(1, 100, 100), noise) > floor
    assert provable_change(Plan(6, 2, 1), noise) < floor


def test_a_plan_without_scatter_to_go_by_proves_nothing() -> None:
    assert provable_change(Plan(1, 1, 1), NoiseLevels(1)) is None
    assert provable_change(Plan(1, 1, 9), NoiseLevels(1, boot=1)) is None
    assert provable_change(Plan(1, 1, 9), NoiseLevels(1)) is not None


def test_a_noiseless_machine_proves_anything() -> None:
    assert provable_change(Plan(1, 3, 1), NoiseLevels(0)) == 0


def test_the_answer_is_the_cheapest_plan_that_suffices() -> None:
    noise = NoiseLevels(run=1.5, boot=1)
    found = plan_for(4, noise)
    assert found.plan is not None
    assert found.seconds is None
    assert found.provable == provable_change(found.plan, noise) <= 4
    fewer = [Plan(1, boots, 1) for boots in range(2, found.plan.all_runs)]
    assert all(provable_change(plan, noise) > 4 for plan in fewer)


@pytest.mark.parametrize("build", [0.0, 0.8])
def test_no_cheaper_plan_is_passed_over(build: float) -> None:
    noise = NoiseLevels(run=1.0, boot=0.7, build=build)
    every = map(Plan, *zip(*product(range(1, 5), range(1, 7), range(1, 4)), strict=True))
    allowed = [plan for plan in every if plan.builds > 1 or build == 0]
    change = partial(provable_change, noise=noise)
    for percent in (1.0, 2.5, 6.0):
        enough = [plan for plan in allowed if (change(plan) or math.inf) <= percent]
        cheapest = min(enough, key=lambda p: (p.all_runs, p.builds, p.boots), default=None)
        found = plan_for(percent, noise, most=Plan(4, 6, 3))
        assert found.plan == cheapest


def test_noise_that_is_an_estimate_is_planned_for_by_its_bounds() -> None:
    # s·√(f/χ²) with f = 4: χ² is 1.649 at 20 % and 5.989 at 80 %
    known = NoiseLevels(run=0.0, boot=1.0, df=4)
    assert known.bound(80).boot == pytest.approx(math.sqrt(4 / 1.649), rel=1e-3)
    assert known.bound(20).boot == pytest.approx(math.sqrt(4 / 5.989), rel=1e-3)
    found = plan_for(2, known, most=Plan(1, 100, 1))
    for plan, noise in ((found.plan, known.bound(80)), (found.least, known.bound(20))):
        certain = NoiseLevels(run=0.0, boot=noise.boot)
        assert plan == plan_for(2, certain, most=Plan(1, 100, 1)).plan
    assert found.least.boots < plan_for(2, NoiseLevels(0.0, 1.0)).plan.boots < found.plan.boots
    between = NoiseLevels(run=0.0, build=1.0, build_df=4).bound(80)
    assert between.build == pytest.approx(known.bound(80).boot)


@pytest.mark.parametrize("build", [0.01, 1.0])
def test_where_builds_scatter_no_plan_is_of_one_build(build: float) -> None:
    noise = NoiseLevels(run=1.0, build=build, build_df=40)
    assert plan_for(20, noise).plan.builds > 1
    assert plan_for(20, noise).least.builds > 1
    assert plan_for(20, NoiseLevels(run=1.0)).plan.builds == 1
    assert plan_for(20, noise, most=Plan(1, 100, 1)).plan is None


def test_four_plans_of_five_keep_their_promise() -> None:
    """Planned from three against three boots that scatter by 1 %; by the estimate half would."""
    random = np.random.default_rng(11)
    shift, trials = math.log1p(0.02), 400
    power: dict[int, float] = {}
    kept = 0
    for _ in range(trials):
        estimate = math.sqrt(random.chisquare(4) / 4)
        noise = NoiseLevels(run=0.0, boot=estimate, df=4)
        boots = plan_for(2, noise, most=Plan(1, 200, 1)).plan.boots
        if boots not in power:
            a, b = random.normal([[[0.0]], [[shift]]], 0.01, (2, 1500, boots))
            power[boots] = np.mean(stats.ttest_ind(b, a, axis=1, equal_var=False).pvalue <= 0.05)
        kept += power[boots] >= 0.79
    assert kept / trials >= 0.77


def test_slow_boots_make_more_runs_a_boot_worth_their_time() -> None:
    noise = NoiseLevels(run=3, boot=0.3)
    quick = plan_for(3, noise, durations=Durations(run=30, boot=0))
    slow = plan_for(3, noise, durations=Durations(run=30, boot=600))
    assert quick.plan.runs == 1
    assert slow.plan.runs > 1
    assert slow.plan.all_boots < quick.plan.all_boots
    assert slow.seconds == slow.plan.all_boots * 600 + slow.plan.all_runs * 30


def test_what_no_plan_can_prove_is_stated_with_what_the_largest_can() -> None:
    noise = NoiseLevels(1, build=5)
    found = plan_for(0.5, noise, most=Plan(3, 5, 5))
    assert found.plan is None
    assert found.seconds is None
    assert found.provable == provable_change(Plan(3, 5, 5), noise)


@given(plans, st.floats(0.1, 5), st.floats(0, 3), st.floats(0, 3), st.floats(1.01, 3))
def test_more_noise_never_proves_less_change(plan, run, boot, build, factor) -> None:
    before = provable_change(plan, NoiseLevels(run, boot, build))
    after = provable_change(plan, NoiseLevels(run * factor, boot * factor, build * factor))
    assert (before is None) == (after is None)
    if before is not None:
        assert after > before


@given(plans, st.floats(0.1, 5), st.floats(0, 3), st.floats(0, 3))
def test_more_runs_in_a_boot_never_hurt_once_boots_scatter(plan, run, boot, build) -> None:
    noise = NoiseLevels(run, boot, build)
    before = provable_change(plan, noise)
    after = provable_change(Plan(plan.builds, plan.boots, plan.runs + 1), noise)
    if before is not None and plan.builds > 1:
        assert after <= before * (1 + 1e-9)


def test_settings_out_of_range_are_refused() -> None:
    with pytest.raises(OutOfRangeError, match="finite percentage"):
        NoiseLevels(-1)
    for unknown in ("df", "build_df"):
        with pytest.raises(OutOfRangeError, match="degree of freedom"):
            NoiseLevels(1, **{unknown: 0})
    with pytest.raises(OutOfRangeError, match="at least one"):
        Plan(1, 0, 1)
    with pytest.raises(OutOfRangeError, match="duration"):
        Durations(math.inf)
    with pytest.raises(OutOfRangeError, match="more than 0"):
        plan_for(0, NoiseLevels(1))


def test_noise_between_builds_alone_known_for_certain_needs_no_estimate() -> None:
    noise = NoiseLevels(run=0, boot=0, build=1, build_df=math.inf)
    found = provable_change(Plan(builds=1, boots=3, runs=5), noise)
    # Two sides of one build each: sqrt 2 standard deviations, (1.960 + 0.842) of them.
    assert found == pytest.approx(2.802 * math.sqrt(2), rel=0.03)
