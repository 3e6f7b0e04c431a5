"""Other series measured in the same boots: they show what the machine did, not who did it."""

from dataclasses import replace

import numpy as np
import pytest

from tests.stats.bisection.one_series import posterior
from tests.stats.bisection.test_posterior import FLAT, merged
from webapp.stats import NotFiniteError, OutOfRangeError
from webapp.stats.bisection import Boot, Companion, Evidence, Noise, Plan, Purpose
from webapp.stats.bisection.hypotheses import (
    SPREAD_BESIDE,
    SPREADS,
    STEPS_BESIDE,
    lab_step_spread,
)
from webapp.stats.bisection.noise import noise_nodes
from webapp.stats.bisection.timeline import STATES_BESIDE, STEP_WEIGHT, LabKind

COMMITS, CULPRIT = 16, 9
MODE, CANARY = Companion(0.3), Companion(0.3, can_step=False)
PLAN = Plan((1.0,) * COMMITS, -2.0, Noise(0.2, 0.2), companions=(MODE, CANARY))
PAST = tuple(Boot(-back, 0.1 * (-1) ** n) for back in range(8) for n in range(4))
ORDER = (0, 16, 0, 16, 8, 0, 12, 16, 10, 9, 8)


def measured(shift, *, of=(0,), share=0.0, order=ORDER, step=-2.0):
    rng = np.random.default_rng(3)
    boots = []
    for number, index in enumerate(order):
        after, noise = float(index >= CULPRIT), 0.25 * rng.normal(size=3)
        beside = [(k, share * step * after * (k == 0) + shift(number) + noise[1 + k]) for k in of]
        value = step * after + shift(number) + noise[0]
        boots.append(Boot(index, value, purpose=Purpose.SEARCHING, beside=tuple(beside)))
    return PAST + tuple(boots)


def without(boots):
    return tuple(replace(boot, beside=()) for boot in boots)


def test_a_drift_that_a_companion_shows_is_surer_than_without_it():
    boots = measured(lambda number: -0.2 * number, of=(0, 1))

    with_it, alone = posterior(PLAN, Evidence(boots)), posterior(PLAN, Evidence(without(boots)))

    assert with_it.lab.unsteady > max(alone.lab.unsteady, 0.99)
    assert with_it.lab.moved == pytest.approx(-0.2 * (len(ORDER) - 1), abs=0.6)
    assert len(with_it.lab.shift) == len(ORDER)
    assert with_it.top == CULPRIT


def test_a_companion_that_stays_where_it_is_speaks_for_a_steady_machine():
    boots = measured(lambda _: 0.0, of=(0, 1))

    with_it, alone = posterior(PLAN, Evidence(boots)), posterior(PLAN, Evidence(without(boots)))

    assert with_it.lab.unsteady < alone.lab.unsteady
    assert with_it.candidates[CULPRIT - 1] > 0.95


@pytest.mark.parametrize("share", [1.0, -0.5, 2.0])
def test_a_companion_with_the_culprits_own_step_does_not_hide_the_culprit(share):
    boots = measured(lambda number: -0.1 * number, share=share)

    now = posterior(PLAN, Evidence(boots))

    assert now.top == CULPRIT
    assert now.candidates[CULPRIT - 1] > 0.9


def test_a_step_of_the_machine_that_the_companion_has_as_well_accuses_nobody():
    late = (0, 16, 0, 16, 15, 15, 15, 8, 4, 4, 3)
    boots = measured(lambda number: -2.0 if number >= 7 else 0.0, of=(1,), order=late)

    now = posterior(PLAN, Evidence(boots))

    assert now.lab.steps > 0.9
    assert now.lab.step_after == 7
    # What was booted after that lies between both ends as before it: nothing is excluded by it.
    assert posterior(PLAN, Evidence(without(boots))).lab.steps < now.lab.steps


def test_a_companion_that_nobody_asked_about_changes_nothing():
    boots = measured(lambda _: 0.0, of=(0, 1))
    bare = replace(PLAN, companions=())

    now = posterior(bare, Evidence(boots))

    assert now.candidates.tolist() == posterior(bare, Evidence(without(boots))).candidates.tolist()


def test_a_companion_that_makes_no_sense_is_refused():
    with pytest.raises(OutOfRangeError, match="companions"):
        Companion(0.0)
    with pytest.raises(NotFiniteError):
        Boot(1, 0.0, beside=((0, float("inf")),))


def log_density(values, covariance, series, steps):
    """Normal density of all rows; ``steps``: (weight of each row, mean, sd); levels are open."""
    off = np.array(values)
    covariance = covariance + FLAT**2 * (series[:, None] == series[None, :])
    for weight, mean, spread in steps:
        off = off - mean * weight
        covariance = covariance + spread**2 * np.outer(weight, weight)
    return -0.5 * (np.linalg.slogdet(covariance)[1] + off @ np.linalg.solve(covariance, off))


def slow(plan, boots):
    """Chances of every candidate and of none, by enumeration with one companion."""
    one, none = [], []
    for known, density in densities(plan, boots):
        none.append(known + density([]))
        for size, chance in SPREADS:
            for beside, share in ((SPREAD_BESIDE, STEPS_BESIDE), (0.0, 1 - STEPS_BESIDE)):
                prior = known + np.log(chance * share)
                steps = [
                    [(j, 0, plan.effect, size * abs(plan.effect)), (j, 1, 0.0, beside * 2.0)]
                    for j in range(1, plan.bad + 1)
                ]
                one.append([prior + density(each) for each in steps])
    top = max(none)
    weight = (1 - plan.doubt) / plan.bad
    z = np.append(
        weight * np.exp(np.array(one) - top).sum(axis=0),
        plan.doubt * np.exp(np.array(none) - top).sum(),
    )
    return z / z.sum()


def densities(plan, boots):
    """(log prior, density of steps: (candidate, series, mean, sd)) of each noise and lab."""
    rows = [(*row, 0) for row in merged(boots)]
    fresh = [boot for boot in boots if boot.purpose is not Purpose.HISTORY]
    for number, boot in enumerate(fresh):
        rows += [(boot.index, boot.build, value, 1, number, 1) for _, value in boot.beside]
    index, _, values, counts, time, series = (np.array(e, object) for e in zip(*rows, strict=True))
    index, series, values = index.astype(int), series.astype(int), values.astype(float)
    build = [(row[0], row[1], row[5]) for row in rows]
    same = np.array([[float(a == b) for a in build] for b in build])
    variance = [
        plan.companions[0].sd ** 2 if k else plan.noise.boot_variance(1) / n
        for n, k in zip(counts, series, strict=True)
    ]
    nodes = noise_nodes(plan.noise, plan.effect)
    for shift, log_prior, scales in labs(plan, time, series):
        for factor, spread, weight in zip(nodes.within, nodes.build, nodes.weight, strict=True):
            moved = (factor if scales else 1) * shift
            covariance = factor * np.diag(variance) + moved + spread * same

            def density(steps, covariance=covariance):
                shaped = [((index >= j) * (series == k), m, s) for j, k, m, s in steps]
                return log_density(values, covariance, series, shaped)

            yield log_prior + np.log(weight), density


def labs(plan, time, series):
    """(covariance, log prior, whether it scales with the noise) of what the lab may do."""
    known = np.array([each is not None for each in time])
    when = np.array([each or 0 for each in time], float)
    for state in STATES_BESIDE:
        rows = known & (state.follows | (series == 0))
        pairs = np.multiply if state.kind is LabKind.TREND else np.minimum
        shape = (pairs.outer(when, when) + 9) * np.outer(rows, rows)
        yield state.rate**2 * plan.noise.boot_variance(1) * shape, np.log(state.weight), True
    places = sorted(set(when[known]))
    for place in places:
        for share, rows in ((0.8, known), (0.2, known & (series == 0))):
            moved = (rows & (when >= place)).astype(float)
            covariance = lab_step_spread(plan) ** 2 * np.outer(moved, moved)
            yield covariance, np.log(share * STEP_WEIGHT / len(places)), False


def test_it_equals_the_enumeration_of_normal_densities_with_a_companion():
    plan = Plan((1.0,) * 4, -2.0, Noise(0.5, 0.5, 0.2), companions=(Companion(0.6),))
    history = (Boot(0, 0.3), Boot(-1, -0.2), Boot(0, 0.1))
    fresh = ((0, 0.2, 0.1), (4, -2.2, -0.4), (2, -0.6, None), (3, -1.9, -1.4), (2, -0.1, -0.2))
    boots = history + tuple(
        Boot(i, value, purpose=Purpose.SEARCHING, beside=() if x is None else ((0, x),))
        for i, value, x in fresh
    )

    now = posterior(plan, Evidence(boots))

    assert np.append(now.candidates, now.none) == pytest.approx(slow(plan, boots), abs=2e-5)
